"""Models of an embedding, an encoder and a head, one for each task. They access no files.

`disan_tf.training.train` reads their initial arrays. `disan_tf.encoders.base` documents how to
add an encoder, `disan_tf.layers.embedding.words` how to add an embedding.
"""

from disan_tf.models.base import Resources, SentenceModel
from disan_tf.models.classification import SentenceClassifier
from disan_tf.models.factory import TASKS, build_model, count_parameters
from disan_tf.models.language_model import LanguageModel
from disan_tf.models.pairs import SentencePairClassifier
from disan_tf.models.relatedness import RelatednessModel

__all__ = ["LanguageModel", "RelatednessModel", "Resources", "SentenceClassifier", "SentenceModel"]
__all__ += ["SentencePairClassifier", "TASKS", "build_model", "count_parameters"]
