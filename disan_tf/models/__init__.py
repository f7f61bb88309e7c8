"""Embedding, encoder and head: one model for each task. Models read and write no files.

`disan_tf.training.resources` reads what they start with. `disan_tf.encoders.base` says how an
encoder is added, `disan_tf.layers.embedding.base` how an embedding is.
"""

from disan_tf.models.base import SentenceModel
from disan_tf.models.classification import SentenceClassifier
from disan_tf.models.factory import TASKS, build_model, count_parameters
from disan_tf.models.language_model import LanguageModel
from disan_tf.models.nli import SentencePairClassifier
from disan_tf.models.relatedness import RelatednessModel
from disan_tf.models.resources import Resources

__all__ = [
    "LanguageModel",
    "RelatednessModel",
    "Resources",
    "SentenceClassifier",
    "SentenceModel",
    "SentencePairClassifier",
    "TASKS",
    "build_model",
    "count_parameters",
]
