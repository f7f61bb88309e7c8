"""Seeded parts of a corpus without an official dev split: hold-outs and folds.

Both order the examples by class, at random within each class, and distribute them evenly along
that order. So the size of each part, and of each class within a part, differs by at most one
example from its share.
"""

from collections.abc import Sequence
from itertools import compress
from typing import TypeVar

import numpy as np

from data_prep.corpora.corpus import Example
from disan_tf.common.checks import check_at_least

T = TypeVar("T")


def held_out(labels: Sequence, share: float, seed: int) -> np.ndarray:
    """Draws a stratified hold-out, `<bool>[examples]`, True = held out.

    Args:
      labels: the class of each example, `[examples]`.
      share: the part that is held out, from 0 to 1.
      seed: decides which examples are held out.
    """
    count_before = np.floor(np.arange(len(labels) + 1) * share)
    in_part = np.empty(len(labels), bool)
    in_part[_by_class(labels, seed)] = np.diff(count_before) > 0
    return in_part


def fold_numbers(labels: Sequence, folds: int, seed: int) -> np.ndarray:
    """Returns each example's stratified fold, `<int64>[examples]`, from 0 to `folds` - 1."""
    numbers = np.empty(len(labels), np.int64)
    numbers[_by_class(labels, seed)] = np.arange(len(labels)) % folds
    return numbers


def _by_class(labels: Sequence, seed: int) -> np.ndarray:
    """Returns positions `<int64>[examples]`, sorted by label, in random order within a label."""
    return np.lexsort((np.random.default_rng(seed).random(len(labels)), labels))


def check_options(dev_share: float, split_seed: int) -> None:
    """Checks a hold-out's options; raises ValueError if a part would be empty."""
    if not 0 < dev_share < 1:
        raise ValueError(
            f"dev_share={dev_share} leaves no examples for training or for the choice of a model; "
            "use a number above 0 and below 1."
        )
    check_at_least("split_seed", split_seed, 0)


def hold_out_dev(examples: Sequence[Example], options) -> tuple[list[Example], list[Example]]:
    """Divides training examples into the remaining ones and a stratified dev split.

    Args:
      options: has `dev_share` and `split_seed`, see `check_options`.
    """
    labels = [example.label for example in examples]
    return divide(examples, held_out(labels, options.dev_share, options.split_seed))


def divide(items: Sequence[T], in_part: Sequence[bool]) -> tuple[list[T], list[T]]:
    """Returns the items outside a part and those in it, in their order."""
    return list(compress(items, np.logical_not(in_part))), list(compress(items, in_part))
