"""disan_tf/models/factory.py: weights that the machine cannot hold are not made."""

import pytest
import tensorflow as tf

from disan_tf.models.factory import memory_limit


def _build(units):
    tf.keras.layers.Dense(units).build([None, 1000])


def test_a_matrix_that_is_too_large_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr("os.sysconf", lambda name: 1000)  # 1000 pages of 1000 bytes
    with memory_limit(copies=1):
        _build(249)
    message = "kernel of 1000 x 63 numbers the model needs 0 GB, and the machine has 0 GB"
    with pytest.raises(MemoryError, match=message), memory_limit(copies=4):
        _build(63)


def test_nothing_is_refused_after_the_block(monkeypatch):
    monkeypatch.setattr("os.sysconf", lambda name: 1000)
    with memory_limit(copies=1):
        pass
    _build(1000)


def test_the_limit_is_the_memory_of_a_gpu_if_there_is_one(monkeypatch):
    monkeypatch.setattr("disan_tf.models.factory.gpu_memory", lambda: 1_000_000)
    with memory_limit(copies=1):
        _build(249)
    with pytest.raises(MemoryError, match="and the GPU has 0 GB"), memory_limit(copies=4):
        _build(63)
