"""One model for each task: an embedding, an encoder and a head, built from arrays.

`disan_tf.training.train` reads the arrays from files. `disan_tf/README.md` explains how to add a
task, an encoder and an embedding.
"""

from disan_tf.models.base import Resources, SentenceModel
from disan_tf.models.classification import SentenceClassifier
from disan_tf.models.factory import TASKS, build_model, count_parameters
from disan_tf.models.language_model import LanguageModel
from disan_tf.models.pairs import SentencePairClassifier
from disan_tf.models.relatedness import RelatednessModel

__all__ = ["LanguageModel", "RelatednessModel", "Resources", "SentenceClassifier", "SentenceModel"]
__all__ += ["SentencePairClassifier", "TASKS", "build_model", "count_parameters"]
