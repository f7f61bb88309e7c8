"""Predictions for lines of text, as JSON lines."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.bundle import Bundle
from disan_tf.errors import UserError
from disan_tf.evaluation.lines import look_up, read_chunks, tokenise
from disan_tf.files import scratch_folder

IDS = tf.TensorSpec([None, None], tf.int32, name="ids")
MAX_POSITIONS = 1 << 14  # tokens and padding of a batch: one of long lines holds fewer lines


def predict(
    bundle: Bundle, input_path, output_path, input_format: Optional[str] = None,
    batch_size: int = 64,
) -> int:  # fmt: skip
    """Writes a JSON object per input line, in order: the line's record, label and probabilities.

        {"text": "a good film", "label": "positive", "probabilities": {"negative": 0.02, ...}}

    Memory is bounded by the chunks of `read_chunks`. Fields of the input's objects are carried
    over; only `label` and `probabilities` are replaced.

    Args:
      bundle: the model.
      input_path: a file, or "-" for standard input.
      output_path: a file, which appears (or is replaced) when it is complete, or "-" for standard
        output, which gets the answers chunk by chunk.
      input_format: see `read_chunks`.
      batch_size: lines in a batch, at most.

    Returns:
      The number of lines.

    Raises:
      UserError: see `read_chunks`; the model is of pairs; or the output cannot be written.
    """
    bundle.require_single_sentences("predict")
    answer, text_to_ids = make_answer_step(bundle.model), bundle.text_to_ids()
    count = 0
    with _output(output_path) as file:
        for records in read_chunks(input_path, input_format):
            tokens = tokenise(records, text_to_ids)
            for record, row in zip(records, _answer_all(answer, tokens, text_to_ids, batch_size)):
                line = {**record, **describe(row, bundle.classes)}
                file.write(json.dumps(line, ensure_ascii=False).encode("utf-8") + b"\n")
            file.flush()
            count += len(records)
    return count


def make_answer_step(model) -> Callable[[tf.Tensor], tf.Tensor]:
    """Compiled ids <int32>[batch, length] -> probabilities <float32>[batch, classes]."""

    @tf.function(input_signature=[IDS])
    def answer(ids):
        return tf.nn.softmax(model(ids, training=False))

    return answer


def describe(probabilities: np.ndarray, classes: list[str]) -> dict:
    """The `label` and `probabilities` of <float32>[classes]."""
    digits = [float(f"{probability:.7g}") for probability in probabilities]  # float32 has no more
    return {
        "label": classes[int(np.argmax(probabilities))],
        "probabilities": dict(zip(classes, digits)),
    }


def _answer_all(answer, tokens, text_to_ids, batch_size) -> list[np.ndarray]:
    """Probabilities <float32>[classes] of each token list, in its order."""
    rows = [None] * len(tokens)
    for batch in _batches([len(sentence) for sentence in tokens], batch_size):
        ids = look_up([tokens[index] for index in batch], text_to_ids)
        for index, row in zip(batch, answer(ids).numpy()):
            rows[index] = row
    return rows


def _batches(lengths: list[int], batch_size: int) -> Iterator[np.ndarray]:
    """Indices of lines of similar length, the longest first."""
    order = np.argsort(np.negative(lengths), kind="stable")
    start = 0
    while start < len(order):
        size = max(1, min(batch_size, MAX_POSITIONS // lengths[order[start]]))
        yield order[start : start + size]
        start += size


@contextlib.contextmanager
def _output(path) -> Iterator[BinaryIO]:
    """A file that takes its name when the block ends without an error, or standard output."""
    if path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    target = Path(path).resolve()
    if target.is_dir():
        raise UserError(f"{path} is a directory; name a file for the predictions.")
    if target.exists() and not target.is_file():  # a pipe or a device must not be replaced
        with open(target, "wb") as file:
            yield file
        return
    with scratch_folder(target) as scratch:
        with open(scratch / target.name, "wb") as file:
            yield file
        os.replace(scratch / target.name, target)
