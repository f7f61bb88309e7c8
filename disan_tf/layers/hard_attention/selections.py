"""The tokens that the samplers of a sentence encoder selected."""

from typing import NamedTuple

import tensorflow as tf

from disan_tf.layers.pooling import token_counts


class Selections(NamedTuple):
    """The tokens that the samplers of a sentence encoder selected, in both directions.

    Attributes:
      heads: forward and backward, <bool>[batch, length], tokens that receive context.
      dependents: forward and backward, <bool>[batch, length], tokens that are attended to.
      log_probability: log probability of all selections in nats, <float32>[batch]; 0 if nothing
        was sampled.
      head_fraction: heads over real tokens, the mean of both directions, <float32>[batch].
      dependent_fraction: dependents over real tokens, likewise.
    """

    heads: tuple
    dependents: tuple
    log_probability: tf.Tensor
    head_fraction: tf.Tensor
    dependent_fraction: tf.Tensor


def merge_selections(heads, dependents, mask: tf.Tensor) -> Selections:
    """Merges the samplers' selections.

    Args:
      heads: a `Selection` for each direction; an object that occurs several times counts once.
      dependents: a `Selection` for each direction.
      mask: <bool>[batch, length], True = real token.
    """
    distinct = {id(selection): selection for selection in [*heads, *dependents]}.values()
    return Selections(
        heads=tuple(selection.selected for selection in heads),
        dependents=tuple(selection.selected for selection in dependents),
        log_probability=tf.add_n([selection.log_probability for selection in distinct]),
        head_fraction=_fraction(heads, mask),
        dependent_fraction=_fraction(dependents, mask),
    )


def _fraction(selections, mask):
    chosen = [tf.reduce_sum(tf.cast(one.selected, tf.float32), axis=1) for one in selections]
    return tf.add_n(chosen) / (len(chosen) * token_counts(mask))
