"""Hard attention with source2token self-attention: ReSAN without soft self-attention."""

from typing import Optional

import tensorflow as tf

from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.hard_attention.reinforced import merge_selections
from disan_tf.layers.hard_attention.sampling import ReinforcedSequenceSampling


class SelectedSource2TokenEncoder(SentenceEncoder):
    """Source2token self-attention on the selected words, an ablation of ReSAN's Table 2.

    300 units on 300-dimensional vectors: 451,201 parameters, 270,601 of them the sampler's.

    Args:
      units: of the sampler's hidden layer; None = the size of x.
      activation: of sampler and source2token.
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      selections: of `select`; None = greedy ones.
      training: whether dropout acts.

    Returns:
      The sentence's vector, <float>[batch, dim]; 0 where no word is selected.
    """

    def __init__(self, units: Optional[int] = None, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.sampler = ReinforcedSequenceSampling(
            self.units, self.activation, **self.child_options("sampler")
        )
        self.sampler.build(input_shape)
        self.source2token = self.add_source2token(input_shape[-1])
        super().build(input_shape)

    @property
    def samplers(self):
        return [self.sampler]

    def select(self, x, mask, how, training=None):
        words = self.sampler.select(x, mask, how, training)
        return merge_selections([words], [words], mask)

    def call(self, x, mask, selections=None, training=None):
        if selections is None:
            selections = self.select(x, mask, "greedy", training)
        return self.source2token(x, mask=selections.heads[0], training=training)

    def attend(self, x, mask):
        """With greedy selections and without dropout.

        Returns:
          "selected_words" <float32>[batch, length, 1], 1 where a word was chosen, and
          "source2token" <float32>[batch, length, dim].
        """
        selected = self.select(x, mask, "greedy").heads[0]
        weights = self.source2token.weights_of(x, selected)
        return {
            "selected_words": tf.cast(selected, tf.float32)[:, :, None],
            "source2token": weights,
        }

    def get_config(self):
        return {**super().get_config(), "units": self.units}
