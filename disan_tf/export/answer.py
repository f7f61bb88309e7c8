"""Asks an exported model, with nothing of disan_tf: what a deployed process does.

python -m disan_tf.export.answer --saved_model=runs/x/saved_model "a sentence" "another one"
"""

import argparse

import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the tokenizer's operations)


def main() -> None:
    """Prints the class and its probability for each sentence."""
    parser = argparse.ArgumentParser(prog="disan_tf.export.answer")
    parser.add_argument("--saved_model", required=True)
    parser.add_argument("sentences", nargs="+")
    options = parser.parse_args()
    model = tf.saved_model.load(options.saved_model)
    answer = model.signatures["serving_default"](text=tf.constant(options.sentences))
    rows = zip(options.sentences, answer["class"].numpy(), answer["probabilities"].numpy())
    for sentence, label, probabilities in rows:
        print(f"{label.decode()} ({probabilities.max():.3f}): {sentence}")


if __name__ == "__main__":
    main()
