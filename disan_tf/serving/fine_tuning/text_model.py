"""The base class of `TextClassifier`: its vocabulary, tokenisation and saving."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Union

import tensorflow as tf

from disan_tf.common.keras_version import is_keras_3
from disan_tf.common.process import check_fork
from disan_tf.models.base import SentenceModel
from disan_tf.serving.fine_tuning.arguments import list_texts, tensors_of
from disan_tf.text import TextToIds, word_vectors
from disan_tf.text.tokenizer import for_raw_text

_TOKENIZER = ("lowercase", "split_words", "empty_tokens")
_TEXTS = 4096  # texts that are tokenised at once


class TextModel(tf.keras.Model):
    """A `SentenceModel` with a vocabulary and a tokenizer; subclasses define the call.

    Args:
      model, words, tokenizer: see `TextClassifier`.

    Raises:
      ValueError: the words do not fit the embedding.
    """

    def __init__(
        self,
        model: SentenceModel,
        words: Sequence[str],
        tokenizer: Mapping[str, Union[bool, str]],
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.sentence_model = model
        count = model.embedding.trainable_words + model.embedding.fixed_words
        if len(words) != count or len({*words}) != count:
            raise ValueError(
                f"words must be {count:,} different words, one for each of the embedding."
            )
        self._tokenizer = {
            "name": for_raw_text(tokenizer.get("name", "treebank")),
            **{name: bool(tokenizer[name]) for name in _TOKENIZER},
        }
        self._set_words(words)

    preprocessor = property(lambda self: self.preprocess, doc="The function `preprocess`.")

    @property
    def backbone(self) -> tf.keras.Model:
        """The model from word ids <int32>[batch, length] to vectors, with the same weights."""
        ids = tf.keras.Input([None], dtype="int32", name="ids")
        return tf.keras.Model(ids, self.encoder(self.embedding(ids)), name="backbone")

    @property
    def encoder(self) -> tf.keras.layers.Layer:
        """The encoder, from token vectors to a sentence vector."""
        return self.sentence_model.encoder

    @property
    def embedding(self) -> tf.keras.layers.Layer:
        """The embedding, from word ids to token vectors."""
        return self.sentence_model.embedding

    @property
    def head(self) -> tf.keras.layers.Layer:
        """The head, from features of the sentence vectors to logits."""
        return self.sentence_model.head

    @property
    def words(self) -> list[str]:
        """The words of ids 2 and up."""
        return self._words.split("\n")

    def preprocess(self, texts) -> dict[str, tf.Tensor]:
        """Returns the ids <int32>[batch, length] of texts by field; `tf.data` can map it."""
        check_fork()
        fields = self.sentence_model.fields
        tokens = [self._text_to_ids.tokens(column) for column in tensors_of(texts, fields)]
        return dict(zip(fields, self._text_to_ids.inputs(*tokens)))

    def adapt(self, texts: Iterable[str], vectors: Union[str, Path]) -> int:
        """Adds words that the vocabulary lacks, with vectors from a file; returns their number.

        Call it before `fit`. The added vectors stay fixed. Words without a vector stay unknown.

        Args:
          texts: texts with the words to add, as for `fit`; for pairs also single texts.
          vectors: a file of word vectors in the format of GloVe, with the embedding's dimension.

        Raises:
          UserError: the file is missing or malformed, or has another dimension.
        """
        check_fork()
        lacking = {}
        texts = list_texts(texts, self.sentence_model.fields)
        for start in range(0, len(texts), _TEXTS):
            tokens = self._text_to_ids.tokens(tf.constant(texts[start : start + _TEXTS]))
            words = (word.decode() for word in dict.fromkeys(tokens.flat_values.numpy()))
            lowercase = self._tokenizer["lowercase"]
            lacking.update((word.lower() if lowercase else word, None) for word in words)
        for word in self.words:
            lacking.pop(word, None)
        read = word_vectors.read
        found = read(Path(vectors), self.embedding.dim, lacking.__contains__, "the classifier")
        found = found.by_word
        added = [word for word in lacking if word in found]
        self.embedding.add_fixed([found[word] for word in added])
        self._set_words([*self.words, *added])
        self.train_function = self.test_function = self.predict_function = None
        return len(added)

    def _are_blank(self, texts) -> list[bool]:
        """Returns whether each text has no word, for pairs neither text, for `read_texts`' result.

        A whole column is tokenised `_TEXTS` texts at a time.
        """
        are_blank = None
        for column in texts if isinstance(texts, tuple) else (texts,):
            lengths = []
            for start in range(0, len(column), _TEXTS):
                tokens = self._text_to_ids.tokens(tf.constant(column[start : start + _TEXTS]))
                longest = tf.reduce_max(tf.strings.length(tokens), axis=1)
                lengths += (longest <= 0).numpy().tolist()  # without tokens it is below 0
            are_blank = [a and b for a, b in zip(are_blank or lengths, lengths)]
        return are_blank

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        if save_type == "savedmodel" and is_keras_3():
            raise ValueError(
                "tf.saved_model.save cannot trace a classifier of raw text under Keras 3; use its "
                "export(folder)."
            )
        return super()._trackable_children(save_type, **kwargs)

    def save(self, *args, **kwargs) -> None:
        """Saves as Keras does, also before `fit`."""
        self._build_all()
        super().save(*args, **kwargs)

    def __reduce__(self):
        self._build_all()
        return super().__reduce__()

    def _build_all(self) -> None:
        """Creates the weights and the optimizer's variables; a file without them cannot be read."""
        if not self.built:
            self.build_from_config(self.get_build_config())
        names = ("built", "_built")  # Keras 3, Keras 2
        if not any(getattr(self.optimizer, name, False) for name in names):
            self.optimizer.build(self.trainable_variables)

    def get_build_config(self):
        """Returns the names of the texts, for `build_from_config`."""
        return {"fields": list(self.sentence_model.fields)}

    def build_from_config(self, config):
        """Creates the weights of a classifier made from its configuration."""
        texts = tuple(tf.constant([""]) for _ in config["fields"])
        self(texts if len(texts) > 1 else texts[0])

    def _set_words(self, words: Sequence[str]) -> None:
        check_fork()
        self._words = "\n".join(words)  # Keras would track a list
        self._text_to_ids = TextToIds(words, *self._tokenizer.values())
