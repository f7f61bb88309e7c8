"""Predicts with an exported model, without disan_tf, as a deployed process does.

python -m disan_tf.serving.export.query --saved_model=runs/x/saved_model "a text" "another one"
python -m disan_tf.serving.export.query --saved_model=runs/y/saved_model --pair "premise" "next"
"""

import argparse
import json
from pathlib import Path

import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the tokenizer's operations)


def main(arguments=None) -> None:
    """Prints the class and its probability, or the score, of each sentence or pair."""
    parser = argparse.ArgumentParser(prog="disan_tf.serving.export.query")
    parser.add_argument("--saved_model", required=True, type=Path)
    parser.add_argument("--pair", nargs=2, action="append", default=[])
    parser.add_argument("sentences", nargs="*")
    options = parser.parse_args(arguments)
    versions = [path for path in options.saved_model.glob("*") if path.name.isdecimal()]
    saved_model = max(versions, key=lambda path: int(path.name), default=options.saved_model)
    metadata = saved_model / "assets.extra" / "metadata.json"
    if not metadata.is_file():
        parser.error(f"{metadata} is missing, which names the inputs; export the model again")
    inputs = json.loads(metadata.read_text(encoding="utf-8"))["inputs"]
    rows = [[sentence] for sentence in options.sentences] + options.pair
    if not rows or any(len(row) != len(inputs) for row in rows):
        form = "sentences" if len(inputs) == 1 else "--pair and two sentences, again for each pair"
        parser.error(f"{options.saved_model} takes {' and '.join(inputs)}; give {form}")
    for row, prediction in zip(rows, query(saved_model, dict(zip(inputs, zip(*rows))))):
        is_blank = not any(text.strip() for text in row)
        print(f"{'blank' if is_blank else prediction}: {' | '.join(row)}")


def query(saved_model: Path, texts: dict) -> list[str]:
    """Returns, for each row of the texts, its class with the probability, or its score."""
    model = tf.saved_model.load(str(saved_model))
    constants = {name: tf.constant(column) for name, column in texts.items()}
    answers = model.signatures["serving_default"](**constants).items()
    outputs = {name: tensor.numpy() for name, tensor in answers}
    if "score" in outputs:
        return [f"{score:.3f}" for score in outputs["score"]]
    notes = [", no known word" * int(lacks) for lacks in outputs["no_known_word"]]
    rows = zip(outputs["class"], outputs["probabilities"].max(axis=1), notes)
    return [f"{name.decode()} ({best:.3f}{note})" for name, best, note in rows]


if __name__ == "__main__":
    main()
