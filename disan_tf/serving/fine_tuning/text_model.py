"""The base class of `TextClassifier`: its preprocessor, backbone, and saving."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
import tensorflow as tf

from disan_tf.common.keras_version import is_keras_3
from disan_tf.common.process import check_fork
from disan_tf.layers.serialization import serializable
from disan_tf.models.base import SentenceModel
from disan_tf.serving.fine_tuning.preprocessor import TextClassifierPreprocessor
from disan_tf.serving.fine_tuning.texts import list_texts, tensors_of
from disan_tf.text import word_vectors
from disan_tf.text.tokenizer_rules import sign_escapes

_TEXTS = 4096  # texts that are tokenised at once


class TextModel(tf.keras.Model):
    """A `SentenceModel` with a preprocessor; subclasses define the call.

    Args:
      model: see `TextClassifier`.
      preprocessor: a preprocessor with the model's words.

    Raises:
      ValueError: the preprocessor's words do not fit the embedding.
    """

    def __init__(
        self, model: SentenceModel, preprocessor: TextClassifierPreprocessor, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.sentence_model = model
        table, words = model.embedding, preprocessor.words
        count = table.trainable_words + table.fixed_words
        if len(words) != count or len({*words}) != count:
            raise ValueError(
                f"words must be {count:,} different words, one for each of the embedding."
            )
        self._reads_texts, self._text_preprocessor = True, preprocessor

    @property
    def preprocessor(self) -> Optional[TextClassifierPreprocessor]:
        """The layer that turns texts into word ids.

        If it is None, `fit`, `evaluate` and `predict` read word ids. Calls with texts, `adapt` and
        saved files still use the last preprocessor.
        """
        return self._text_preprocessor if self._reads_texts else None

    @preprocessor.setter
    def preprocessor(self, preprocessor: Optional[TextClassifierPreprocessor]) -> None:
        if preprocessor is None:
            self._reads_texts = False
            return
        if not isinstance(preprocessor, TextClassifierPreprocessor):
            raise ValueError(
                f"preprocessor={preprocessor!r} must be a TextClassifierPreprocessor or None."
            )
        for name in ("fields", "words", "classes"):
            ours, theirs = getattr(self._text_preprocessor, name), getattr(preprocessor, name)
            if theirs != ours and not (name == "classes" and not theirs):
                raise ValueError(f"the preprocessor has other {name} than the classifier.")
        self._reads_texts = True
        self._replace_preprocessor(preprocessor)

    def _replace_preprocessor(self, preprocessor: TextClassifierPreprocessor) -> None:
        if preprocessor is self._text_preprocessor:
            return
        tracker: Any = getattr(self, "_tracker", None)  # of Keras 3, which locks it after `build`
        is_locked = tracker is not None and tracker.locked
        if is_locked:
            tracker.unlock()
        del self._text_preprocessor
        self._text_preprocessor = preprocessor
        if is_locked:
            tracker.lock()
        self.train_function = self.test_function = self.predict_function = None

    def __setattr__(self, name: str, value: Any) -> None:
        # Keras 3 would track the value before the setter of this property runs.
        if name == "preprocessor":
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    @property
    def backbone(self) -> "TextBackbone":
        """The model from word ids <int32>[batch, length] to vectors, with the same weights."""
        return TextBackbone(self.embedding, self.encoder)

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
        return self._text_preprocessor.words

    def preprocess(self, texts: Any) -> dict[str, tf.Tensor]:
        """Returns the ids <int32>[batch, length] of a batch of texts by field."""
        texts = tensors_of(texts, self.sentence_model.fields)
        ids = self._text_preprocessor(tuple(texts) if len(texts) > 1 else texts[0])
        return {field: tf.convert_to_tensor(column) for field, column in ids.items()}

    def adapt(self, texts: Iterable[str], vectors: Union[str, Path]) -> int:
        """Adds words that the vocabulary lacks, with vectors from a file; returns their number.

        A word gets the vector of the first of its spellings that the file contains: the word, in
        lower case, capitalised, and these three without the tokenizer's escapes (`(` for `-lrb-`).
        Call `adapt` before `fit`. Added vectors stay fixed. Words without a vector stay unknown.

        Args:
          texts: texts with the words to add, as for `fit`; for pairs also single texts.
          vectors: a file of word vectors in the format of GloVe, with the embedding's dimension.

        Raises:
          UserError: the file is missing or malformed, or has another dimension.
        """
        check_fork()
        lacking: dict[str, None] = {}
        texts = list_texts(texts, self.sentence_model.fields)
        for start in range(0, len(texts), _TEXTS):
            tokens = self._tokens(texts[start : start + _TEXTS])
            words = (word.decode() for word in dict.fromkeys(tokens.flat_values.numpy()))
            lowercase = self._text_preprocessor.tokenizer["lowercase"]
            lacking.update((word.lower() if lowercase else word, None) for word in words)
        for word in self.words:
            lacking.pop(word, None)
        variants = {each for word in lacking for each in word_vectors.spellings(word, True)}
        dim, owner = self.embedding.dim, "the classifier"
        found = word_vectors.read(Path(vectors), dim, variants.__contains__, owner).by_word
        sources = {word: word_vectors.source(word, found, unescaped=True) for word in lacking}
        self._add_words({word: found[origin] for word, origin in sources.items() if origin})
        return sum(origin is not None for origin in sources.values())

    def _add_signs(self) -> None:
        """Adds the escapes of signs that the vocabulary contains, with the vectors of the signs."""
        escapes = sign_escapes(bool(self._text_preprocessor.tokenizer["lowercase"])).items()
        tables = self.embedding.trained, self.embedding.fixed
        known = dict(zip(self.words, np.concatenate([table.numpy() for table in tables])))
        lacking = {escape: sign for escape, sign in escapes if escape not in known}
        self._add_words({escape: known[sign] for escape, sign in lacking.items() if sign in known})

    def _add_words(self, vectors: Mapping[str, np.ndarray]) -> None:
        """Adds words with their vectors <float>[dim], which stay fixed."""
        if vectors:
            self.embedding.add_fixed([*vectors.values()])
            config = {**self._text_preprocessor.get_config(), "words": [*self.words, *vectors]}
            self._replace_preprocessor(TextClassifierPreprocessor.from_config(config))

    def _tokens(self, texts: Any) -> tf.RaggedTensor:
        return self._text_preprocessor.text_to_ids.tokens(tf.constant(texts))

    def _are_blank(self, texts: Any) -> list[bool]:
        """Returns whether each text, or both texts of each pair, lack words.

        `texts` come from `read_texts`. A whole column is tokenised `_TEXTS` texts at a time.
        """
        are_blank: list[bool] = []
        for column in texts if isinstance(texts, tuple) else (texts,):
            lengths = []
            for start in range(0, len(column), _TEXTS):
                tokens = self._tokens(column[start : start + _TEXTS])
                longest = tf.reduce_max(tf.strings.length(tokens), axis=1)
                lengths += (longest <= 0).numpy().tolist()  # without tokens it is below 0
            are_blank = [a and b for a, b in zip(are_blank or lengths, lengths)]
        return are_blank

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> Any:
        if save_type == "savedmodel" and is_keras_3():
            raise ValueError(
                "tf.saved_model.save cannot trace a classifier of raw text under Keras 3; use its "
                "export(folder)."
            )
        return super()._trackable_children(save_type, **kwargs)

    def save(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """Saves as Keras does, also before `fit`.

        Raises:
          ValueError: Keras 2 could not load the `.keras` file, since its weights are bfloat16.
        """
        self._build_all()
        if str(filepath).endswith(".keras"):
            self._check_keras_file()
        super().save(filepath, *args, **kwargs)

    def __reduce__(self) -> Any:
        self._build_all()
        self._check_keras_file()  # which a pickle contains
        return super().__reduce__()

    def _check_keras_file(self) -> None:
        """Raises ValueError if Keras 2 could not load a `.keras` file of the weights."""
        if not is_keras_3() and any(weight.dtype == tf.bfloat16 for weight in self.weights):
            raise ValueError(
                "Keras 2 cannot load a .keras file or a copy with weights in bfloat16; make the "
                "classifier with dtype='mixed_bfloat16', or use save_to_preset."
            )

    def _build_all(self) -> None:
        """Creates the weights and the optimizer's variables; a file without them cannot be read."""
        if not self.built:
            self.build_from_config(self.get_build_config())
        names = ("built", "_built")  # Keras 3, Keras 2
        if getattr(self, "optimizer", None) is None:  # not compiled
            return
        if not any(getattr(self.optimizer, name, False) for name in names):
            self.optimizer.build(self.trainable_variables)

    def get_build_config(self) -> dict[str, Any]:
        """Returns the names of the texts, for `build_from_config`."""
        return {"fields": list(self.sentence_model.fields)}

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Creates the weights of a classifier made from its configuration."""
        self.sentence_model(*self.sentence_model.zeros())
        self.built = True
        if not is_keras_3():  # which traces a SavedModel of a model that was not called
            texts = tuple(tf.constant([""]) for _ in config["fields"])
            self._set_save_spec(texts if len(texts) > 1 else texts[0])


@serializable
class TextBackbone(tf.keras.Model):
    """An embedding and a sentence encoder, from word ids to a vector.

    Args:
      embedding: a layer from word ids <int32>[batch, length] to vectors <float>[batch, length,
        dim], with a mask.
      encoder: a layer from these to <float>[batch, size].
      dtype: the policy that the model names; the layers have their own.

    Attributes:
      token_embedding: the embedding.
    """

    def __init__(
        self,
        embedding: tf.keras.layers.Layer,
        encoder: tf.keras.layers.Layer,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        ids = tf.keras.Input([None], dtype="int32", name="ids")
        super().__init__(ids, encoder(embedding(ids)), **kwargs)
        self.token_embedding, self.encoder = embedding, encoder
        if dtype is not None and is_keras_3():
            self.dtype_policy = tf.keras.dtype_policies.get(dtype)

    def get_config(self) -> dict[str, Any]:
        serialize = tf.keras.layers.serialize
        parts = {"embedding": self.token_embedding, "encoder": self.encoder}
        return {"name": self.name, **{name: serialize(part) for name, part in parts.items()}}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> "TextBackbone":
        deserialize = tf.keras.layers.deserialize
        parts = {name: deserialize(config[name]) for name in ("embedding", "encoder")}
        return cls(**{**config, **parts})
