"""How long a text may be for the memory at hand, known before its attention tensors are made."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

import numpy as np
import tensorflow as tf

_SAMPLES = (8, 16, 24)  # tokens: three lengths give the square that a longer text costs
_MOST_TOKENS = 10**7

# Measured with texts of 300 to 900 tokens: DiSAN of 300 features needs 3.1 times the bytes of its
# tensors, and DRCN 69 bytes for each mean over the features, which is written as text.
_COPIES = 4
_MEAN_BYTES = 100

_CGROUP = Path("/sys/fs/cgroup")

# Control groups, version 2 and 1: limit, use, statistics, and the name of the caches there.
_CONTAINERS = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        "memory/memory.stat",
        "total_inactive_file",
    ),
)


def longest_text(weights: Callable, specs: Sequence[tf.TensorSpec], memory: int) -> int:
    """The tokens of the longest text whose attention tensors fit into `memory` bytes.

    Args:
      weights: gives attention tensors by name, whose bytes are a square of the number of tokens.
      specs: of its inputs, `[batch, length, ...]`.
      memory: bytes, see `free_memory`.
    """
    costs = [_cost(weights, specs, tokens) for tokens in _SAMPLES]
    square = np.poly1d(np.polyfit(_SAMPLES, costs, 2))
    low, high = 0, _MOST_TOKENS
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if square(middle) <= memory else (low, middle - 1)
    return low


def _cost(weights, specs, tokens: int) -> int:
    """The bytes that a text of so many tokens needs."""
    shapes = [[1, tokens, *(size or 1 for size in spec.shape[2:])] for spec in specs]
    inputs = [tf.ones(shape, spec.dtype) for shape, spec in zip(shapes, specs)]
    tensors = [tensor.numpy() for tensor in weights(*inputs).values()]
    means = sum(tensor.size // tensor.shape[-1] for tensor in tensors)
    return sum(tensor.nbytes for tensor in tensors) * _COPIES + means * _MEAN_BYTES


def free_memory() -> int:
    """The bytes that this process may still take, of the machine and of its container."""
    rooms = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with contextlib.suppress(OSError, ValueError):  # there is no such file but on Linux
        lines = Path("/proc/meminfo").read_text().splitlines()
        (available,) = [line for line in lines if line.startswith("MemAvailable:")]
        rooms.append(int(available.split()[1]) << 10)
    for names in _CONTAINERS:
        with contextlib.suppress(OSError, ValueError, KeyError):  # "max" is no number
            rooms.append(_room(*names))
    return max(0, min(rooms))


def _room(most: str, used: str, stat: str, cached: str) -> int:
    """What a container may still take: caches count as used, and give way."""
    most, used = (int((_CGROUP / name).read_text()) for name in (most, used))
    caches = dict(line.split() for line in (_CGROUP / stat).read_text().splitlines())
    return most - used + int(caches[cached])
