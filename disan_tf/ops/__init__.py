"""Functions with a plain, a lean and a native form, tested against each other."""

from disan_tf.common import keras_version

keras_version.check()

from disan_tf.ops.directional_attention import (
    FORMS,
    attention_weights,
    available_forms,
    directional_attention,
)
from disan_tf.ops.masked_softmax import DIRECTIONS, masked_softmax
from disan_tf.ops.native.runtime import portable

__all__ = ["DIRECTIONS", "FORMS", "attention_weights", "available_forms", "directional_attention"]
__all__ += ["masked_softmax", "portable"]
