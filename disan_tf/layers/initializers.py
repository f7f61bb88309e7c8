"""How weights start where Glorot's rule is not used."""

import tensorflow as tf

INIT_SCALES = ("keep", "rate")


def he_normal(seed: int, keep: float = 1.0) -> tf.keras.initializers.VarianceScaling:
    """The normal distribution with mean 0 and std = sqrt(2 * keep / fan_in).

    With keep = 1 it is the rule of He et al. (2015), Sec. 2.2, for rectified activations. Gehring
    et al. (2017), Sec. 3.5, multiply the variance by the probability that dropout keeps a number,
    for dropout divides what it keeps by that.

    fan_in is the number of inputs of a unit: dim for a matrix [dim, units], width * dim for the
    kernel of a convolution [width, dim, units].

    Args:
      seed: integer; a seed gives the same weights in every layer of the same shape.
      keep: factor of the variance, above 0.

    Raises:
      ValueError: a factor that is not above 0.
    """
    return tf.keras.initializers.VarianceScaling(
        2.0 * keep, mode="fan_in", distribution="untruncated_normal", seed=seed
    )


def variance_factor(init_scale: str, rate: float) -> float:
    """What dropout of a rate makes of the variance of a layer's first weights.

    Args:
      init_scale: "keep", the probability 1 - rate that a number is kept (Gehring et al. 2017, Sec.
        3.5); "rate", what the DSA paper's Appendix says by the letter, "square root of the dropout
        rate" times the weights, where there is dropout, and 1 where there is none.
      rate: in [0, 1).

    Raises:
      ValueError: an unknown `init_scale`.
    """
    return 1.0 - rate if check_init_scale(init_scale) == "keep" else rate or 1.0


def check_init_scale(init_scale: str) -> str:
    """Returns `init_scale`, or raises ValueError with the known ones."""
    if init_scale not in INIT_SCALES:
        raise ValueError(f"init_scale={init_scale!r}; choose {' or '.join(INIT_SCALES)}.")
    return init_scale
