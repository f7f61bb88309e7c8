"""Two replicas of a strategy draw masks of their own, and count calls once."""

import sys

import pytest

from tests.support.processes import run_program

PROGRAM = """
import numpy as np
import tensorflow as tf
from disan_tf.layers import Dropout
(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    dropout = Dropout(0.5, seed=3)
    dropout.build(None)
alone = Dropout(0.5, seed=3)
call = tf.function(lambda: strategy.run(lambda: dropout(tf.ones([200]), training=True)))
for step in (1, 2):
    first, second = (mask.numpy() for mask in strategy.experimental_local_results(call()))
    assert np.array_equal(first, alone(tf.ones([200]), training=True)), "the first is as if alone"
    assert 60 < np.sum(first != second) < 140, "the second has a mask of its own"
    assert int(dropout.calls.numpy()) == step
print("two masks")
"""


@pytest.mark.slow
def test_each_replica_has_a_dropout_mask_of_its_own():
    done = run_program(sys.executable, "-c", PROGRAM)
    assert done.stdout == "two masks\n", done.stderr[-2000:]
