"""Batch plans -> padded tensors."""

import numpy as np
import tensorflow as tf

from disan_tf.input_pipeline.corpus import Split


def make_dataset(split: Split, batches: np.ndarray) -> tf.data.Dataset:
    """Gathers and pads the batches of a plan.

    The corpus stays one eager tensor that the pipeline refers to; no batch is made before it is
    needed, and none is stored.

    Args:
      split: the examples.
      batches: <int64>[batches, batch_size] indices, negative ones left out.

    Returns:
      A dataset of dictionaries: "sentence" <int32>[batch, longest] token ids with 0 for padding,
      "label" <int32>[batch], "index" <int64>[batch].
    """
    ids, offsets, labels = (
        tf.constant(array) for array in (split.ids, split.offsets, split.labels)
    )

    def gather(indices):
        indices = tf.boolean_mask(indices, indices >= 0)
        starts = tf.gather(offsets, indices)
        lengths = tf.gather(offsets, indices + 1) - starts
        positions = tf.range(tf.reduce_max(lengths))[None, :]
        real = positions < lengths[:, None]
        flat = tf.where(real, starts[:, None] + positions, 0)
        sentence = tf.where(real, tf.gather(ids, flat), 0)
        return {"sentence": sentence, "label": tf.gather(labels, indices), "index": indices}

    dataset = tf.data.Dataset.from_tensor_slices(batches)
    return dataset.map(gather, num_parallel_calls=1, deterministic=True).prefetch(4)
