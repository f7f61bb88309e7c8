"""Weights cast once to the dtype of the computation, however often they are used."""

import contextlib
import threading

import tensorflow as tf

_scope = threading.local()


@contextlib.contextmanager
def shared_conversions():
    """Inside, `cast_weight` casts each weight once.

    A tied encoder uses its weights for both sentences: without this, mixed precision would cast
    them, and their gradients, twice.
    """
    if getattr(_scope, "casts", None) is not None:  # an outer block already shares
        yield
        return
    _scope.casts = {}
    try:
        yield
    finally:
        _scope.casts = None


def cast_weight(weight: tf.Variable, dtype: tf.DType) -> tf.Tensor:
    """The value of `weight` as `dtype`."""
    casts = getattr(_scope, "casts", None)
    if casts is None:
        return tf.cast(weight, dtype)
    key = id(weight), dtype
    if key not in casts:  # the weight is stored too, so that no other object can reuse its id
        casts[key] = weight, tf.cast(weight, dtype)
    return casts[key][1]
