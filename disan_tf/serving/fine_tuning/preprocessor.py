"""The layer that turns texts into word ids, with or without a `TextClassifier`."""

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.common.options import check_arguments
from disan_tf.common.process import check_fork
from disan_tf.layers.serialization import KerasOptions, serializable
from disan_tf.serving.fine_tuning.labels import read_batch_labels
from disan_tf.serving.fine_tuning.texts import tensors_of
from disan_tf.serving.inference.inputs import is_single
from disan_tf.text import TextToIds
from disan_tf.text.lookup import PADDING_ID
from disan_tf.text.tokenizer import VERSIONS

_TOKENIZER = ("lowercase", "split_words", "empty_tokens")


@serializable
class TextClassifierPreprocessor(tf.keras.layers.Layer):
    """Turns texts into word ids, and names of classes into their numbers.

    A `tf.data` dataset can map it, over batches or over single texts:

        ids = dataset.map(classifier.preprocessor, tf.data.AUTOTUNE).prefetch(1)
        classifier.fit(ids)

    Args:
      words: the words of ids 2 and up.
      tokenizer: see `TextClassifier`.
      fields: the names of the texts: ["sentence"], or for pairs ["premise", "hypothesis"].
      classes: the names of the classes; () = labels are left as they are.
      sequence_length: texts are truncated or padded to this number of tokens; None = padded to the
        longest text of a batch.

    Call arguments:
      x: texts as `TextClassifier.fit` reads them, except datasets; or a single text, whose ids have
        no batch axis.
      y: names or numbers of classes, or one-hot rows, which stay as they are; None = no labels.
      sample_weight: returned unchanged.

    Returns:
      The ids {field: <int32>[batch, length]}, alone or as Keras' tuples (ids, y) and (ids, y,
      sample_weight): tensors in a graph, else NumPy arrays.
    """

    def __init__(
        self,
        words: Sequence[str],
        tokenizer: Mapping[str, Union[bool, str, int]],
        fields: Sequence[str] = ("sentence",),
        classes: Sequence[str] = (),
        sequence_length: Optional[int] = None,
        **kwargs: Unpack[KerasOptions],
    ) -> None:
        super().__init__(**kwargs)
        check_fork()
        length = {"sequence_length": sequence_length}
        check_arguments(TextClassifierPreprocessor.__init__, (), length)
        self._words = "\n".join(words)  # Keras would track a list
        name = str(tokenizer.get("name", "treebank"))
        switches = [bool(tokenizer[option]) for option in _TOKENIZER]
        version = int(tokenizer.get("version", VERSIONS.get(name, 1)))
        self._tokenizer: dict[str, Union[bool, str, int]]
        self._tokenizer = {"name": name, **dict(zip(_TOKENIZER, switches)), "version": version}
        self.fields, self.classes = tuple(fields), tuple(classes)
        self.sequence_length = check_at_least("sequence_length", sequence_length, 1)
        lowercase, split_words, empty_tokens = switches
        self.text_to_ids = TextToIds(words, name, lowercase, split_words, empty_tokens, version)
        self.built = True

    @property
    def words(self) -> list[str]:
        """The words of ids 2 and up."""
        return self._words.split("\n")

    @property
    def tokenizer(self) -> dict[str, Union[bool, str, int]]:
        """The tokenizer's name, options and version."""
        return dict(self._tokenizer)

    @tf.autograph.experimental.do_not_convert
    def __call__(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Preprocesses a batch or a single text, see the class."""
        check_fork()
        is_pair = isinstance(x, (list, tuple)) and len(self.fields) > 1
        texts = x.values() if isinstance(x, Mapping) else x if is_pair else [x]
        is_one = all(is_single(text) or _is_scalar(text) for text in texts)
        columns = tensors_of(_as_batch(x, is_one), self.fields)
        found = self.text_to_ids.inputs(*map(self.text_to_ids.tokens, columns))
        ids = dict(zip(self.fields, map(self._sized, found)))
        if is_one:
            ids = {field: column[0] for field, column in ids.items()}
        if self.classes and y is not None:
            y = read_batch_labels(y, self.classes, is_one)
        if tf.executing_eagerly():
            ids = {field: column.numpy() for field, column in ids.items()}
        if y is None and sample_weight is None:
            return ids
        return (ids, y) if sample_weight is None else (ids, y, sample_weight)

    def _sized(self, ids: tf.Tensor) -> tf.Tensor:
        """Returns ids <int32>[batch, length], truncated or padded to `sequence_length`."""
        if self.sequence_length is None:
            return ids
        ids = ids[:, : self.sequence_length]
        missing = self.sequence_length - tf.shape(ids)[1]
        ids = tf.pad(ids, [[0, 0], [0, missing]], constant_values=PADDING_ID)
        return tf.ensure_shape(ids, [None, self.sequence_length])

    def get_config(self) -> dict[str, Any]:
        config = {"name": self.name, "words": self.words, "tokenizer": self.tokenizer}
        config.update(fields=list(self.fields), classes=list(self.classes))
        return {**config, "sequence_length": self.sequence_length}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "TextClassifierPreprocessor":
        return cls(**{**config, "tokenizer": recorded(config["tokenizer"])})

    def get_build_config(self) -> None:
        """Returns None: the layer is built when it is made."""
        return None


def recorded(tokenizer: Mapping[str, Union[bool, str, int]]) -> dict:
    """Returns the tokenizer of a saved config; older files record no version, and mean 1."""
    return {"version": 1, **tokenizer}


def _is_scalar(text: Any) -> bool:
    """Returns whether a text is a scalar tensor of a graph."""
    return tf.is_tensor(text) and text.shape.rank == 0


def _as_batch(x: Any, is_one: bool) -> Any:
    """Returns a single text, or a pair, as a batch of one."""
    if not is_one:
        return x
    if isinstance(x, Mapping):
        return {name: tf.reshape(text, [1]) for name, text in x.items()}
    if isinstance(x, (list, tuple)):
        return tuple(tf.reshape(text, [1]) for text in x)
    return tf.reshape(x, [1])
