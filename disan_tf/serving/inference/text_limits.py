"""Length limits for texts, from the free memory, before attention tensors are computed."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.ops.devices import free_gpu_memory

_SAMPLES = (8, 16, 24)  # tokens: three lengths determine the quadratic cost of longer texts
_MOST_TOKENS = 10**7

# Measured with texts of 300 to 900 tokens: DiSAN with 300 features needs 3.1 times the bytes of its
# tensors, and DRCN 69 bytes for each mean over the features, which is written as text.
_COPIES = 4
_MEAN_BYTES = 100
_CGROUP = Path("/sys/fs/cgroup")
# Control groups, version 2 and 1: the limit, the use, and the name of the caches in the statistics.
_CONTAINERS = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)


class LengthLimit:
    """The longest text whose attention tensors, see `longest_text`, fit into the free memory."""

    def __init__(self, weights: Callable):
        memory = free_memory()
        self._most = longest_text(weights, memory)
        self._memory = f"{memory / 1e9:,.1f} GB of free memory"

    def __str__(self) -> str:
        return f"attention tensors of up to {self._most:,} tokens fit into the {self._memory}"

    def check(self, sentences: Sequence[Sequence[str]], where: str) -> None:
        """Raises UserError, with the text's place, if one of its sentences has too many tokens."""
        longest = max(map(len, sentences))
        if longest > self._most:
            raise UserError(f"{where}: the text has {longest:,} tokens, and {self}; shorten it.")


def longest_text(weights: Callable, memory: int) -> int:
    """Returns the length of the longest text whose attention tensors fit into `memory` bytes.

    Args:
      weights: a `tf.function` of inputs `[batch, length, ...]` that returns attention tensors by
        name, whose bytes are quadratic in the tokens.
    """
    costs = [_cost(weights, tokens) for tokens in _SAMPLES]
    square = np.poly1d(np.polyfit(_SAMPLES, costs, 2))
    low, high = 0, _MOST_TOKENS
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if square(middle) <= memory else (low, middle - 1)
    return low


def _cost(weights, tokens: int) -> int:
    """Returns the bytes that a text with this number of tokens needs."""
    inputs = [
        tf.ones([1, tokens, *(size or 1 for size in spec.shape[2:])], spec.dtype)
        for spec in weights.input_signature
    ]
    tensors = [tensor.numpy() for tensor in weights(*inputs).values()]
    means = sum(tensor.size // tensor.shape[-1] for tensor in tensors)
    return sum(tensor.nbytes for tensor in tensors) * _COPIES + means * _MEAN_BYTES


def free_memory() -> int:
    """Returns the bytes that this process may still use: of its machine, container and GPU."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with contextlib.suppress(OSError, ValueError):  # the file exists on Linux alone
        lines = Path("/proc/meminfo").read_text().splitlines()
        (available,) = [line for line in lines if line.startswith("MemAvailable:")]
        limits.append(int(available.split()[1]) << 10)
    for names in _CONTAINERS:
        with contextlib.suppress(OSError, ValueError, KeyError):  # "max" is no number
            limits.append(_free_in_container(*names))
    on_gpu = free_gpu_memory()
    if on_gpu is not None:
        limits.append(on_gpu)
    return max(0, min(limits))


def _free_in_container(most: str, used: str, cached: str) -> int:
    """Returns a container's free bytes, and its caches, which count as used but give way."""
    statistics = (_CGROUP / most).with_name("memory.stat").read_text().splitlines()
    caches = int(dict(line.split() for line in statistics)[cached])
    return int((_CGROUP / most).read_text()) - int((_CGROUP / used).read_text()) + caches
