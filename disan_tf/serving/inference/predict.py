"""Predictions for sentences and for pairs, as JSON lines, as CSV or for a leaderboard."""

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Callable, NamedTuple, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.files import check_open, make_parent, open_atomically, open_output
from disan_tf.common.progress import is_terminal, progress_bar
from disan_tf.input_pipeline import evaluation_batches
from disan_tf.runs.bundle import Bundle
from disan_tf.serving.inference.explain import Explanation
from disan_tf.serving.inference.lines import count_lines, is_blank, look_up, read_chunks, tokenise
from disan_tf.serving.inference.output_formats import (
    NO_KNOWN_WORD,
    blank_prediction,
    make_output_format,
)
from disan_tf.serving.inference.records import columns_of
from disan_tf.text.text_files import format_of

BATCH_SIZE = 128  # of short sentences, 1.03 to 1.13 times as fast as 64
MAX_POSITIONS = 1 << 14  # tokens and padding of a batch: fewer lines if they are long


class Counts(NamedTuple):
    """Numbers of predicted rows.

    Attributes:
      rows: all rows of the input.
      gold: rows with a `gold_label`, whatever it is.
      unlabeled: rows whose `gold_label` is no class of the model, such as "-".
      blank: rows without a word, which are marked and get no label.
      renamed: rows that have a field of the prediction's name, see `add_prediction`.
    """

    rows: int
    gold: int
    unlabeled: int
    blank: int = 0
    renamed: int = 0


def predict(
    bundle: Bundle,
    input_path,
    output_path,
    input_format: Optional[str] = None,
    output_format: Optional[str] = None,
    batch_size: int = BATCH_SIZE,
    explain: bool = False,
    text_column: Sequence[str] = (),
    encoding: str = "utf-8",
    escape_formulas: bool = False,
    top_k: Optional[int] = None,
) -> Counts:
    """Predicts for every line of the input, in order.

    A line's JSON object holds its record, label and probabilities. A relatedness model has the
    score and the points' probabilities:

        {"text": "a good film", "label": "positive", "probabilities": {"negative": 0.02, ...}}
        {"premise": "...", "hypothesis": "...", "label": "neutral", "probabilities": {...}}
        {"sentence_a": "...", "sentence_b": "...", "score": 3.7, "probabilities": {"1": ...}}
        {"text": "qwertyuiop", "label": "positive", "probabilities": {...}, "no_known_word": true}
        {"text": "", "label": null, "probabilities": {"negative": null, ...}, "blank": true}

    Memory is bounded by the chunks of `read_chunks`. The input's fields are carried over, gold
    labels among them; where a record has a field `label`, the prediction's is `predicted_label`.

    Args:
      bundle: the model.
      input_path: a file, or "-" for standard input.
      output_path: a file that does not exist, and appears when it is complete; or "-" for standard
        output, which gets the predictions chunk by chunk.
      input_format: see `read_chunks`.
      output_format: "jsonl", "csv", or a key of
        `disan_tf.serving.inference.output_formats.SUBMISSIONS`; None = "csv" if the output's name
        ends with .csv, else "jsonl".
      batch_size: the most lines in a batch.
      explain: whether a line names the tokens that weigh most, see `Explanation`.
      text_column: the columns of the texts; none = see `columns_of`.
      encoding: see `read_chunks`.
      escape_formulas: see `disan_tf.serving.inference.output_formats.CsvLines`.
      top_k: the number of most probable classes to write; None = all, in their order.

    Raises:
      UserError: see `read_chunks`, `disan_tf.serving.inference.output_formats` and `Explanation`;
        or the output exists or cannot be written.
      OSError: a write failed; the error names the output.
    """
    output_format = output_format or ("csv" if format_of(output_path) == "csv" else "jsonl")
    explanation = _explanation(bundle, output_format) if explain else None
    form = make_output_format(
        output_format, bundle, input_path, output_path, escape_formulas, check_top_k(top_k)
    )
    step, text_to_ids = make_prediction_step(bundle.model), bundle.traced_text_to_ids()
    fields, counts, lines = bundle.model.fields, Counts(0, 0, 0), 0
    columns = columns_of(bundle.config, fields, text_column)
    bar, names = _bar(input_path, input_format, output_path), []
    with _output(output_path) as file, bar:
        file.write(form.header)
        chunks = read_chunks(
            input_path, input_format, fields, form.check, columns, encoding, names.extend
        )
        for records in chunks:
            sentences = tokenise(records, text_to_ids, fields, columns)
            rows = predict_all(step, sentences, text_to_ids, batch_size, bar.update)
            predictions = describe_all(sentences, rows, bundle, form.marks_blank, top_k)
            if explanation:
                for prediction, added in zip(predictions, explanation(sentences, text_to_ids)):
                    prediction.update({} if "blank" in prediction else added)
            for record, prediction in zip(records, predictions):
                file.write(form.line(record, prediction))
                lines += 1
            file.flush()
            counts = _count(counts, records, predictions, bundle.classes)
        form.finish(counts.rows, lines)
        file.write(form.footer(names))
        file.flush()
    return counts._replace(renamed=form.renamed)


def _bar(input_path, input_format, output_path):
    """Returns a bar over the input's lines, unless the terminal is the input or the output."""
    streams = [(input_path, sys.stdin), (output_path, sys.stdout)]
    is_enabled = is_terminal() and not any(
        path == "-" and stream.isatty() for path, stream in streams
    )
    return progress_bar("predict", "lines", count_lines(input_path, input_format), is_enabled)


def _explanation(bundle, output_format) -> Explanation:
    if output_format != "jsonl":
        raise UserError(
            f"--explain adds to JSON lines; leave --output_format={output_format} out, and name an "
            "--output that ends with .jsonl."
        )
    return Explanation(bundle)


def make_prediction_step(model) -> Callable[..., tuple[tf.Tensor, ...]]:
    """Compiles a function: the model's inputs -> probabilities, predictions, missing words.

    Probabilities are <float32>[batch, classes]; predictions are class numbers <int32>[batch] or,
    for relatedness, scores <float32>[batch]; the last are `SentenceModel.lacks_words`.
    """

    @tf.function(input_signature=model.signatures()["call"], autograph=False)
    def predict_batch(*inputs):
        outputs = model(*inputs, training=False)
        return tf.nn.softmax(outputs), model.predictions(outputs), model.lacks_words(*inputs)

    return predict_batch


def check_top_k(top_k: Optional[int]) -> Optional[int]:
    """Returns `top_k`; raises UserError if it is below 1."""
    if top_k is not None and top_k < 1:
        raise UserError(f"--top_k={top_k} must be at least 1.")
    return top_k


def describe(
    probabilities: np.ndarray,
    prediction: np.generic,
    lacks_words: np.generic,
    bundle: Bundle,
    top_k: Optional[int] = None,
) -> dict:
    """Describes a prediction by its `label` or `score`, and its `probabilities`.

    Where a text has no word that the model knows, `no_known_word` is True. With `top_k` there are
    so many classes, the most probable first.
    """
    order = np.arange(len(probabilities))
    if top_k:
        order = np.argsort(-probabilities, kind="stable")[:top_k]
    named = {
        "probabilities": {bundle.classes[k]: _digits(probabilities[k]) for k in order},
        **({NO_KNOWN_WORD: True} if lacks_words else {}),
    }
    if bundle.model.label_dtype.is_floating:
        return {"score": _digits(prediction), **named}
    return {"label": bundle.classes[prediction], **named}


def describe_all(
    sentences: Sequence[tuple],
    rows: Sequence[tuple],
    bundle: Bundle,
    marks_blank: bool = True,
    top_k: Optional[int] = None,
) -> list[dict]:
    """Describes the predictions for `tokenise`'s sentences.

    Records without a word are marked with "blank", and have neither label nor probabilities, if
    `marks_blank`. `top_k`: see `describe`.
    """
    blank = blank_prediction(bundle, top_k)
    return [
        dict(blank) if marks_blank and is_blank(texts) else describe(*row, bundle, top_k)
        for texts, row in zip(sentences, rows)
    ]


def _digits(number):
    return float(f"{number:.7g}")  # float32 has no more


def _count(counts: Counts, records, predictions, classes) -> Counts:
    gold = [record["gold_label"] for record in records if "gold_label" in record]
    unlabeled = sum(label not in classes for label in gold)
    blank = sum("blank" in prediction for prediction in predictions)
    added = (len(records), len(gold), unlabeled, blank)
    return Counts(*(old + new for old, new in zip(counts, added)))


def predict_all(
    step, sentences, text_to_ids, batch_size, advance: Callable[[int], object] = lambda count: None
) -> list[tuple]:
    """Returns the results of `make_prediction_step` for each record's sentences, in order.

    `advance` is called with the number of records in each finished batch.
    """
    rows = [None] * len(sentences)
    for batch, inputs in batches_of_inputs(sentences, text_to_ids, batch_size):
        for index, *row in zip(batch, *(tensor.numpy() for tensor in step(*inputs))):
            rows[index] = row
        advance(len(batch))
    return rows


def batches_of_inputs(
    sentences: Sequence[tuple], text_to_ids, batch_size: int
) -> Iterator[tuple[np.ndarray, Sequence[tf.Tensor]]]:
    """Yields batches of `tokenise`'s sentences: their indices and the model's inputs."""
    lengths = np.array([[len(tokens) for tokens in record] for record in sentences])
    for batch in batches_of_similar_length(lengths, batch_size):
        yield batch, look_up([sentences[index] for index in batch], text_to_ids)


def batches_of_similar_length(lengths: np.ndarray, batch_size: int) -> Iterator[np.ndarray]:
    """Yields indices of records with similar lengths <int>[records, fields]."""
    for batch in evaluation_batches(lengths, batch_size):
        yield from _divide(batch[batch >= 0], lengths)


def _divide(batch, lengths):
    """Halves a batch of more than one record until it has at most `MAX_POSITIONS`."""
    middle = len(batch) // 2
    if middle and len(batch) * lengths[batch].max(axis=0).sum() > MAX_POSITIONS:
        yield from _divide(batch[:middle], lengths)
        yield from _divide(batch[middle:], lengths)
    else:
        yield batch


@contextlib.contextmanager
def _output(path) -> Iterator[BinaryIO]:
    """Opens a file that gets its name if the block ends without an error, or standard output."""
    if path == "-":
        check_open(sys.stdout, "--output")
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    target = Path(path).resolve()
    if target.exists() and not target.is_file() and not target.is_dir():  # a pipe or a device
        with open_output(target, path) as file:
            yield file
        return
    _check_absent(target, path)
    make_parent(target)
    with open_atomically(target) as file:
        yield file
        _check_absent(target, path)  # another run may have been faster


def _check_absent(target: Path, path):
    if target.is_dir():
        raise UserError(f"{path} is a directory; name a file for the predictions.")
    if target.exists():
        raise UserError(f"{path} exists already; name another file or delete it.")
