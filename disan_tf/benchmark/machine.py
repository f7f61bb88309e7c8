"""A description of the machine, for the readers of a measurement."""

import os
import platform
from pathlib import Path

import tensorflow as tf

from disan_tf.ops import available_forms


def describe_machine() -> dict:
    """Returns processor, threads, versions, and the forms of attention that work here."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": tf.config.threading.get_intra_op_parallelism_threads() or os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "attention_forms": available_forms(),
    }


def _processor():
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
