"""A look-up whose functions are compiled once, for services that call it again and again."""

from collections.abc import Sequence

import tensorflow as tf

from disan_tf.text.lookup import TextToIds

_TOKENS = tf.RaggedTensorSpec([None, None], tf.string, ragged_rank=1, row_splits_dtype=tf.int64)


class TracedTextToIds:
    """`tokens` and `inputs` of a `TextToIds`, traced once for all batch sizes and lengths.

    The tokenizer has some sixty operations; called eagerly they take twenty times as long, and
    TensorFlow keeps some memory for each call.

    Args:
      text_to_ids: the look-up of a model.
    """

    def __init__(self, text_to_ids: TextToIds):
        self.tokens = tf.function(
            text_to_ids.tokens, input_signature=[tf.TensorSpec([None], tf.string)], autograph=False
        )
        self._inputs = {
            fields: tf.function(
                text_to_ids.inputs, input_signature=[_TOKENS] * fields, autograph=False
            )
            for fields in (1, 2)
        }

    def inputs(self, *tokens: tf.RaggedTensor) -> Sequence[tf.Tensor]:
        """Returns the model's inputs for the tokens of each field; see `TextToIds.inputs`."""
        return self._inputs[len(tokens)](*tokens)
