"""The arrays that a model starts with besides its config."""

from dataclasses import dataclass
from typing import Optional

import numpy as np


@dataclass(frozen=True)
class Resources:
    """Arrays and counts that are read from files before a model is built.

    Attributes:
      words: number of (trainable, fixed) words.
      classes: number of classes, or of the scale's points.
      vectors: <float32>[words, dim], the word vectors from id 2.
      bilm: the arguments of the `BiLM` that feeds the model; None without one.
      bilm_weights: its weights, see `disan_tf.elmo.official_tensors`; None without one.
      word_counts: <int64>[words + 2], the frequencies of word ids in the training data, from id 1
        (unknown); for a language model, the number of sentences, twice, comes first.
    """

    words: tuple[int, int]
    classes: int
    vectors: np.ndarray
    bilm: Optional[dict] = None
    bilm_weights: Optional[dict[str, np.ndarray]] = None
    word_counts: Optional[np.ndarray] = None
