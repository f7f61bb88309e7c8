"""Seeded parts of a corpus without an official dev split: hold-outs and folds.

Both put the examples in random order within each class, one class after the other, and deal them
out evenly along that order. So the size of each part, and of each class within a part, differs by
at most one example from its share.
"""

from collections.abc import Sequence

import numpy as np

from data_prep.corpora.corpus import Example
from disan_tf.common.options import check_at_least


def held_out(labels: Sequence, share: float, seed: int) -> np.ndarray:
    """Which examples are in a stratified hold-out, `<bool>[examples]`.

    Args:
      labels: the class of each example, `[examples]`.
      share: the part that is held out, from 0 to 1.
      seed: decides which examples those are.
    """
    taken_before = np.floor(np.arange(len(labels) + 1) * share)
    taken = np.empty(len(labels), bool)
    taken[_by_class(labels, seed)] = np.diff(taken_before) > 0
    return taken


def fold_numbers(labels: Sequence, folds: int, seed: int) -> np.ndarray:
    """The stratified fold of each example, `<int64>[examples]`, from 0 to `folds` - 1."""
    numbers = np.empty(len(labels), np.int64)
    numbers[_by_class(labels, seed)] = np.arange(len(labels)) % folds
    return numbers


def _by_class(labels: Sequence, seed: int) -> np.ndarray:
    """Positions `<int64>[examples]`, sorted by label and in random order within each."""
    return np.lexsort((np.random.default_rng(seed).random(len(labels)), labels))


def check_options(dev_share: float, split_seed: int) -> None:
    """The options of a hold-out; raises ValueError if it would leave a part empty."""
    if not 0 < dev_share < 1:
        raise ValueError(
            f"dev_share={dev_share} leaves nothing to train on or nothing to select the model by; "
            "use a number above 0 and below 1."
        )
    check_at_least("split_seed", split_seed, 0)


def hold_out_dev(examples: Sequence[Example], options) -> tuple[list[Example], list[Example]]:
    """Training examples -> those that are left, and a stratified dev split.

    Args:
      options: has `dev_share` and `split_seed`, see `check_options`.
    """
    taken = held_out([example.label for example in examples], options.dev_share, options.split_seed)
    return (
        [example for example, is_dev in zip(examples, taken) if not is_dev],
        [example for example, is_dev in zip(examples, taken) if is_dev],
    )
