"""He's initialisation, and its adaptation to dropout."""

import tensorflow as tf

from disan_tf.common.options import check_choice

INIT_SCALES = ("keep", "rate")


def he_normal(seed: int, keep: float = 1.0) -> tf.keras.initializers.VarianceScaling:
    """Returns the normal distribution with mean 0 and standard deviation sqrt(2 * keep / fan_in).

    With keep = 1 this is the rule of He et al. (2015), Sec. 2.2, for rectified activations.
    Gehring et al. (2017), Sec. 3.5, multiply the variance by the probability that dropout keeps an
    entry, because dropout divides the entries that it keeps by that probability. Keras' HeNormal
    has keep = 1 and is truncated; this distribution is not.

    fan_in is the number of inputs of a unit: dim for a matrix [dim, units], width * dim for the
    kernel of a convolution [width, dim, units].

    Args:
      seed: integer; layers of one shape that share a seed get the same weights.
      keep: factor of the variance, above 0.

    Raises:
      ValueError: a factor that is not above 0.
    """
    return tf.keras.initializers.VarianceScaling(
        2.0 * keep, mode="fan_in", distribution="untruncated_normal", seed=seed
    )


def variance_factor(init_scale: str, rate: float) -> float:
    """Returns the factor `keep` of `he_normal` for a layer with dropout on its input.

    Args:
      init_scale: "keep", the probability 1 - rate that an entry is kept (Gehring et al. 2017, Sec.
        3.5); or "rate", the rate itself, as the DSA paper's appendix says literally
        ("square root of the dropout rate" times the weights), and 1 without dropout.
      rate: dropout rate in [0, 1).

    Raises:
      ValueError: an unknown `init_scale`.
    """
    return 1.0 - rate if check_init_scale(init_scale) == "keep" else rate or 1.0


def check_init_scale(init_scale: str) -> str:
    """Returns `init_scale`, or raises ValueError with the known values."""
    return check_choice("init_scale", init_scale, INIT_SCALES)
