"""A trained model as a Python object: vectors, predictions and attention of sentences."""

import contextlib
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Callable, Optional, Union

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError, escape
from disan_tf.common.process import check_fork
from disan_tf.encoders.base import SentenceEncoder
from disan_tf.encoders.custom import register_encoder
from disan_tf.models.base import SENTENCE
from disan_tf.runs.bundle import Bundle, load_bundle, read_files, read_info
from disan_tf.serving.inference.attend import LengthLimit, make_attention_step
from disan_tf.serving.inference.attention import Attention
from disan_tf.serving.inference.batches import BATCH_SIZE, compute, look_up, tokenise
from disan_tf.serving.inference.encode import encode_all, make_encoding_step, vector_size
from disan_tf.serving.inference.inputs import check_count, is_single, read_input, read_inputs
from disan_tf.serving.inference.predict import (
    describe_all,
    make_prediction_step,
    mark_truncated,
)
from disan_tf.serving.inference.reading import LONGEST, Reading
from disan_tf.serving.inference.records import Columns, columns_of, text_name
from disan_tf.serving.presets import find_bundle, model_name

_SHORT = 200  # tokens, whose attention tensors need some hundred MB; free memory is not checked
Sentences = Iterable  # whatever `read_inputs` reads


def load(
    checkpoint: Union[str, Path], encoder: Optional[type] = None, *, dtype: str = "float32"
) -> "LoadedModel":
    """Loads a trained model, which classifies, compares and encodes sentences of raw text.

    Loading imports no module: a model with an encoder of another package needs that class, unless
    its module is imported already.

    Args:
      checkpoint: the name of a released model (`disan_tf.presets` lists them), a work directory, or
        a folder with a `model.json`; `./name` is a folder that is named like a released model.
      encoder: the class of the model's encoder, if another package defines it.
      dtype: the Keras dtype policy in which the model computes. "mixed_bfloat16" is faster on
        processors with AVX512-BF16; its probabilities differ by up to .02 between machines.

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
    return LoadedModel(load_reader(folder, dtype))


def load_reader(
    checkpoint: Union[str, Path],
    dtype: str = "float32",
    has_weights: bool = True,
    multi_label: bool = False,
) -> Bundle:
    """Loads the bundle of a model that reads sentences; see `load` and `load_bundle`."""
    check_fork()
    folder = find_bundle(checkpoint)
    bundle = load_bundle(folder, dtype=dtype, has_weights=has_weights, multi_label=multi_label)
    if not bundle.model.signatures():
        raise UserError(
            f"{folder} holds a language model, which makes no predictions; --mode=export writes "
            "its official files, which feed other models."
        )
    return bundle


class LoadedModel:
    """A trained model, for sentences of raw text; see `load`.

    Results come in the order of the input, whatever the batches. A list of sentences may be any
    iterable of texts, a pandas Series, a string tensor, a DataFrame or another table with a column
    for each of `fields`, or a list of records {field: text}; for models of two sentences it holds
    pairs (first, second) or records. A `tf.data` dataset may be batched or not; its labels are
    ignored. A blank text, which has no word, gets no label; its vector is zero.
    ValueError names the position and type of an item that is no text, or no pair.

    Threads may share a model, and pickle copies it. All functions raise UserError in a fork of the
    process that loaded it.

    Attributes:
      classes: the classes' names, or the points of the scores' scale.
      fields: the names of the texts that a prediction reads.

    Example:
      >>> model = disan_tf.load("disan_trec")
      >>> model.predict(["Who wrote this book ?"])[0]["label"]
      'HUM'
    """

    def __init__(self, bundle: Bundle):
        self._bundle = bundle
        self._text_to_ids = bundle.traced_text_to_ids()
        self.classes = bundle.classes
        self.fields = tuple(text_name(field) for field in bundle.model.fields)
        self.max_tokens = LONGEST
        self._remarked: set[str] = set()

    def __repr__(self) -> str:
        info = self._bundle.info
        scores = [f"{name} {value:.4g}" for name, value in info["scores"].items() if name != "step"]
        return escape(
            f"<{model_name(self._bundle)}: {self._bundle.config.task.name} of "
            f"{' and '.join(self.fields)}, classes {', '.join(map(str, self.classes))}, "
            f"{', '.join([format(info['parameters'], ',') + ' parameters', *scores])}>"
        )

    @property
    def max_tokens(self) -> int:
        """The number of tokens that a text may have; longer texts are truncated."""
        return self._max_tokens

    @max_tokens.setter
    def max_tokens(self, count: int) -> None:
        self._max_tokens = check_count("max_tokens", count)

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
        fields = self._bundle.model.fields
        tokens, _, reading = self._read(sentences, fields)
        self._remark(reading)
        columns = zip(*tokens) if tokens else [()] * len(fields)
        return dict(zip(self._bundle.model.reads, self._text_to_ids.inputs(*columns)))

    def encode(
        self,
        sentences: Union[str, Sentences],
        batch_size: int = BATCH_SIZE,
        *,
        normalize: bool = False,
        show_progress_bar: bool = False,
        convert_to_numpy: bool = True,
    ) -> Union[np.ndarray, tf.Tensor]:
        """Encodes sentences as vectors, much as sentence-transformers does.

        Args:
          sentences: raw text, or one string; pair models encode single sentences too.
          batch_size: the most sentences in a batch.
          normalize: whether vectors get the length 1, if they are not zero.
          show_progress_bar: whether a bar on standard error counts the sentences.
          convert_to_numpy: whether the result is an array; else it is a tensor.

        Returns:
          <float32>[sentences, dim]; for one string <float32>[dim]. A blank text has zeros.

        Raises:
          UserError: the encoder reads only pairs (DRCN).
        """
        size, step = check_count("batch_size", batch_size), self._encoding_step
        texts = [sentences] if is_single(sentences) else sentences
        tokens, _, reading = self._read(texts, SENTENCE)
        if tokens:
            with _bar(len(tokens), show_progress_bar) as advance:
                options = size, advance, reading.count
                vectors = encode_all(step, tokens, self._text_to_ids, *options)
            self._remark(reading)
        else:
            vectors = np.zeros([0, vector_size(self._bundle)], np.float32)
        vectors = _normalised(vectors) if normalize else vectors
        vectors = vectors[0] if is_single(sentences) else vectors
        return vectors if convert_to_numpy else tf.constant(vectors)

    def similarity(self, first: Sentences, second: Sentences) -> np.ndarray:
        """Computes the cosines between two lists' sentence vectors, <float32>[first, second].

        The lists hold sentences, or are vectors <float>[sentences, dim]. A blank text gives 0.
        """
        return self._unit_vectors("first", first) @ self._unit_vectors("second", second).T

    def _unit_vectors(self, name: str, given: Any) -> np.ndarray:
        if is_single(given):
            raise ValueError(f"{name} is one string; two lists of sentences are expected.")
        if getattr(given, "ndim", 0) == 2 and np.asarray(given).dtype.kind in "fi":
            return _normalised(np.asarray(given, np.float32))
        return self.encode(given, normalize=True)

    def predict(
        self, sentences: Sentences, batch_size: int = BATCH_SIZE, top_k: Optional[int] = None
    ) -> list[dict]:
        """Predicts labels or scores for sentences, or for pairs (first, second).

        Returns:
          For each input `label`, or `score` for relatedness, and `probabilities` of all classes, or
          of the `top_k` most probable. For a blank input, `label` or `score` is None, `blank` is
          True, and `probabilities` holds None for each class, or is empty with `top_k`. Where the
          model knows no word of a text, `no_known_word` is True. Where a text is longer than
          `max_tokens`, `truncated` is True.
        """
        tokens, outputs, are_cut = self._predict(sentences, batch_size)
        count = None if top_k is None else check_count("top_k", top_k)
        predictions = describe_all(tokens, outputs, self._bundle, top_k=count)
        mark_truncated(predictions, are_cut)
        return predictions

    def predict_proba(self, sentences: Sentences, batch_size: int = BATCH_SIZE) -> np.ndarray:
        """Computes the probabilities of `classes`, <float32>[sentences, classes], for scikit-learn.

        A blank input is read as one unknown word, for its probabilities must be numbers.
        """
        _, (probabilities, *_), _ = self._predict(sentences, batch_size)
        return probabilities

    def _predict(
        self, sentences: Sentences, batch_size: int
    ) -> tuple[Sequence, list[np.ndarray], list[bool]]:
        """Returns tokens, outputs of `make_prediction_step`, and whether texts were truncated."""
        size = check_count("batch_size", batch_size)
        tokens, are_cut, reading = self._read(sentences, self._bundle.model.fields)
        if not tokens:
            return [], [np.zeros([0, len(self.classes)], np.float32)], []
        step, ids = self._prediction_step, self._text_to_ids
        outputs = compute(step, tokens, ids, batch_size=size, count=reading.count)
        self._remark(reading, stacklevel=4)
        return tokens, outputs, are_cut

    def _remark(self, reading: Reading, stacklevel: int = 3) -> None:
        """Warns about truncated texts and about unknown words, once each."""
        for kind, remark in reading.remarks().items():
            if kind not in self._remarked:
                self._remarked.add(kind)
                warnings.warn(remark, stacklevel=stacklevel)

    def attend(self, sentence: Union[str, Sequence[str], Mapping[str, str]]) -> Attention:
        """Computes the attention tensors for a sentence, or for a pair.

        They are the tensors of `disan_tf.serving.inference.attend`.

        Raises:
          UserError: the attention tensors of so long a text do not fit into memory.
        """
        check_fork()
        columns = columns_of(self._bundle.config, self._bundle.model.fields)
        (tokens,), _, reading = self._cut([read_input(sentence, columns)], columns)
        self._remark(reading)
        if max(map(len, tokens)) > _SHORT:
            LengthLimit(self._attention_step).check(tokens, "attend")
        tensors = self._attention_step(*look_up([tokens], self._text_to_ids))
        arrays = {name: tensor.numpy()[0] for name, tensor in tensors.items()}
        crossed = not isinstance(self.encoder, SentenceEncoder)
        return Attention(columns.fields, tokens, arrays, crossed)

    def __reduce__(self) -> tuple:
        """Pickles the model's files, which are checked again when they are loaded."""
        files = read_files(self._bundle)
        dtype, folder = self._bundle.config.dtype, str(self._bundle.directory)
        return _restore, (files, folder, type(self.encoder), dtype, self.max_tokens)

    @cached_property
    def _encoding_step(self) -> Any:
        return make_encoding_step(self._bundle)

    @cached_property
    def _prediction_step(self) -> Any:
        return make_prediction_step(self._bundle.model)

    @cached_property
    def _attention_step(self) -> Any:
        return make_attention_step(self._bundle.model)

    def _read(
        self, sentences: Sentences, fields: Sequence[str]
    ) -> tuple[Sequence[tuple], list[bool], Reading]:
        """Returns the tokens of sentences, see `_cut`."""
        check_fork()
        columns = columns_of(self._bundle.config, fields)
        return self._cut(read_inputs(sentences, columns), columns)

    def _cut(
        self, records: Sequence[dict], columns: Columns
    ) -> tuple[Sequence[tuple], list[bool], Reading]:
        """Returns the truncated tokens of records, which were truncated, and their `Reading`."""
        reading = Reading(self._bundle, self.max_tokens)
        return (*reading.cut(tokenise(records, self._text_to_ids, columns)), reading)


def _restore(
    files: dict[str, bytes], directory: str, encoder: type, dtype: str, max_tokens: int = LONGEST
) -> LoadedModel:
    """Returns the model of a bundle's files; unpickling has imported its encoder's module."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        model = LoadedModel(load_reader(folder, dtype))
    model._bundle.directory = Path(directory)
    model.max_tokens = max_tokens
    return model


@contextlib.contextmanager
def _bar(total: int, is_enabled: bool) -> Iterator[Callable[[int], object]]:
    """Yields a function that advances a bar over sentences, if it is enabled.

    The import warns in notebooks without ipywidgets.
    """
    if not is_enabled:
        yield lambda count: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, unit="sentence") as bar:
        yield bar.update


def _normalised(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
