"""Checkpoints as the authors' TensorFlow 1 code writes them, from golden files."""

from pathlib import Path

import numpy as np
import tensorflow as tf

from tests.support.golden import official

STEP = 1234


def variables(name: str) -> dict:
    """Official name -> array, for every weight of a golden file."""
    arrays, _ = official.load(name)
    return {key[len("var/") :]: array for key, array in arrays.items() if key.startswith("var/")}


def others(weights: dict) -> dict:
    """What stands beside the weights: the step, Adadelta's slots, moving averages."""
    beside = {"global_step": np.int32(STEP)}
    for name, array in weights.items():
        for suffix in ("Adadelta", "Adadelta_1", "ExponentialMovingAverage"):
            beside[f"{name}/{suffix}"] = np.full_like(array, 7.0)
    loss = "disan/loss/Mean/ExponentialMovingAverage"
    for suffix in ("", "/biased", "/local_step"):
        beside[f"{loss}{suffix}"] = np.float32(7.0)
    return beside


def write(prefix: Path, arrays: dict) -> str:
    """Saves the arrays under their names by TensorFlow 1's `Saver`; returns the prefix."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for name, array in arrays.items():
            tf.compat.v1.get_variable(name, initializer=tf.constant(array), use_resource=False)
        session.run(tf.compat.v1.global_variables_initializer())
        saver = tf.compat.v1.train.Saver(max_to_keep=None)
        return saver.save(session, str(prefix), write_meta_graph=False)
