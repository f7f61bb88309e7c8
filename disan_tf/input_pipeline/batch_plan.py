"""Which examples form which batch: a pure function, so that nothing is stored to resume."""

import numpy as np


def batch_count(examples: int, batch_size: int) -> int:
    """Batches of an epoch."""
    return -(-examples // batch_size)


def plan_batches(
    lengths: np.ndarray, batch_size: int, window: int, seed: int, epoch: int
) -> np.ndarray:
    """The batches of one epoch: shuffled, and of sentences of similar length.

    The examples are shuffled and cut into windows of `window` batches; inside a window they are
    sorted by length and cut into batches; at last the batches are shuffled. Small windows are
    nearer to a plain shuffle, large ones waste less padding. With lengths 3 1 2 9 8 7, batches
    of 3 and one window, the batches are of lengths (1 2 3) and (7 8 9), in either order.

    Args:
      lengths: <int>[examples], tokens of each example (of the longer sentence of a pair).
      batch_size: examples in a batch; only one batch of the epoch can be smaller.
      window: batches in a window.
      seed: the experiment's seed.
      epoch: from 0.

    Returns:
      <int64>[batches, batch_size], example indices; -1 fills the one smaller batch.
    """
    generator = np.random.default_rng([seed, epoch])
    order = generator.permutation(len(lengths))
    size = batch_size * window
    for start in range(0, len(order), size):
        part = order[start : start + size]
        order[start : start + size] = part[np.argsort(lengths[part], kind="stable")]
    batches = _cut(order, batch_size)
    return batches[generator.permutation(len(batches))]


def evaluation_batches(lengths: np.ndarray, batch_size: int) -> np.ndarray:
    """Every example once, sorted by length; the form of `plan_batches`."""
    return _cut(np.argsort(lengths, kind="stable"), batch_size)


def padding_share(lengths: np.ndarray, batches: np.ndarray) -> float:
    """The share of padding among all positions of the batches, in [0, 1)."""
    sizes = np.where(batches >= 0, lengths[batches], 0)
    positions = np.sum(sizes.max(axis=1) * np.sum(batches >= 0, axis=1))
    return 1.0 - float(sizes.sum() / positions)


def _cut(order, batch_size):
    batches = np.full(batch_count(len(order), batch_size) * batch_size, -1, np.int64)
    batches[: len(order)] = order
    return batches.reshape(-1, batch_size)
