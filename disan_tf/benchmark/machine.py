"""A description of the machine and its software, for the readers of a measurement."""

import platform

import tensorflow as tf

from disan_tf.ops import available_forms
from disan_tf.runs import machine


def describe_machine() -> dict:
    """Returns processor, threads, GPUs, versions, and the forms of attention that work here."""
    return {
        **machine.describe_machine(),
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "attention_forms": available_forms(),
    }
