"""Predictions for sentences and for pairs, as JSON lines or CSV."""

from collections.abc import Sequence
from functools import cached_property
from typing import Callable, NamedTuple, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.models.base import prefix_of
from disan_tf.runs.bundle import Bundle
from disan_tf.serving.inference.batches import (
    BATCH_SIZE,
    Sentences,
    batches_of_inputs,
    compute,
    is_blank,
    tokenise,
)
from disan_tf.serving.inference.lines import (
    NO_KNOWN_WORD,
    TRUNCATED,
    blank_prediction,
    lines_bar,
    make_output_format,
    open_new,
    read_chunks,
)
from disan_tf.serving.inference.reading import Reading
from disan_tf.serving.inference.records import columns_of
from disan_tf.text.text_files import format_of

EXPLAINING_WORDS = 5  # named per sentence by `Explanation`
MAX_PAIRS = 1 << 18  # token pairs of a batch that is explained, whose attention is dense
SOURCE2TOKEN = "source2token"


class Counts(NamedTuple):
    """Numbers of predicted rows.

    `gold` counts rows with a `gold_label`, `unlabeled` those whose label is no class, `blank` rows
    without a word, `renamed` rows that have a field of the prediction's name. `remarks`: see
    `Reading`.
    """

    rows: int
    gold: int
    unlabeled: int
    blank: int = 0
    renamed: int = 0
    remarks: tuple[str, ...] = ()


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
    max_tokens: Optional[int] = None,
) -> Counts:
    """Predicts for every line of the input, in order.

    A line's JSON object holds its record, label and probabilities. A relatedness model has the
    score and the points' probabilities:

        {"text": "a good film", "label": "positive", "probabilities": {"negative": 0.02, ...}}
        {"premise": "...", "hypothesis": "...", "label": "neutral", "probabilities": {...}}
        {"sentence_a": "...", "sentence_b": "...", "score": 3.7, "probabilities": {"1": ...}}
        {"text": "qwertyuiop", "label": "positive", "probabilities": {...}, "no_known_word": true}
        {"text": "", "label": null, "probabilities": {"negative": null, ...}, "blank": true}
        {"text": "...", "label": "positive", "probabilities": {...}, "truncated": true}

    No field of the input is replaced, see `add_prediction`.

    Args:
      bundle: the model.
      input_path, input_format, encoding: see `read_chunks`.
      output_path: a file that does not exist, and appears when it is complete; or "-" for standard
        output, which gets the predictions chunk by chunk.
      output_format: see `make_output_format`; None = "csv" if the output's name ends with .csv,
        else "jsonl".
      batch_size: the most lines in a batch.
      explain: whether a line names the tokens that weigh most, see `Explanation`.
      text_column: the columns of the texts; none = see `columns_of`.
      escape_formulas, top_k: see `make_output_format`.
      max_tokens: see `Reading`.

    Raises:
      UserError: see `read_chunks`, `make_output_format` and `Explanation`; or the output exists or
        cannot be written.
    """

    def check(record: dict, where: str) -> None:
        writer.check(record, where)
        places.append(where)

    output_format = output_format or ("csv" if format_of(output_path) == "csv" else "jsonl")
    if explain and output_format != "jsonl":
        raise UserError(
            f"--explain adds to JSON lines; leave --output_format={output_format} out, and name an "
            "--output that ends with .jsonl."
        )
    explanation = Explanation(bundle) if explain else None
    writer = make_output_format(output_format, bundle, escape_formulas, top_k)
    step, text_to_ids = make_prediction_step(bundle.model), bundle.traced_text_to_ids()
    columns = columns_of(bundle.config, bundle.model.fields, text_column)
    bar, names = lines_bar("predict", input_path, input_format, output_path), []
    places: list[str] = []  # of the records in a chunk
    counts, lines, reading = Counts(0, 0, 0), 0, Reading(bundle, max_tokens)
    with open_new(output_path) as file, bar:
        for records in read_chunks(
            input_path, input_format, columns, encoding, check, names.extend
        ):
            sentences, are_cut = reading.cut(tokenise(records, text_to_ids, columns))
            if explanation:
                explanation.check(sentences, places)
            places.clear()
            outputs = compute(step, sentences, text_to_ids, batch_size, bar.update, reading.count)
            predictions = describe_all(sentences, outputs, bundle, top_k=top_k)
            mark_truncated(predictions, are_cut)
            if explanation:
                for prediction, added in zip(predictions, explanation(sentences, text_to_ids)):
                    prediction.update({} if "blank" in prediction else added)
            for record, prediction in zip(records, predictions):
                file.write(writer.line(record, prediction))
                lines += 1
            file.flush()
            counts = _count(counts, records, predictions, bundle.classes)
        if lines != counts.rows:
            raise RuntimeError(f"{lines} predictions for {counts.rows} rows")
        file.write(writer.footer(names))
        file.flush()
    return counts._replace(renamed=writer.renamed, remarks=tuple(reading.remarks().values()))


def make_prediction_step(model) -> Callable[..., tuple[tf.Tensor, ...]]:
    """Compiles a function: the model's inputs -> probabilities, predictions, missing words.

    Probabilities are <float32>[batch, classes]; predictions are class numbers <int32>[batch] or,
    for relatedness, scores <float32>[batch]; missing words: see `SentenceModel.lacks_words`.
    """

    @tf.function(input_signature=model.signatures()["call"], autograph=False)
    def predict_batch(*inputs):
        outputs = model(*inputs, training=False)
        return tf.nn.softmax(outputs), model.predictions(outputs), model.lacks_words(*inputs)

    return predict_batch


def describe_all(
    sentences: Sentences,
    outputs: Sequence[np.ndarray],
    bundle: Bundle,
    marks_blank: bool = True,
    top_k: Optional[int] = None,
) -> list[dict]:
    """Describes predictions by `label` or `score`, and `probabilities`.

    Where a text has no word that the model knows, `no_known_word` is True. `top_k` keeps
    only the largest probabilities, in descending order.

    Args:
      sentences, outputs: see `tokenise` and `make_prediction_step`.
      bundle: the model.
      marks_blank: whether records without a word get `blank_prediction`.
    """
    blank, described = blank_prediction(bundle, top_k), []
    for texts, probabilities, prediction, lacks_words in zip(sentences, *outputs):
        if marks_blank and is_blank(texts):
            described.append(dict(blank))
            continue
        order = np.arange(len(probabilities))
        if top_k:
            order = np.argsort(-probabilities, kind="stable")[:top_k]
        is_score = bundle.model.label_dtype.is_floating
        found = (
            {"score": _digits(prediction)} if is_score else {"label": bundle.classes[prediction]}
        )
        found["probabilities"] = {bundle.classes[k]: _digits(probabilities[k]) for k in order}
        described.append({**found, **({NO_KNOWN_WORD: True} if lacks_words else {})})
    return described


def mark_truncated(predictions: Sequence[dict], are_cut: Sequence[bool]) -> None:
    """Marks the predictions for truncated records, see `Reading`."""
    for prediction, is_cut in zip(predictions, are_cut):
        if is_cut:
            prediction[TRUNCATED] = True


def _digits(number) -> float:
    return float(f"{number:.7g}")  # float32 has no more


def _count(counts: Counts, records, predictions, classes) -> Counts:
    gold = [record["gold_label"] for record in records if "gold_label" in record]
    unlabeled = sum(label not in classes for label in gold)
    blank = sum("blank" in prediction for prediction in predictions)
    added = (len(records), len(gold), unlabeled, blank)
    return Counts(*(old + new for old, new in zip(counts, added)))


class Explanation:
    """Names the tokens with the largest source2token weights (means over the features).

    A call returns {"explanation": [{"token", "position", "weight"}, ...]} for each record, the
    largest weight first; positions count from 0. For pairs the names are "<field>_explanation".

    Raises:
      UserError: the encoder has no source2token attention.
    """

    def __init__(self, bundle: Bundle):
        self._model = model = bundle.model
        specs = model.input_specs()
        self._weigh = tf.function(self._weights, input_signature=specs, autograph=False)
        outputs = self._weigh.get_concrete_function().structured_outputs
        if len(outputs) != len(model.fields):
            raise UserError(
                f"--explain needs source2token attention, which {bundle.config.encoder.name} in "
                f"{bundle.directory} lacks; --mode=attend writes what there is."
            )

    def check(self, sentences: Sentences, places: Sequence[str]) -> None:
        """Raises UserError for a text whose attention exceeds the memory, see `LengthLimit`."""
        for texts, where in zip(sentences, places):
            if max(map(len, texts)) ** 2 > MAX_PAIRS:
                self._limit.check(texts, where)

    def __call__(self, sentences: Sentences, text_to_ids) -> list[dict]:
        def fits(lengths):
            return len(lengths) * lengths.max() ** 2 <= MAX_PAIRS

        explained = [{} for _ in sentences]
        for batch, inputs in batches_of_inputs(sentences, text_to_ids, BATCH_SIZE, fits=fits):
            weights = self._weigh(*inputs)
            for number, field in enumerate(self._model.fields):
                for index, row in zip(batch, weights[field].numpy()):
                    words = heaviest(sentences[index][number], row)
                    explained[index][f"{prefix_of(field)}explanation"] = words
        return explained

    @cached_property
    def _limit(self):
        from disan_tf.serving.inference import attend  # which imports this module

        return attend.LengthLimit(attend.make_attention_step(self._model))

    def _weights(self, *inputs) -> dict[str, tf.Tensor]:
        """Returns the weights <float32>[batch, length] of the fields that have some."""
        tensors = self._model.attend(*inputs)
        names = {field: f"{prefix_of(field)}{SOURCE2TOKEN}" for field in self._model.fields}
        return {
            field: tf.reduce_mean(tensors[name], axis=-1)
            for field, name in names.items()
            if name in tensors
        }


def heaviest(tokens: Sequence[str], weights: np.ndarray) -> list[dict]:
    """Returns the tokens with the largest weights <float>[length]; earlier ones win ties."""
    order = np.argsort(-weights[: len(tokens)], kind="stable")[:EXPLAINING_WORDS]
    return [
        {"token": tokens[index], "position": int(index), "weight": float(f"{weights[index]:.4g}")}
        for index in order
    ]
