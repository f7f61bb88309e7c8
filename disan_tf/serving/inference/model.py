"""A trained model as a Python object: vectors, predictions and attention of sentences."""

import contextlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Optional, Union

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError, escape
from disan_tf.common.forks import check_fork
from disan_tf.encoders.base import SentenceEncoder
from disan_tf.encoders.custom import register_encoder
from disan_tf.models.base import SENTENCE
from disan_tf.runs.bundle import Bundle, load_bundle, read_files, read_info
from disan_tf.serving.inference.attend import LengthLimit, make_attention_step
from disan_tf.serving.inference.attention import Attention
from disan_tf.serving.inference.encode import encode_all, make_encoding_step, vector_size
from disan_tf.serving.inference.inputs import (
    check_batch_size,
    is_single,
    read_input,
    read_inputs,
)
from disan_tf.serving.inference.lines import look_up, tokenise
from disan_tf.serving.inference.predict import (
    BATCH_SIZE,
    check_top_k,
    describe_all,
    make_prediction_step,
    predict_all,
)
from disan_tf.serving.inference.records import Columns, columns_of, text_name
from disan_tf.serving.release.released import find_bundle, model_name

_SHORT = 200  # tokens, whose attention tensors need some hundred MB; free memory is not checked
Sentences = Iterable  # whatever `read_inputs` reads


def load(checkpoint: Union[str, Path], encoder: Optional[type] = None) -> "LoadedModel":
    """Loads a trained model, which classifies, compares and encodes sentences of raw text.

    `python run.py --mode=models` lists the released models. Loading imports no module: a model with
    an encoder of another package needs that class, unless its module is imported already.

    Args:
      checkpoint: the name of a released model, a work directory, or a folder with a `model.json`;
        `./name` is a folder that is named like a released model.
      encoder: the class of the model's encoder, if another package defines it.

    Returns:
      The model, whose methods are `predict`, `predict_proba`, `encode`, `similarity` and `attend`.

    Example:
      >>> model = disan_tf.load("disan_trec")
      >>> model.predict(["Who wrote this book ?"])[0]["label"]
      'HUM'

    Raises:
      UserError: there is no such model, it is damaged, it is a language model, or its encoder is
        another class than `encoder`, or from a module that is not imported.
    """
    folder = find_bundle(checkpoint)
    if encoder is not None:
        try:
            register_encoder(read_info(folder)["config"]["encoder"]["name"], encoder)
        except ValueError as error:
            raise UserError(f"{folder / 'model.json'}: encoder.{error}") from None
    return LoadedModel(load_reader(folder))


def load_reader(
    checkpoint: Union[str, Path], dtype: Optional[str] = None, has_weights: bool = True
) -> Bundle:
    """Loads the bundle of a model that reads sentences; see `load` and `load_bundle`."""
    check_fork()
    bundle = load_bundle(find_bundle(checkpoint), dtype=dtype, has_weights=has_weights)
    if not bundle.model.signatures():
        raise UserError(f"{bundle.directory} holds a language model, which reads no sentences.")
    return bundle


class LoadedModel:
    """A trained model, for sentences of raw text; see `load`.

    Results come in the order of the input, whatever the batches; every function is compiled once.

    A list of sentences may be any iterable of texts, a pandas Series, a string tensor, a DataFrame
    or another table with a column for each of `fields`, or a list of records {field: text}. For
    models of two sentences it holds pairs (first, second) or records.
    `disan_tf.serving.inference.inputs` reads them all. A blank text, which has no word, gets no
    label; its vector is zero.

    Threads may share a model, and pickle copies it. All functions raise UserError in a fork of the
    process that loaded it.

    Attributes:
      classes: the classes' names, or the points of the scores' scale.
      fields: the names of the texts that a prediction reads.

    Example:
      >>> model = disan_tf.load("disan_sst5")
      >>> model.encode(["A warm, funny film.", "Dull."]).shape
      (2, 600)
      >>> model.predict(["A warm, funny film."])[0]["label"]
      'very positive'
    """

    def __init__(self, bundle: Bundle):
        self._bundle = bundle
        self._text_to_ids = bundle.traced_text_to_ids()
        self.classes = bundle.classes
        self.fields = tuple(text_name(field) for field in bundle.model.fields)

    def __repr__(self):
        info = self._bundle.info
        scores = [f"{name} {value:.4g}" for name, value in info["scores"].items() if name != "step"]
        return escape(
            f"<{model_name(self._bundle)}: {self._bundle.config.task.name} of "
            f"{' and '.join(self.fields)}, classes {', '.join(map(str, self.classes))}, "
            f"{', '.join([format(info['parameters'], ',') + ' parameters', *scores])}>"
        )

    @cached_property
    def keras_model(self) -> tf.keras.Model:
        """The Keras model from a dictionary of word ids <int32>[batch, length] to logits.

        Its layers are `embedding`, `encoder` and `head`; `preprocess` makes its inputs.
        """
        model = self._bundle.model
        inputs = {
            spec.name: tf.keras.Input(spec.shape[1:], dtype=spec.dtype, name=spec.name)
            for spec in model.input_specs()
        }
        return tf.keras.Model(inputs, model(*inputs.values()), name=model.name)

    @property
    def embedding(self) -> tf.keras.layers.Layer:
        """The layer from word ids to token vectors."""
        return self._bundle.model.embedding

    @property
    def encoder(self) -> tf.keras.layers.Layer:
        """The layer from token vectors to a sentence vector."""
        return self._bundle.model.encoder

    @property
    def head(self) -> tf.keras.layers.Layer:
        """The layer from features of the sentence vectors to logits."""
        return self._bundle.model.head

    def preprocess(self, sentences: Sentences) -> dict[str, tf.Tensor]:
        """Returns the inputs of `keras_model` for sentences or pairs; see `predict`."""
        tokens = self._tokenise(self._records(sentences))
        return dict(zip(self._bundle.model.reads, look_up(tokens, self._text_to_ids)))

    def encode(
        self,
        sentences: Union[str, Sentences],
        batch_size: int = BATCH_SIZE,
        *,
        normalize: bool = False,
        normalize_embeddings: bool = False,
        show_progress_bar: bool = False,
        convert_to_numpy: bool = True,
    ) -> Union[np.ndarray, tf.Tensor]:
        """Encodes sentences as vectors, with the arguments of sentence-transformers.

        Args:
          sentences: raw text, or one string; pair models encode single sentences too.
          batch_size: the most sentences in a batch.
          normalize, normalize_embeddings: whether vectors get the length 1; vectors of zeros stay
            as they are.
          show_progress_bar: whether a bar on standard error counts the sentences.
          convert_to_numpy: whether the result is an array; else it is a tensor.

        Returns:
          <float32>[sentences, dim]; for one string <float32>[dim]. A blank text has zeros.

        Raises:
          UserError: the encoder reads only pairs (DRCN).
          ValueError: an item is no text; the message has its position and its type.
        """
        normalize = normalize or normalize_embeddings
        if not convert_to_numpy:
            return tf.constant(self.encode(sentences, batch_size, normalize=normalize))
        if is_single(sentences):
            return self.encode([sentences], batch_size, normalize=normalize)[0]
        size, step = check_batch_size(batch_size), self._encoding_step
        tokens = self._tokenise(self._records(sentences, SENTENCE), SENTENCE)
        if not tokens:
            return np.zeros([0, vector_size(self._bundle)], np.float32)
        with _bar(len(tokens), show_progress_bar) as bar:
            vectors = encode_all(step, tokens, self._text_to_ids, size, bar)
        return _normalised(vectors) if normalize else vectors

    def similarity(self, first: Sentences, second: Sentences) -> np.ndarray:
        """Computes the cosines between two lists' sentence vectors, <float32>[first, second].

        A blank text has cosines of 0.

        Args:
          first, second: sentences, or their vectors <float>[sentences, dim].

        Raises:
          UserError, ValueError: see `encode`.
        """
        first, second = (
            self._unit_vectors(name, given)
            for name, given in (("first", first), ("second", second))
        )
        return first @ second.T

    def _unit_vectors(self, name: str, given) -> np.ndarray:
        if is_single(given):
            raise ValueError(f"{name} is one string; two lists of sentences are expected.")
        if getattr(given, "ndim", 0) == 2 and np.asarray(given).dtype.kind in "fi":
            return _normalised(np.asarray(given, np.float32))
        return self.encode(given, normalize=True)

    def predict(
        self, sentences: Sentences, batch_size: int = BATCH_SIZE, top_k: Optional[int] = None
    ) -> list[dict]:
        """Predicts labels or scores for sentences, or for pairs (first, second).

        Args:
          sentences: the texts.
          batch_size: the most sentences in a batch.
          top_k: the number of most probable classes in `probabilities`; None = all, in their order.

        Returns:
          For each input `label`, or `score` for relatedness, and `probabilities` by class. For a
          blank input they are None, and `blank` is True. Where the model knows no word of a text,
          `no_known_word` is True.

        Raises:
          ValueError: an item is no text, or no pair where the model reads pairs; the message has
            its position and its type.
        """
        size, tokens = check_batch_size(batch_size), self._tokenise(self._records(sentences))
        if not tokens:
            return []
        rows = predict_all(self._prediction_step, tokens, self._text_to_ids, size)
        return describe_all(tokens, rows, self._bundle, top_k=check_top_k(top_k))

    def predict_proba(self, sentences: Sentences, batch_size: int = BATCH_SIZE) -> np.ndarray:
        """Computes the probabilities of `classes`, <float32>[sentences, classes], for scikit-learn.

        A blank input is read as one unknown word, for its probabilities must be numbers.

        Raises:
          ValueError: see `predict`.
        """
        size, tokens = check_batch_size(batch_size), self._tokenise(self._records(sentences))
        rows = predict_all(self._prediction_step, tokens, self._text_to_ids, size) if tokens else []
        return np.array([row[0] for row in rows], np.float32).reshape([-1, len(self.classes)])

    def attend(self, sentence: Union[str, Sequence[str], Mapping[str, str]]) -> Attention:
        """Computes the attention tensors for a sentence, or for a pair.

        Returns:
          A mapping with "tokens" (for pairs "<field>_tokens"), and the tensors of
          `disan_tf.serving.inference.attend`, <float32>[head, dependent, feature] and
          [token, feature]. It has methods `table` and `plot`, and notebooks display it.

        Raises:
          UserError: the attention tensors of so long a text do not fit into the memory.
          ValueError: see `predict`.
        """
        fields = self._bundle.model.fields
        (tokens,) = self._tokenise([read_input(sentence, fields, self._columns(fields))])
        if max(map(len, tokens)) > _SHORT:
            LengthLimit(self._attention_step).check(tokens, "attend")
        tensors = self._attention_step(*look_up([tokens], self._text_to_ids))
        arrays = {name: tensor.numpy()[0] for name, tensor in tensors.items()}
        crossed = not isinstance(self.encoder, SentenceEncoder)
        return Attention(fields, tokens, arrays, crossed)

    def __reduce__(self):
        """Pickles the model's files, which are checked again when they are loaded."""
        files = read_files(self._bundle)
        return _restore, (files, str(self._bundle.directory), type(self.encoder))

    @cached_property
    def _encoding_step(self):
        return make_encoding_step(self._bundle)

    @cached_property
    def _prediction_step(self):
        return make_prediction_step(self._bundle.model)

    @cached_property
    def _attention_step(self):
        return make_attention_step(self._bundle.model)

    def _columns(self, fields) -> Columns:
        return columns_of(self._bundle.config, fields)

    def _records(self, sentences, fields=None) -> list[dict]:
        fields = fields or self._bundle.model.fields
        return read_inputs(sentences, fields, self._columns(fields))

    def _tokenise(self, records, fields=None) -> list[tuple]:
        check_fork()
        fields = fields or self._bundle.model.fields
        if not records:
            return []
        return tokenise(records, self._text_to_ids, fields, self._columns(fields))


def _restore(files: dict[str, bytes], directory: str, encoder: type) -> LoadedModel:
    """Returns the model of a bundle's files; unpickling has imported its encoder's module."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        model = LoadedModel(load_reader(folder))
    model._bundle.directory = Path(directory)
    return model


def _bar(total: int, is_enabled: bool):
    """Returns a context with a bar over sentences, or with None.

    The import warns in notebooks without ipywidgets.
    """
    if not is_enabled:
        return contextlib.nullcontext()
    from tqdm.auto import tqdm

    return tqdm(total=total, unit="sentence")


def _normalised(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
