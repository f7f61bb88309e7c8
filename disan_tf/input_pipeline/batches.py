"""Batch plans -> padded tensors."""

from typing import Union

import numpy as np
import tensorflow as tf

from disan_tf.input_pipeline.cached_layers import LayeredBatches
from disan_tf.input_pipeline.corpus import Split


def make_dataset(split: Split, batches: np.ndarray) -> Union[tf.data.Dataset, LayeredBatches]:
    """Gathers and pads the batches of a plan, <int64>[batches, batch_size], negative = no example.

    The corpus stays one eager tensor that the pipeline refers to; a batch is made when it is
    needed, and none is stored.

    Returns:
      A dataset of dictionaries, where 0 is padding:
        "<field>", e.g. "sentence": token ids <int32>[batch, longest];
        "<field>_characters", with word features: <int32>[batch, longest, word_length];
        "<field>_match", with word features of pairs: <int32>[batch, longest];
        "<field>_layers", with cached biLM layers: see `LayeredBatches`;
        "label": [batch] in the dtype of the labels; "index": <int64>[batch].
    """
    spellings = split.features and tf.constant(split.features.spellings)
    fields = [_make_gather(split, field, spellings) for field in split.fields]
    labels = tf.constant(split.labels)

    def gather(indices, examples):
        batch, indices = {}, indices[:examples]
        for gather_field in fields:
            batch.update(gather_field(indices))
        return {**batch, "label": tf.gather(labels, indices), "index": indices}

    sizes = np.sum(batches >= 0, axis=1)
    dataset = tf.data.Dataset.from_tensor_slices((batches, sizes))
    dataset = dataset.map(gather, num_parallel_calls=1, deterministic=True).prefetch(4)
    if split.layers is None:
        return dataset
    return LayeredBatches(dataset, split.layers, split.field_lengths)


def _make_gather(split, field, spellings):
    """Makes a function: indices <int64>[batch] -> one field's tensors by name."""
    ids, offsets = tf.constant(split.ids[field]), tf.constant(split.offsets[field])
    features = split.features
    if features is None:
        return lambda indices: {field: _pad(ids, *_locate(offsets, indices))}
    spelling = tf.constant(features.spelling[field])
    match = None if features.match is None else tf.constant(features.match[field])

    def gather(indices):
        places = _locate(offsets, indices)
        characters = tf.gather(spellings, _pad(spelling, *places))  # row 0 is zeros
        tensors = {field: _pad(ids, *places), f"{field}_characters": tf.cast(characters, tf.int32)}
        if match is not None:
            tensors[f"{field}_match"] = tf.cast(_pad(match, *places), tf.int32)
        return tensors

    return gather


def _locate(offsets, indices):
    """Returns the mask of tokens <bool>[batch, longest], and their places in the array."""
    starts = tf.gather(offsets, indices)
    lengths = tf.gather(offsets, indices + 1) - starts
    positions = tf.range(tf.reduce_max(lengths))[None, :]
    real = positions < lengths[:, None]
    return real, tf.where(real, starts[:, None] + positions, 0)


def _pad(values, real, flat):
    """Gathers `values` [tokens] at `_locate`'s places, 0 elsewhere: [batch, longest]."""
    return tf.where(real, tf.gather(values, flat), tf.constant(0, values.dtype))
