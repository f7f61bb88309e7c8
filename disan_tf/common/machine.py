"""The machine that trains or measures: its processor, threads and load."""

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Optional

import tensorflow as tf

LINUX = Path("/proc/cpuinfo")
MACOS = "/usr/sbin/sysctl"
_NUMBERS = ("CPU implementer", "CPU part")  # on Linux for ARM, which names no model
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


def processor_name() -> str:
    """Returns the model of the first processor; or else the architecture and ARM's numbers."""
    fields = _fields()
    named = fields.get("model name") or fields.get("machdep.cpu.brand_string")
    numbers = [f"{name} {fields[name]}" for name in _NUMBERS if fields.get(name)]
    return named or ", ".join([platform.machine(), *numbers])


def instruction_sets() -> set[str]:
    """Returns the instruction sets of the first processor, as the operating system names them.

    Linux has names such as "avx2" and "asimd", macOS "hw.optional.avx2_0" and
    "hw.optional.arm.FEAT_BF16".
    """
    fields = _fields()
    if sys.platform == "darwin":
        optional = (name for name in fields if name.startswith("hw.optional."))
        return {name for name in optional if fields[name] == "1"}
    return set((fields.get("flags") or fields.get("Features", "")).split())


def _fields() -> dict[str, str]:
    """Returns {name: value} of the system's description; {} if there is none."""
    try:
        if sys.platform == "darwin":
            command = [MACOS, "machdep.cpu.brand_string", "hw.optional"]
            text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        else:
            text = LINUX.read_text(encoding="utf-8").split("\n\n", 1)[0]
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


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
    """Returns the number of threads that one operation uses, by TensorFlow's rules.

    The program's setting comes first, then TF_NUM_INTRAOP_THREADS, then the number of processors
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
    except OSError:
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
