"""Tokenizers and the id look-up: one graph for preparation, prediction and export."""

from disan_tf.text.lookup import TextToIds
from disan_tf.text.tokenizer import VERSIONS, lower, lowercase, make_tokenizer, split_words

__all__ = ["VERSIONS", "TextToIds", "lower", "lowercase", "make_tokenizer", "split_words"]
