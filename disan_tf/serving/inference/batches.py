"""From records to a model's outputs: tokens, and batches of sentences with similar lengths."""

from collections.abc import Iterator, Sequence
from typing import Callable

import numpy as np
import tensorflow as tf

from disan_tf.input_pipeline import evaluation_batches
from disan_tf.serving.inference.records import SINGLE, Columns
from disan_tf.text import TracedTextToIds

BATCH_SIZE = 128  # of short sentences, 1.03 to 1.13 times as fast as 64
MAX_POSITIONS = 1 << 14  # tokens and padding of a batch: fewer lines if they are long
Sentences = Sequence[tuple[list[str], ...]]  # the tokens of each record's sentences


def tokenise(
    records: Sequence[dict], text_to_ids: TracedTextToIds, columns: Columns = SINGLE
) -> Sentences:
    """Returns the tokens of each record's sentences, in the order of the fields.

    A sentence without tokens gets one empty token, which is unknown.
    """
    fields = []
    for field in columns.fields:
        lists = [columns.find_tokens(record, field) for record in records]
        pairs = zip(records, lists)
        texts = [columns.find_text(record, field) for record, tokens in pairs if tokens is None]
        tokenised = iter(text_to_ids.tokens(texts))
        fields.append([(next(tokenised) if tokens is None else tokens) or [""] for tokens in lists])
    return list(zip(*fields))


def is_blank(sentences: Sequence[Sequence[str]]) -> bool:
    """Returns whether none of a record's sentences, see `tokenise`, has a token."""
    return not any(map(any, sentences))


def look_up(sentences: Sentences, text_to_ids: TracedTextToIds) -> Sequence[tf.Tensor]:
    """Returns the model's inputs for `tokenise`'s sentences, see `text_to_ids.inputs`.

    First come word ids, for each field <int32>[batch, length], zero-padded, then the other inputs
    that the model was trained on.
    """
    return text_to_ids.inputs(*zip(*sentences))


def compute(
    step: Callable,
    sentences: Sentences,
    text_to_ids: TracedTextToIds,
    batch_size: int = BATCH_SIZE,
    advance: Callable[[int], object] = lambda count: None,
    count: Callable[[Sequence[tf.Tensor]], object] = lambda ids: None,
) -> list[np.ndarray]:
    """Computes a model's outputs for sentences, at least one: an array [sentences, ...] for each.

    Args:
      step: a function of the model's inputs -> a tensor [batch, ...] or a tuple of them.
      sentences, text_to_ids: see `look_up`.
      batch_size: the most records in a batch.
      advance: a function called with the number of records in each finished batch.
      count: a function called with the word ids of each batch, by field.
    """
    order, outputs = [], []
    for batch, inputs in batches_of_inputs(sentences, text_to_ids, batch_size):
        order.append(batch)
        count(inputs[: len(sentences[0])])
        outputs.append([tensor.numpy() for tensor in tf.nest.flatten(step(*inputs))])
        advance(len(batch))
    places = np.argsort(np.concatenate(order))
    return [np.concatenate(arrays)[places] for arrays in zip(*outputs)]


def batches_of_inputs(
    sentences: Sentences, text_to_ids: TracedTextToIds, batch_size: int, **options
) -> Iterator[tuple[np.ndarray, Sequence[tf.Tensor]]]:
    """Yields batches, see `batches_of_similar_length`: their indices and the model's inputs."""
    lengths = np.array([[len(tokens) for tokens in record] for record in sentences])
    for batch in batches_of_similar_length(lengths, batch_size, **options):
        yield batch, look_up([sentences[index] for index in batch], text_to_ids)


def _has_few_positions(lengths: np.ndarray) -> bool:
    return len(lengths) * lengths.max(axis=0).sum() <= MAX_POSITIONS


def batches_of_similar_length(
    lengths: np.ndarray, batch_size: int, fits: Callable[[np.ndarray], bool] = _has_few_positions
) -> Iterator[np.ndarray]:
    """Yields the indices of records with similar lengths <int>[records, fields].

    A batch has at most `batch_size` records; those whose lengths do not fit are halved.
    """
    for whole in evaluation_batches(lengths, batch_size):
        parts = [whole[whole >= 0]]
        while parts:
            batch = parts.pop()
            if len(batch) < 2 or fits(lengths[batch]):
                yield batch
            else:
                parts += np.split(batch, [len(batch) // 2])[::-1]
