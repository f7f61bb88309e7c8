"""Multiway co-attention: several attention functions between two sentences, made one."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.co_attention.base import average
from disan_tf.layers.co_attention.bilinear import BilinearAttention
from disan_tf.layers.co_attention.concatenation import ConcatenationAttention
from disan_tf.layers.co_attention.cosine import CosineAttention
from disan_tf.layers.co_attention.dot import DotAttention
from disan_tf.layers.co_attention.minus import MinusAttention
from disan_tf.layers.packing import real_tokens
from disan_tf.layers.precision import shared_conversions
from disan_tf.layers.recurrent.lstm import BasicLSTM
from disan_tf.ops import masked_softmax

FUNCTIONS = {  # the letters of the paper's Table 1
    "B": BilinearAttention,
    "Ca": ConcatenationAttention,
    "Cs": CosineAttention,
    "D": DotAttention,
    "M": MinusAttention,
}
NAMES = {"B": "bilinear", "Ca": "concatenation", "Cs": "cosine", "D": "dot", "M": "minus"}
AGGREGATIONS = ("words", "functions")


class MultiwayCoAttention(BaseLayer):
    """Both sentences attend to each other, multiway DRCN Eq. 6.

    x = [a_1; ...; a_k] for the contexts a of k attention functions, a_combined = BiLSTM(x)

    Each function has the same parameters in both directions. The BiLSTM has dim / 2 units in each
    direction, so that its result is as wide as one context, and its states start at 0; it reads
    both sentences as one batch. The paper does not say what it reads along: the words of a sentence
    ("words"), or at each word the contexts in the order of `functions`, after which the last state
    of each direction is kept ("functions"). One function has no BiLSTM: its context is the result.

    Parameters by dimensions:

    | functions                 |       200 |     100 |
    | B-Ca-Cs-M                 |   881,201 | 220,601 |
    | B-Ca-Cs-M along functions |   401,201 | 100,601 |
    | B-Ca-Cs-D-M               | 1,081,401 | 270,701 |
    | Cs                        |         0 |       0 |

    Args:
      functions: letters of the paper's Table 1, joined by "-", in any order: B (bilinear), Ca
        (concatenation), Cs (cosine), D (dot), M (minus).
      aggregation: "words" or "functions", what the BiLSTM reads along.
      l2: see `BaseLayer`; matrices are regularised, vectors and biases are not.
      dropout, seed: see `BaseLayer`; as in the paper nothing is dropped here.

    Call arguments:
      first: <float>[batch, first length, dim].
      second: <float>[batch, second length, dim]; both are finite on padding too.
      first_mask: <bool>[batch, first length], True = real token.
      second_mask: <bool>[batch, second length].
      training: whether the model trains; it does not matter here.

    Returns:
      What each sentence found in the other, <float>[batch, first length, dim] and <float>[batch,
      second length, dim]; exactly 0 on padding, and where the other sentence has no token.

    Raises:
      ValueError: an unknown or repeated letter, an unknown aggregation, or several functions and an
        odd dim.

    Example:
      >>> first, second = tf.ones([2, 5, 8]), tf.ones([2, 3, 8])
      >>> masks = tf.ones([2, 5], tf.bool), tf.ones([2, 3], tf.bool)
      >>> [found.shape for found in MultiwayCoAttention("B-Cs")(first, second, *masks)]
      [TensorShape([2, 5, 8]), TensorShape([2, 3, 8])]
    """

    def __init__(self, functions: str = "B-Ca-Cs-M", aggregation: str = "words", **kwargs):
        super().__init__(**kwargs)
        if aggregation not in AGGREGATIONS:
            known = " or ".join(AGGREGATIONS)
            raise ValueError(f"aggregation={aggregation!r}; choose {known}.")
        self.letters = split_letters(functions)
        self.functions = functions
        self.aggregation = aggregation

    def build(self, input_shape):
        dim = input_shape[-1]
        options = {"l2": self.l2, "dtype": self.dtype_policy}
        self.attentions = [FUNCTIONS[each](name=NAMES[each], **options) for each in self.letters]
        for attention in self.attentions:
            attention.build([None, None, dim])
        if len(self.attentions) > 1:
            self._build_aggregation(dim, options)
        super().build(input_shape)

    def _build_aggregation(self, dim, options):
        if dim % 2:
            raise ValueError(f"dim={dim}; it must be even, for the BiLSTM has dim / 2 units twice.")
        read = len(self.attentions) * dim if self.aggregation == "words" else dim
        self.forward = BasicLSTM(dim // 2, name="forward", **options)
        self.backward = BasicLSTM(dim // 2, backward=True, name="backward", **options)
        for direction in (self.forward, self.backward):
            direction.build([None, None, read])

    def call(self, first, second, first_mask, second_mask, training=None):
        sentences = [tf.cast(sentence, self.compute_dtype) for sentence in (first, second)]
        masks = first_mask, second_mask
        with shared_conversions():  # both directions have the same weights
            scores = [each.mutual_scores(*sentences, masks) for each in self.attentions]
        contexts = map(_contexts, zip(*scores), reversed(sentences), reversed(masks))
        attending = [  # may receive context
            mask & tf.reduce_any(other, axis=1, keepdims=True)
            for mask, other in zip(masks, reversed(masks))
        ]
        return tuple(self._aggregate(list(contexts), attending))

    def attend(self, first, second, first_mask, second_mask):
        """The weights of each function, by its name.

        Returns:
          A dictionary of pairs: <float32>[batch, first length, second length], which sum to 1 over
          the second sentence, and <float32>[batch, second length, first length].
        """
        first, second = (tf.cast(sentence, self.compute_dtype) for sentence in (first, second))
        weights = {}
        for attention in self.attentions:
            forth, back = attention.mutual_scores(first, second)
            forth = masked_softmax(forth, second_mask[:, None], axis=2)
            weights[attention.name] = forth, masked_softmax(back, first_mask[:, None], axis=2)
        return weights

    def _aggregate(self, contexts, masks):
        """a_combined of both sentences, of x and the words that get any."""
        if len(self.attentions) == 1:
            pairs = zip(contexts, masks)
            return [tf.where(mask[:, :, None], x, tf.zeros([], x.dtype)) for x, mask in pairs]
        read = self._read_words if self.aggregation == "words" else self._read_functions
        return read(contexts, masks)

    def _read_words(self, contexts, masks):
        lengths = [tf.shape(mask)[1] for mask in masks]
        longest = tf.maximum(*lengths)
        x = [tf.pad(x, [[0, 0], [0, longest - n], [0, 0]]) for x, n in zip(contexts, lengths)]
        mask = [tf.pad(mask, [[0, 0], [0, longest - n]]) for mask, n in zip(masks, lengths)]
        x, mask = tf.concat(x, axis=0), tf.concat(mask, axis=0)
        x = real_tokens(x, mask)
        states = [direction(x, mask=mask) for direction in (self.forward, self.backward)]
        combined = tf.split(tf.concat(states, axis=-1), 2)  # of the first, of the second sentence
        return [found[:, :length] for found, length in zip(combined, lengths)]

    def _read_functions(self, contexts, masks):
        functions = len(self.attentions)
        dim = contexts[0].shape[-1] // functions
        x = tf.concat([tf.reshape(x, [-1, functions, dim]) for x in contexts], axis=0)
        mask = tf.concat([tf.reshape(mask, [-1, 1]) for mask in masks], axis=0)
        mask = tf.repeat(mask, functions, axis=1)
        last = [self.forward(x, mask=mask)[:, -1], self.backward(x, mask=mask)[:, 0]]
        combined = tf.split(tf.concat(last, axis=-1), [tf.size(mask) for mask in masks])
        shapes = [[*tf.unstack(tf.shape(mask)), dim] for mask in masks]
        return [tf.reshape(*each) for each in zip(combined, shapes)]

    def get_config(self):
        config = {"functions": self.functions, "aggregation": self.aggregation}
        return {**super().get_config(), **config}


def split_letters(functions: str) -> list:
    """The letters of e.g. "B-Ca-Cs-M"; ValueError where one is unknown or repeated."""
    letters = functions.split("-")
    if not set(letters) <= set(FUNCTIONS) or len(set(letters)) < len(letters):
        known = ", ".join(FUNCTIONS)
        raise ValueError(f'functions={functions!r}; join some of {known} by "-", each once.')
    return letters


def _contexts(scores, attended, mask):
    """x = [a_1; ...; a_k], <float>[batch, length, k * dim], in one softmax and one product.

    Args:
      scores: e of each function, <float32>[batch, length, attended length].
      attended: <float>[batch, attended length, dim].
      mask: <bool>[batch, attended length].
    """
    scores = tf.stack(scores, axis=2)  # [batch, length, k, attended length]
    batch, length, functions, others = tf.unstack(tf.shape(scores))
    rows = tf.reshape(scores, [batch, length * functions, others])
    found = average(masked_softmax(rows, mask[:, None], axis=2), attended)
    return tf.reshape(found, [batch, length, scores.shape[2] * attended.shape[-1]])
