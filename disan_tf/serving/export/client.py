"""Predicts with an exported model, without disan_tf; copied into exports as `client.py`.

    python client.py "a text" "another text"                   beside model.onnx or model.tflite
    python client.py --pair "a premise" "a hypothesis"
    python -m disan_tf.serving.export.client --model=runs/x/saved_model "a text"

Needs NumPy, and onnxruntime (ONNX), ai-edge-litert or TensorFlow (TFLite), or tensorflow-text
(SavedModel).
"""

import argparse
import json
import re
import sys
import unicodedata
from pathlib import Path

import numpy as np


def tokenize(text: str, steps) -> list[str]:
    """Returns a text's tokens; `steps` are the field "tokenizer" of `metadata.json`."""
    tokens = [text]
    for step, rule in steps:
        if step == "replace":
            for pattern, replacement in rule:
                tokens = [re.sub(pattern, replacement, token) for token in tokens]
        elif step == "normalize":
            tokens = [unicodedata.normalize(rule, token) for token in tokens]
        else:
            cut = {"find": re.findall, "split": re.split}[step]
            tokens = [piece for token in tokens for piece in cut(rule, token)]
    return tokens


class WordIdsError(ValueError):
    """The error for a SavedModel that takes word ids: the client only has texts."""


class Client:
    """An exported model, in a folder with `metadata.json`.

    A call takes a text, or the two texts of a pair, and returns the outputs by name, such as
    "probabilities" <float32>[classes].
    """

    def __init__(self, folder: Path):
        is_saved_model = (folder / "saved_model.pb").is_file()
        metadata = folder / "assets.extra" if is_saved_model else folder
        self.metadata = json.loads((metadata / "metadata.json").read_text(encoding="utf-8"))
        if is_saved_model:
            self._words, self._run = None, load_saved_model(folder, self.metadata["inputs"])
            return
        kind = "tflite" if (folder / "model.tflite").is_file() else "onnx"
        (folder / f"model.{kind}").open("rb").close()  # a clear error if it is missing
        self._run = LOADERS[kind](folder / f"model.{kind}")
        with open(folder / "vocabulary.txt", encoding="utf-8", newline="\n") as file:
            words = file.read().split("\n")[:-1]
        if len(words) != self.metadata["vocabulary_size"]:
            raise ValueError(f"vocabulary.txt has {len(words):,} words")
        self._words = {word: number for number, word in enumerate(words, start=2)}

    def __call__(self, *texts: str) -> dict[str, np.ndarray]:
        fields = self.metadata["inputs"]
        if self._words is None:
            outputs = self._run({name: [text] for name, text in zip(fields, texts)})
        else:
            ids = [self.ids(text)[:, : self.metadata["max_tokens"]] for text in texts]
            names = [f"{field}_ids" for field in fields] if len(fields) > 1 else ["ids"]
            has_no_known_word = any((row == 1).all() for row in ids)
            outputs = {**self._run(dict(zip(names, ids))), "no_known_word": [has_no_known_word]}
        return {name: np.asarray(output)[0] for name, output in outputs.items()}

    def ids(self, text: str) -> np.ndarray:
        """Returns the word ids of a text, <int32>[1, tokens]."""
        tokens = self._tokens(text)
        words = [token.lower() for token in tokens] if self.metadata["lowercase"] else tokens
        return np.array([[self._words.get(word, 1) for word in words] or [1]], np.int32)

    def _tokens(self, text: str) -> list[str]:
        return tokenize(text, self.metadata["tokenizer"])

    def _has_token(self, text: str) -> bool:
        return bool(text.strip()) and (self._words is None or bool(self._tokens(text)))

    def describe(self, *texts: str) -> str:
        """Returns the class with its probability, or the score; "blank" for blank texts."""
        if not any(map(self._has_token, texts)):
            return "blank"
        outputs = self(*texts)
        if "score" in outputs:
            return f"{outputs['score']:.3f}"
        note = ", no known word" if outputs["no_known_word"] else ""
        if self.metadata.get("multi_label"):
            classes = zip(self.metadata["classes"], outputs["probabilities"])
            likely = [f"{name} ({p:.3f}{note})" for name, p in classes if p >= 0.5]
            return ", ".join(likely) or "none of the classes"
        best = outputs["probabilities"].argmax()
        return f"{self.metadata['classes'][best]} ({outputs['probabilities'][best]:.3f}{note})"


def load_saved_model(path: Path, inputs):
    """Returns a function from columns of texts, by the names `inputs`, to outputs by name."""
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  (registers the tokenizer's operations)

    model = tf.saved_model.load(str(path))
    signature = model.signatures["serving_default"]
    if {*signature.structured_input_signature[1]} != {*inputs}:
        raise WordIdsError(
            f"{path} takes word ids; name the folder saved_model, which takes texts."
        )

    def run(texts):
        columns = {name: tf.constant(column) for name, column in texts.items()}
        return signature(**columns)

    return run


def load_onnx(path: Path):
    """Returns a function of arrays by name, which returns the outputs by name."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda arrays: dict(zip(names, session.run(names, arrays)))


def load_tflite(path: Path):
    """Returns a function of arrays by name, which returns the outputs by name."""
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError:
        from tensorflow.lite.python.interpreter import Interpreter
    run = Interpreter(str(path)).get_signature_runner()
    return lambda arrays: run(**arrays)


LOADERS = {"onnx": load_onnx, "tflite": load_tflite}


def main(arguments=None) -> None:
    """Prints the class and its probability, or the score, of each text or pair."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "--model", default=Path(__file__).parent, type=Path, help="exported model (default: beside)"
    )
    parser.add_argument(
        "--pair", nargs=2, action="append", default=[], help="two texts of a pair; may be repeated"
    )
    parser.add_argument("texts", nargs="*", help="texts to classify")
    options = parser.parse_args(arguments)
    model = options.model.expanduser()
    versions = [path for path in model.glob("*") if path.name.isdecimal()]
    folder = max(versions, key=lambda path: int(path.name), default=model)
    try:
        client = Client(folder)
        inputs = client.metadata["inputs"]
        rows = [[text] for text in options.texts] + options.pair
        if not rows or any(len(row) != len(inputs) for row in rows):
            examples = 'texts, such as "a text" "another"', '--pair "a premise" "a hypothesis"'
            parser.error(f"{folder} takes {' and '.join(inputs)}; give {examples[len(inputs) - 1]}")
        sys.stdout.reconfigure(errors="backslashreplace")  # of letters that a console lacks
        for row in rows:
            print(f"{client.describe(*row)}: {' | '.join(row)}")
    except WordIdsError as error:
        parser.error(str(error))
    except ImportError as error:
        parser.error(f"{error}; the first lines of {__file__} name the packages")
    except FileNotFoundError as error:
        parser.error(f"{error.filename} is missing; give --model=FOLDER of an export")
    except Exception as error:  # the runtimes have errors of their own
        reason = " ".join(str(error).split())[:200]
        parser.error(f"{folder} is damaged or of an older version ({reason}); export it again")


if __name__ == "__main__":
    main()
