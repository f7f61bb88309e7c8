"""Predicts with an exported model, without disan_tf; copied into exports as `client.py`.

    python client.py "a text" "another text"                   beside model.onnx or model.tflite
    python client.py --pair "a premise" "a hypothesis"
    python client.py --input=texts.txt                         a text in each line
    python -m disan_tf.serving.export.client --model=runs/x/saved_model "a text"

Needs NumPy, and onnxruntime (ONNX), ai-edge-litert or TensorFlow (TFLite), or tensorflow-text
(SavedModel).
"""

import argparse
import itertools
import json
import os
import re
import sys
import unicodedata
from pathlib import Path

import numpy as np

MOST_PAIRS = 1 << 15  # pairs of tokens in a batch; attention needs memory for each pair
CHUNK = 1024  # rows that are predicted before they are printed


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


class InputError(ValueError):
    """The error for texts, or for a file of texts, that cannot be read."""


class WordIdsError(ValueError):
    """The error for a SavedModel that takes word ids: the client only has texts."""


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class Client:
    """An exported model, in a folder with `metadata.json`.

    A call takes a text, or the two texts of a pair, and returns the outputs by name, such as
    "probabilities" <float32>[classes]. `predict` takes many.
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
        return self.predict([texts])[0]

    def predict(self, rows, batch_size: int = 32) -> list[dict[str, np.ndarray]]:
        """Returns the outputs of many rows, each a list of the texts that a call takes.

        A row of one text may also be the text. Texts of similar length share a batch, which has
        fewer rows if they are long. InputError names a wrong row.
        """
        return self._predict(self._read(rows), batch_size)

    def _predict(self, read, batch_size=32) -> list[dict[str, np.ndarray]]:
        most = None
        if self._words is not None:
            limit, most = self.metadata["max_tokens"], MOST_PAIRS
            # One token more than the model reads, so that it can mark truncated texts.
            limit = limit and limit + 1
            read = [[self.ids(text)[0][:limit] for text in row] for row in read]
        lengths = [max(map(len, row)) for row in read]
        outputs = [{} for _ in read]
        for batch in batches(lengths, batch_size, most):
            found = self._predict_batch([read[index] for index in batch])
            for place, index in enumerate(batch):
                outputs[index] = {name: output[place] for name, output in found.items()}
        return outputs

    def _read(self, rows) -> list[list[str]]:
        """Returns the rows as lists with a string for each input; see `predict`."""
        fields, read = self.metadata["inputs"], []
        for number, row in enumerate([rows] if isinstance(rows, str) else rows):
            texts = list(row) if np.iterable(row) and not isinstance(row, str) else [row]
            wrong = ""
            if len(texts) != len(fields) or not all(isinstance(text, str) for text in texts):
                wanted = " and ".join(f"a string for {field}" for field in fields)
                wrong = f"; write a list with {wanted}"
            elif not _is_unicode("".join(texts)):  # such as an argument in another encoding
                wrong = ", which is not UTF-8; convert the text"
            if wrong:
                raise InputError(f"row {number} is {repr(row)[:80]}{wrong}")
            read.append(texts)
        return read

    def _predict_batch(self, rows) -> dict[str, np.ndarray]:
        """Returns the outputs of rows of texts, or of word ids."""
        fields, columns = self.metadata["inputs"], list(zip(*rows))
        if self._words is None:
            found = self._run({name: list(texts) for name, texts in zip(fields, columns)})
        else:
            names = [f"{field}_ids" for field in fields] if len(fields) > 1 else ["ids"]
            limit = self.metadata["max_tokens"]
            lacking = [any((ids[:limit] == 1).all() for ids in row) for row in rows]
            found = self._run({name: padded(column) for name, column in zip(names, columns)})
            found = {**found, "no_known_word": lacking}
        return {name: np.asarray(output) for name, output in found.items()}

    def ids(self, text: str) -> np.ndarray:
        """Returns the word ids of a text, <int32>[1, tokens]."""
        tokens = self._tokens(text)
        words = [token.lower() for token in tokens] if self.metadata["lowercase"] else tokens
        return np.array([[self._words.get(word, 1) for word in words] or [1]], np.int32)

    def _tokens(self, text: str) -> list[str]:
        return tokenize(text, self.metadata["tokenizer"])

    def _has_token(self, text: str) -> bool:
        steps = self.metadata.get("tokenizer", [])  # absent from older SavedModels
        return bool(text.strip()) and any(tokenize(text, steps))

    def describe(self, *texts: str) -> str:
        """Returns the class with its probability, or the score; "blank" for blank texts."""
        return self.describe_all([texts])[0]

    def describe_all(self, rows) -> list[str]:
        """Returns `describe` of each row of texts."""
        read = self._read(rows)
        return [
            self._describe(outputs) if any(map(self._has_token, texts)) else "blank"
            for texts, outputs in zip(read, self._predict(read))
        ]

    def _describe(self, outputs) -> str:
        if "score" in outputs:
            return f"{outputs['score']:.3f}"
        note = ", no known word" if outputs["no_known_word"] else ""
        if self.metadata.get("multi_label"):
            classes = zip(self.metadata["classes"], outputs["probabilities"])
            likely = [f"{name} ({p:.3f}{note})" for name, p in classes if p >= 0.5]
            return ", ".join(likely) or "none of the classes"
        best = outputs["probabilities"].argmax()
        return f"{self.metadata['classes'][best]} ({outputs['probabilities'][best]:.3f}{note})"


def batches(lengths, size: int, most=None):
    """Yields lists of up to `size` indices, by length; `most` limits rows * length^2."""
    batch = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        is_large = most and (len(batch) + 1) * lengths[index] ** 2 > most
        if batch and (len(batch) == size or is_large):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def padded(rows) -> np.ndarray:
    """Returns rows of word ids as <int32>[rows, longest], padded with 0."""
    array = np.zeros([len(rows), max(map(len, rows))], np.int32)
    for place, row in enumerate(rows):
        array[place, : len(row)] = row
    return array


def read_rows(path: str, fields):
    """Yields the rows of a file, or of standard input ("-").

    A line has a text for each of `fields`, with a tab between two; a blank line has blank texts.
    InputError names a wrong line.
    """
    name = "standard input" if path == "-" else path
    try:
        with open(0 if path == "-" else path, "rb") as file:
            for number, line in enumerate(file, start=1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                row = [text]
                if len(fields) > 1:
                    row = text.split("\t") if text.strip() else [""] * len(fields)
                if len(row) != len(fields):
                    raise InputError(
                        f"{name}:{number}: {len(row)} columns; write {' and '.join(fields)} with "
                        "a tab between them"
                    )
                yield row
    except UnicodeDecodeError:
        raise InputError(f"{name}:{number}: not UTF-8; convert the file") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror})") from None


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
    """Prints the class and its probability, or the score, of each text or pair, in order."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "--model", default=Path(__file__).parent, type=Path, help="exported model (default: beside)"
    )
    parser.add_argument(
        "--pair", nargs=2, action="append", default=[], help="two texts of a pair; may be repeated"
    )
    parser.add_argument(
        "--input",
        help="a file with a text, or two texts with a tab between them, in each line; - reads "
        "standard input",
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
        if not (rows or options.input) or any(len(row) != len(inputs) for row in rows):
            examples = 'texts, such as "a text" "another"', '--pair "a premise" "a hypothesis"'
            parser.error(
                f"{folder} takes {' and '.join(inputs)}; give {examples[len(inputs) - 1]}, or "
                "--input=FILE"
            )
        sys.stdout.reconfigure(errors="backslashreplace")  # of letters that a console lacks
        lines = itertools.chain(rows, read_rows(options.input, inputs) if options.input else ())
        while chunk := list(itertools.islice(lines, CHUNK)):
            for row, described in zip(chunk, client.describe_all(chunk)):
                print(f"{described}: {' | '.join(row)}")
            sys.stdout.flush()
    except (WordIdsError, InputError) as error:
        parser.error(str(error))
    except BrokenPipeError:  # a reader such as `head` has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ImportError as error:
        parser.error(f"{error}; the first lines of {__file__} name the packages")
    except FileNotFoundError as error:
        parser.error(f"{error.filename} is missing; give --model=FOLDER of an export")
    except Exception as error:  # the runtimes have errors of their own
        reason = " ".join(str(error).split())[:200]
        parser.error(f"{folder} is damaged or of an older version ({reason}); export it again")


if __name__ == "__main__":
    main()
