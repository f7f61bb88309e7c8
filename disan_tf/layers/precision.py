"""Weights that are cast to the computation's dtype once, however often they are used."""

import contextlib
import threading

import tensorflow as tf

_scope = threading.local()


@contextlib.contextmanager
def shared_conversions():
    """Makes `cast_weight` cast each weight once inside the context.

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
    """Returns the value of `weight` as `dtype`."""
    casts = getattr(_scope, "casts", None)
    if casts is None:
        return tf.cast(weight, dtype)
    key = id(weight), dtype
    if key not in casts:  # the weight is stored too, so that no other object can reuse its id
        casts[key] = weight, tf.cast(weight, dtype)
    return casts[key][1]
