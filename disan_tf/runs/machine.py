"""A description of the machine that trains or measures, for the readers of a result."""

import os
from typing import Optional

import tensorflow as tf

from disan_tf.common.processor import instruction_sets, processor_name

# The schema of "machine" in `run.json`; runs of older versions have no such key.
MACHINE = {
    "processor": str,
    "gpu?": str,
    "cores": int,
    "threads": int,
    "load_before": (float, type(None)),
    "load_after?": (float, type(None)),
}

# TensorFlow passes bfloat16 products to oneDNN on processors with AVX-512. oneDNN emulates
# them unless the processor has one of these instruction sets.
_BFLOAT16 = {"avx512_bf16", "amx_bf16"}
_HAS_AFFINITY = hasattr(os, "sched_getaffinity")  # Linux


def describe_machine() -> dict:
    """Returns processor, GPUs, cores, the threads of an operation, and the present load."""
    return {
        "processor": processor_name(),
        "gpu": ", ".join(_gpus()) or "none",
        "cores": os.cpu_count(),
        "threads": threads(),
        "load_before": load(),
    }


def threads() -> int:
    """Returns the number of an operation's threads, which TensorFlow chooses by the same rules.

    A number in the program comes first, then one in TF_NUM_INTRAOP_THREADS, then the processors
    that the process may use.
    """
    named = os.environ.get("TF_NUM_INTRAOP_THREADS", "")
    asked = tf.config.threading.get_intra_op_parallelism_threads()
    asked = asked or (int(named) if named.isdecimal() else 0)
    return asked or (len(os.sched_getaffinity(0)) if _HAS_AFFINITY else os.cpu_count())


def load() -> Optional[float]:
    """Returns the mean number of busy processes in the last minute; None where it is unknown."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):  # Windows has no such function
        return None


def emulates_bfloat16() -> bool:
    """Returns whether oneDNN emulates bfloat16 products on this machine.

    Steps then take 2.3 (DRCN), 3.7 (DiSAN) or 4.1 (DSA) times as long as in float32, on one thread.
    """
    sets = instruction_sets()
    is_on = os.environ.get("TF_ENABLE_ONEDNN_OPTS", "").lower() not in ("0", "false")
    return "avx512f" in sets and not sets & _BFLOAT16 and is_on and not _gpus()


def _gpus() -> list[str]:
    """Returns the model names of the visible GPUs, such as "NVIDIA L4"."""
    details = map(tf.config.experimental.get_device_details, tf.config.get_visible_devices("GPU"))
    return [detail.get("device_name", "unknown") for detail in details]
