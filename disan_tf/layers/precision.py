"""Weights in the precision of the arithmetic, converted once."""

import contextlib
import threading

import tensorflow as tf

_scope = threading.local()


@contextlib.contextmanager
def shared_conversions():
    """Inside, a weight is converted once, however often it is used.

    A tied encoder uses each of its weights for both sentences: without this, mixed precision would
    convert each twice, and its gradient as well.
    """
    if getattr(_scope, "converted", None) is not None:  # an outer block shares already
        yield
        return
    _scope.converted = {}
    try:
        yield
    finally:
        _scope.converted = None


def converted(weight: tf.Variable, dtype: tf.DType) -> tf.Tensor:
    """The value of `weight` as `dtype`."""
    known = getattr(_scope, "converted", None)
    if known is None:
        return tf.cast(weight, dtype)
    key = id(weight), dtype
    if key not in known:  # the weight is kept too, so that no other object can get its id
        known[key] = weight, tf.cast(weight, dtype)
    return known[key][1]
