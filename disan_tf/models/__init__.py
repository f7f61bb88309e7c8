"""Embedding, encoder and head: one model for each task. Models read and write no files."""

from disan_tf.models.base import SentenceModel
from disan_tf.models.classification import SentenceClassifier
from disan_tf.models.elmo import ElmoClassifier
from disan_tf.models.factory import TASKS, build_model, count_parameters
from disan_tf.models.language_model import LanguageModel
from disan_tf.models.matching import SentencePairMatcher
from disan_tf.models.nli import SentencePairClassifier
from disan_tf.models.relatedness import SentencePairScorer

__all__ = [
    "ElmoClassifier",
    "LanguageModel",
    "SentenceClassifier",
    "SentenceModel",
    "SentencePairClassifier",
    "SentencePairMatcher",
    "SentencePairScorer",
    "TASKS",
    "build_model",
    "count_parameters",
]
