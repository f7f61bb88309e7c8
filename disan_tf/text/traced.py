"""A look-up whose functions are compiled once, for services that call it again and again."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from disan_tf.text.lookup import TextToIds

_FLAT = [tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)]  # values, row splits


class TracedTextToIds:
    """A `TextToIds` for lists of Python, traced once for all batch sizes and lengths.

    The tokenizer has some sixty operations; called eagerly they take twenty times as long. Values
    and row splits go in and out as plain tensors: TensorFlow 2.15 keeps 1.3 kB for each ragged
    tensor that is made of row lengths outside a graph.

    Args:
      text_to_ids: the look-up of a model.
    """

    def __init__(self, text_to_ids: TextToIds):
        def split(texts):
            tokens = text_to_ids.tokens(texts)
            return tokens.flat_values, tokens.row_splits

        def look_up(*flat):
            ragged = tf.RaggedTensor.from_row_splits
            pairs = zip(flat[::2], flat[1::2])
            return text_to_ids.inputs(*(ragged(*pair, validate=False) for pair in pairs))

        texts = tf.TensorSpec([None], tf.string)
        self.split = tf.function(split, input_signature=[texts], autograph=False)
        self.look_up = {
            fields: tf.function(look_up, input_signature=_FLAT * fields, autograph=False)
            for fields in (1, 2)
        }

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Returns the tokens of each text."""
        flat, splits = (result.numpy() for result in self.split(tf.constant(texts, tf.string)))
        words = [token.decode() for token in flat.tolist()]
        return [words[start:end] for start, end in zip(splits, splits[1:])]

    def inputs(self, *sentences: Sequence[Sequence[str]]) -> Sequence[tf.Tensor]:
        """Returns a model's inputs for the tokens of each field; see `TextToIds.inputs`."""
        flat = [tensor for tokens in sentences for tensor in _flatten(tokens)]
        return self.look_up[len(sentences)](*flat)


def _flatten(tokens: Sequence[Sequence[str]]) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns all tokens <string>[tokens], and where sentences begin, <int64>[sentences + 1]."""
    flat = [token for sentence in tokens for token in sentence]
    splits = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
    return tf.constant(flat, tf.string), tf.constant(splits)
