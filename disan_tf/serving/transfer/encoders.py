"""Encoders whose vectors are compared: a model, and baselines that it should surpass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Callable, NamedTuple, Optional

import numpy as np
import tensorflow as tf

from disan_tf.models.embeddings import EMBEDDINGS
from disan_tf.models.factory import build_model
from disan_tf.runs.bundle import Bundle
from disan_tf.serving.inference.model import LoadedModel
from disan_tf.text import TextToIds
from disan_tf.text.lookup import FIRST_WORD_ID, PADDING_ID
from disan_tf.text.tokenizer import lowercase

TRAINED, MEAN, RANDOM = "trained", "mean_of_word_vectors", "random_weights"
_TEXTS = 256  # are looked up at once


class Encoder(NamedTuple):
    """An encoder of texts as vectors.

    Attributes:
      encode: texts -> <float32>[texts, dim].
      text_to_ids: the look-up of the words that it knows; None = it reads characters.
    """

    encode: Callable[[Sequence[str]], np.ndarray]
    text_to_ids: Optional[TextToIds]

    def known_tokens(self, texts: Sequence[str]) -> Optional[float]:
        """Returns the known words' share of running text, 0 to 1; None = it reads characters."""
        if self.text_to_ids is None:
            return None
        counts = [
            (np.sum(ids >= FIRST_WORD_ID), np.sum(ids != PADDING_ID))
            for ids in _look_up(self.text_to_ids, texts)
        ]
        known, tokens = np.sum(counts, axis=0)
        return float(known / tokens)


@dataclass
class BundleOfWords(Bundle):
    """A bundle with another vocabulary than its folder's.

    Attributes:
      words: the vocabulary, in the order of the ids.
    """

    words: Sequence[str] = ()

    @property
    def vocabulary(self) -> list:
        return list(self.words)


def make_encoders(bundle: Bundle, words: Sequence[str], vectors: np.ndarray) -> dict[str, Encoder]:
    """Makes the encoders that are compared, by name.

    These are the model; the mean of a text's word vectors, without words that have none; and the
    model `with_random_weights`.

    Args:
      bundle: the model.
      words, vectors: see `with_random_weights`; no words = the model alone.
    """
    text_to_ids = bundle.text_to_ids() if not _beyond_ids(bundle) else None
    encoders = {TRAINED: Encoder(LoadedModel(bundle).encode, text_to_ids)}
    if words:
        other = with_random_weights(bundle, words, vectors)
        text_to_ids = other.text_to_ids()
        encoders[MEAN] = Encoder(partial(mean_of_vectors, text_to_ids, vectors), text_to_ids)
        encoders[RANDOM] = Encoder(LoadedModel(other).encode, text_to_ids)
    return encoders


def with_random_weights(bundle: Bundle, words: Sequence[str], vectors: np.ndarray) -> Bundle:
    """Builds a model of the same config with initial weights and these word vectors.

    Args:
      bundle: the model; its `config.seed` decides the weights.
      words: the words that have a vector, as the model looks them up.
      vectors: <float32>[words, dim].
    """
    tf.keras.utils.set_random_seed(bundle.config.seed)
    model = build_model(bundle.config, (0, len(words)), len(bundle.classes))
    model.embedding.set_pretrained(vectors)
    return BundleOfWords(bundle.directory, bundle.config, bundle.info, model, words)


def mean_of_vectors(
    text_to_ids: TextToIds, vectors: np.ndarray, texts: Sequence[str]
) -> np.ndarray:
    """Averages the vectors of a text's known words, <float32>[texts, dim]; 0 without any.

    Args:
      text_to_ids: a look-up with the vectors' words.
      vectors: <float32>[words, dim].
      texts: texts with any number of tokens.
    """
    table = np.concatenate([np.zeros([FIRST_WORD_ID, vectors.shape[1]], np.float32), vectors])
    means = [
        table[ids].sum(axis=1) / np.maximum(1, np.sum(ids >= FIRST_WORD_ID, axis=1, keepdims=True))
        for ids in _look_up(text_to_ids, texts)
    ]
    return np.concatenate(means).astype(np.float32)


def has_word_vectors(bundle: Bundle) -> bool:
    """Returns whether a model reads words by the vectors of a file, and by these alone."""
    return not _beyond_ids(bundle) and bool(bundle.config.data.vectors)


def _beyond_ids(bundle: Bundle) -> str:
    return EMBEDDINGS[bundle.config.embedding.name].beyond_ids


def distinct_words(bundle: Bundle, texts: Sequence[str]) -> list[str]:
    """Returns the words of texts as a model looks them up, by first appearance."""
    text_to_ids = bundle.text_to_ids()
    tokens: dict[bytes, None] = {}
    for part in _parts(texts):
        tokens.update(dict.fromkeys(text_to_ids.tokens(tf.constant(part)).flat_values.numpy()))
    words = [token.decode() for token in tokens]
    if bundle.info["tokenizer"]["lowercase"]:
        words = lowercase(words)
    return list(dict.fromkeys(filter(None, words)))


def _look_up(text_to_ids, texts) -> Iterator[np.ndarray]:
    """Yields the ids of all texts, <int32>[some texts, length] at a time."""
    for part in _parts(texts):
        yield text_to_ids(tf.constant(part)).numpy()


def _parts(texts):
    for start in range(0, len(texts), _TEXTS):
        yield texts[start : start + _TEXTS]
