"""What a model reads of texts: the first tokens of long texts, and the words that it knows."""

from collections.abc import Sequence
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.checks import count
from disan_tf.runs.bundle import Bundle
from disan_tf.serving.inference.batches import Sentences
from disan_tf.text.lookup import PADDING_ID, UNKNOWN_ID
from disan_tf.text.word_vectors import few_known

LONGEST = 10_000  # tokens of a text; DiSAN's time grows with their square, to some ten seconds


class Reading:
    """Truncates the texts of a call or a file, and counts the words that the model knows.

    Args:
      bundle: the model.
      max_tokens: the number of tokens to read of a text; None = `LONGEST`.

    Attributes:
      truncated: the number of truncated records.
    """

    def __init__(self, bundle: Bundle, max_tokens: Optional[int] = None):
        self._limit, self.truncated = max_tokens or LONGEST, 0
        self._has_vectors = bool(bundle.config.data.get("vectors"))
        self._words = self._known = self._blank = 0

    def cut(self, sentences: Sentences) -> tuple[Sentences, list[bool]]:
        """Returns the tokens that are read of each record, and whether it was truncated."""
        limit, blank = self._limit, [""]
        are_cut = [any(len(tokens) > limit for tokens in record) for record in sentences]
        self.truncated += sum(are_cut)
        if any(are_cut):
            sentences = [tuple(tokens[:limit] for tokens in record) for record in sentences]
        self._blank += sum(tokens == blank for record in sentences for tokens in record)
        return sentences, are_cut

    def count(self, ids: Sequence[tf.Tensor]) -> None:
        """Counts the words of a batch, <int32>[batch, length] for each field."""
        for numbers in map(np.asarray, ids):
            self._words += np.count_nonzero(numbers != PADDING_ID)
            self._known += np.count_nonzero(numbers > UNKNOWN_ID)

    def remarks(self) -> dict[str, str]:
        """Returns sentences on "truncated" texts and on "unknown" words, if there are many."""
        sentences = {}
        if self.truncated:
            sentences["truncated"] = (
                f"{count(self.truncated, 'record')} truncated to the first {self._limit:,} tokens "
                "of a text; divide long texts into parts."
            )
        words = self._words - self._blank  # a blank text has one id
        if self._has_vectors and words > 0 and few_known(share := self._known / words):
            sentences["unknown"] = (
                f"only {share:.1%} of the words are in the vocabulary of the model; choose a model "
                "of the texts' language, and divide texts without spaces into words."
            )
        return sentences
