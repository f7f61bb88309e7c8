"""Tokenizers and look-ups of words: the same graph in preparation, prediction and export."""

from disan_tf.common import keras_version

keras_version.check()

from disan_tf.text.lookup import TextToCharacters, TextToIds, TextToPairFeatures, TracedTextToIds
from disan_tf.text.tokenizer import VERSIONS, lower, lowercase, make_tokenizer, split_words
from disan_tf.text.word_forms import WordForms

__all__ = ["VERSIONS", "TextToCharacters", "TextToIds", "TextToPairFeatures", "TracedTextToIds"]
__all__ += ["WordForms", "lower", "lowercase", "make_tokenizer", "split_words"]
