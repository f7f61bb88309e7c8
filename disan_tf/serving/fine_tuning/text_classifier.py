"""A Keras classifier of raw text that starts with a trained model's weights."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, Optional, Union

import numpy as np
import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.options import check_arguments, check_type
from disan_tf.common.process import check_fork
from disan_tf.layers.keras_layer import Activation, activation_of
from disan_tf.layers.serialization import KerasOptions, serializable
from disan_tf.models.base import SentenceModel
from disan_tf.models.classification import SentenceClassifier
from disan_tf.serving.export.signatures import describe_classes
from disan_tf.serving.fine_tuning.examples import read_examples, read_weights
from disan_tf.serving.fine_tuning.files import read_preset, write_preset, write_saved_model
from disan_tf.serving.fine_tuning.labels import (
    are_numbers,
    labels_of,
    loss_names,
    plain_errors,
    read_class_weights,
    read_classes,
    warn_of_labels,
)
from disan_tf.serving.fine_tuning.multi_label import check_loss, default_metrics
from disan_tf.serving.fine_tuning.preprocessor import TextClassifierPreprocessor, recorded
from disan_tf.serving.fine_tuning.recipe import (
    LEARNING_RATE,
    BestAverages,
    hold_out,
    leave_out_empty_images,
)
from disan_tf.serving.fine_tuning.text_model import TextModel
from disan_tf.serving.fine_tuning.texts import are_ids
from disan_tf.serving.inference.inputs import check_count
from disan_tf.serving.inference.lines import NO_KNOWN_WORD
from disan_tf.serving.presets import Preset, presets
from disan_tf.text.tokenizer_rules import python_steps


def _is_compiled(model: tf.keras.Model) -> bool:
    return getattr(model, "optimizer", None) is not None


class _ClassProperty:
    """A property of a class, as keras-hub's models have for their presets."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __get__(self, instance: Any, owner: type) -> Any:
        return self._function(owner)


@serializable
class TextClassifier(TextModel):
    """A classifier of raw text, or of pairs of texts: a look-up of words, then a `SentenceModel`.

    It is a Keras model like any other, compiled with Adam, cross-entropy and accuracy; call
    `compile` for other choices. Usually `from_preset` makes it.

    `fit`, `evaluate` and `predict` read lists, arrays, pandas Series and string tensors of texts;
    pairs are a tuple of two of them, or a list of tuples (first, second). They also read
    DataFrames, dictionaries of columns and lists of records with `text`, or `premise` and
    `hypothesis`. A label is the name of a class or its number; if all names are whole numbers, an
    integer is a name. The `preprocessor` makes word ids and class numbers, which may replace texts
    and labels: an integer beside word ids is a class number. With every loss of Keras except the
    sparse ones, a label may also be a one-hot row, and names and numbers become such rows.
    Generators and Keras' `Sequence` yield such batches (texts, labels). `tf.data` datasets hold
    batches of strings, of pairs of strings, or of dictionaries of strings. `predict` also reads
    datasets without batches, and generators of texts, pairs and records.

    Args:
      model: a `SentenceModel` that predicts classes and reads word ids alone.
      words: the words of ids 2 and up.
      tokenizer: the options "lowercase", "split_words" and "empty_tokens" of `TextToIds`, and the
        tokenizer's "name" (default: "treebank") and "version" (default: the newest).
      classes: the classes' names, in the order of the logits.
      config: the model's config, which `save_to_preset` writes; None = it cannot be written.
      activation: a function of the logits, or its name in Keras, such as "softmax"; None = logits.
      multi_label: whether a text may have several classes, or none. Then each class has an
        independent probability, the loss is binary cross-entropy, the metrics are micro and macro
        F1, and labels are lists of names, rows of 0 and 1, or records or a table with 0 or 1 for
        each class.
      sequence_length: see `TextClassifierPreprocessor`.
      compile: whether the classifier is compiled; else call `compile` before `fit`.
      name: as for every Keras model.

    A call takes texts <string>[batch], for pairs a tuple of two or {"premise": ..., "hypothesis":
    ...}, and returns logits, or their `activation`, <float32>[batch, classes].

    Raises:
      ValueError: the words do not fit the embedding, or an argument is wrong.
    """

    def __init__(
        self,
        model: SentenceClassifier,
        words: Sequence[str],
        tokenizer: Mapping[str, Union[bool, str, int]],
        classes: Iterable[str],
        config: Optional[Mapping] = None,
        activation: Activation = None,
        multi_label: bool = False,
        sequence_length: Optional[int] = None,
        compile: bool = True,
        **kwargs: Unpack[KerasOptions],
    ) -> None:
        switches = {"multi_label": multi_label, "compile": compile}
        check_arguments(TextClassifier.__init__, (), switches)
        names, count = read_classes(classes), model.head.get_config()["classes"]
        if count != len(names):
            raise ValueError(f"the head has {count} classes, but classes has {len(names)} names.")
        numbered = () if multi_label else names
        preprocessor = TextClassifierPreprocessor(
            words, tokenizer, model.fields, numbered, sequence_length
        )
        super().__init__(model, preprocessor, **kwargs)
        self.multi_label = multi_label
        self._config = json.dumps(config)  # Keras would track a dictionary
        self.activation = activation_of(activation)
        unfit = "softmax" if multi_label else "sigmoid"
        if self.activation is tf.keras.activations.get(unfit):
            raise ValueError(f"activation={unfit} does not fit multi_label={multi_label}.")
        self.classes = names
        if compile:
            self.compile()

    @classmethod
    def from_preset(
        cls,
        preset: Union[str, Path],
        classes: Optional[Iterable[str]] = None,
        num_classes: Optional[int] = None,
        *,
        pairs: bool = False,
        multi_label: Optional[bool] = None,
        encoder_trainable: bool = True,
        embedding_trainable: bool = True,
        activation: Activation = None,
        dtype: Any = "float32",
        load_weights: bool = True,
        preprocessor: Union[str, TextClassifierPreprocessor, None] = "auto",
        compile: bool = True,
        name: Optional[str] = None,
    ) -> "TextClassifier":
        """Makes a classifier with a trained model's words, embedding and encoder.

        Args:
          preset: the name of a released model (`disan_tf.presets`), a work directory, or a folder
            that `save_to_preset` wrote.
          classes: the names of new classes; None = the preset's own classes and head.
          num_classes: the number of new classes, if they have no names.
          pairs: whether a classifier of new classes reads pairs of texts.
          multi_label: whether a text may have several classes, see the class; None = False for new
            classes, otherwise the preset's value.
          encoder_trainable: whether `fit` changes the encoder.
          embedding_trainable: whether `fit` changes the vectors of the preset's training words;
            `fine_tune` never does.
          activation: see the class.
          dtype: a Keras dtype policy or its name, whatever the dtype of the preset's training.
          load_weights: whether the preset's weights are loaded; else all weights are random.
          preprocessor: another preprocessor with the preset's words, such as one with a
            `sequence_length`; None = `fit`, `evaluate` and `predict` read word ids; "auto" = the
            preset's.
          compile, name: see the class.

        Raises:
          UserError: there is no such preset, or it is damaged.
          ValueError: the preset needs more than word ids (ELMo, DRCN's characters), predicts
            scores and no classes are given, or reads only pairs; or an argument is wrong.
        """
        given = {
            "num_classes": num_classes,
            "pairs": pairs,
            "multi_label": multi_label,
            "encoder_trainable": encoder_trainable,
            "embedding_trainable": embedding_trainable,
            "load_weights": load_weights,
            "compile": compile,
            "name": name,
        }
        check_arguments(cls.from_preset, (), given)
        activation = activation_of(activation)
        names = read_classes(classes, num_classes)
        bundle, model, config = read_preset(preset, names, pairs, dtype, load_weights)
        of_preset = bundle.info.get("multi_label", False)
        if not names and multi_label not in (None, of_preset):
            raise ValueError(
                f"multi_label={multi_label}, but the classes of {preset} have multi_label="
                f"{of_preset}; name new classes with classes=."
            )
        multi_label = bool(multi_label) if names else of_preset
        model.encoder.trainable = encoder_trainable
        model.embedding.trainable = embedding_trainable
        classifier = cls(
            model,
            bundle.vocabulary,
            bundle.tokenizer,
            names or bundle.classes,
            config,
            activation,
            multi_label,
            compile=compile,
            name=name,
        )
        if preprocessor != "auto":
            classifier.preprocessor = preprocessor  # type: ignore[assignment]
        classifier.build_from_config(classifier.get_build_config())
        return classifier

    @_ClassProperty
    def presets(cls) -> dict[str, Preset]:
        """The released models by name."""
        return {preset.name: preset for preset in presets()}

    num_classes = property(lambda self: len(self.classes), doc="The number of classes.")

    def compile(
        self, optimizer: Any = "adam", loss: Any = None, metrics: Any = None, **kwargs: Any
    ) -> None:
        """Configures training; without arguments Adam, cross-entropy and accuracy.

        Raises:
          ValueError: the loss does not fit the classifier's probabilities, see `multi_label`.
        """
        if kwargs.get("jit_compile") is True:
            raise ValueError(
                "jit_compile=True: XLA cannot compile the look-up of strings; leave it out."
            )
        is_linear = self.activation is tf.keras.activations.linear
        for one in tf.nest.flatten(loss or []):
            for name in loss_names(one):
                check_loss(one, name, self.multi_label, is_linear)
        losses = tf.keras.losses
        if self.multi_label:
            loss = loss or losses.BinaryCrossentropy(from_logits=is_linear)
            metrics = default_metrics(is_linear) if metrics is None else metrics
        loss = loss or losses.SparseCategoricalCrossentropy(from_logits=is_linear)
        metrics = ["accuracy"] if metrics is None else metrics
        super().compile(optimizer=optimizer, loss=loss, metrics=metrics, **kwargs)

    compile_from_config = SentenceModel.compile_from_config

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        *args: Any,
        validation_data: Any = None,
        class_weight: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Trains as Keras does, on the texts and labels that the class describes."""
        validation_data = self._read_validation(validation_data)
        kwargs["class_weight"] = self._class_weights(class_weight)
        is_read, (x, y) = are_numbers(y), self._read(x, y)
        if not is_read:
            warn_of_labels(x, y, self.classes)
        kwargs["sample_weight"] = read_weights(kwargs.get("sample_weight"))
        leave_out_empty_images(self.weights, kwargs.get("callbacks"))
        with plain_errors():
            return super().fit(x, y, *args, validation_data=validation_data, **kwargs)

    def fine_tune(
        self,
        x: Any,
        y: Any = None,
        validation_data: Any = None,
        *,
        epochs: int = 30,
        patience: int = 4,
        batch_size: int = 16,
        seed: int = 1,
        **kwargs: Any,
    ) -> tf.keras.callbacks.History:
        r"""Compiles and trains with optimizer, averaging and early stopping of config `own_table`.

        The optimizer is Adam with learning rate 0.001, and the word vectors become fixed. The
        tokenizer escapes brackets, slashes and asterisks (`-lrb-`, `\/`). If the vocabulary
        contains a plain sign, but not its escape, the escape is added with the vector of the plain
        sign. The final weights are the moving averages of the epoch with the highest validation
        accuracy, or micro F1 for a multi-label classifier.

        Args:
          x, y: texts, and the names or numbers of their classes; no datasets.
          validation_data: (texts, labels) that select the epoch; None = a tenth of each class of x,
            and at least one text of a class that has two; for a multi-label classifier, a tenth of
            all texts.
          epochs: maximum number of epochs.
          patience: number of epochs without a higher validation accuracy after which training ends.
          batch_size: number of texts in a step.
          seed: seeds the draw of the validation texts; `tf.keras.utils.set_random_seed` the rest.
          **kwargs: further arguments of `fit`, except weights and splits of examples.

        Returns:
          Keras' history: scores of the trained weights, and of the averages with "val_".

        Raises:
          ValueError: an argument is wrong, or each class has only one text.
        """
        for name in {"sample_weight", "validation_split", "validation_freq"} & {*kwargs}:
            raise ValueError(f"fine_tune has no argument {name}; use fit.")
        options = {"epochs": check_count("epochs", epochs), **kwargs}
        batch_size = check_count("batch_size", batch_size)
        check_type("seed", seed, int)
        kind = "sets" if self.multi_label else "numbers"
        x, y = self._read(x, y, kind)
        warn_of_labels(x, y, self.classes)
        if not isinstance(x, (np.ndarray, tuple)):
            raise ValueError("fine_tune needs texts and labels; use fit for datasets and batches.")
        if hasattr(validation_data, "__next__"):
            raise ValueError("validation_data is a generator, read once; give (texts, labels).")
        if validation_data is None:
            (x, y), validation_data = hold_out(x, y, seed)
        else:
            self._read_validation(validation_data, kind)  # only checks; `fit` reads it
        self._class_weights(kwargs.get("class_weight"))  # only checks; `fit` reads them
        score = "val_micro_f1" if self.multi_label else "val_accuracy"
        averages = BestAverages(check_count("patience", patience), score)
        options["callbacks"] = [*tf.nest.flatten(kwargs.get("callbacks") or []), averages]
        self.embedding.trainable = False  # after every check: a refused call changes nothing
        self._add_signs()
        self.compile(tf.keras.optimizers.Adam(LEARNING_RATE))
        return self.fit(x, y, batch_size, validation_data=validation_data, **options)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: Optional[int] = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Evaluates as Keras does, on texts and labels as in `fit`."""
        arguments = batch_size, verbose, read_weights(sample_weight), *args
        with plain_errors():
            return super().evaluate(*self._read(x, y), *arguments, **kwargs)

    def predict(self, x: Any, *args: Any, **kwargs: Any) -> np.ndarray:
        """Computes the call's outputs as Keras does, for texts as in `fit`; labels are ignored.

        Without texts the result has the shape (0, classes).
        """
        texts = self._read(x, None, None)[0]
        if isinstance(texts, (np.ndarray, tuple)) and not np.size(texts):
            return np.zeros([0, self.num_classes], np.float32)
        return super().predict(texts, *args, **kwargs)

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Trains on one batch as Keras does, on texts and labels as in `fit`."""
        weights = read_weights(sample_weight), self._class_weights(class_weight)
        return super().train_on_batch(*self._read_tensors(x, y), *weights, *args, **kwargs)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Evaluates one batch as Keras does, on texts and labels as in `fit`."""
        weights = read_weights(sample_weight)
        return super().test_on_batch(*self._read_tensors(x, y), weights, *args, **kwargs)

    def predict_on_batch(self, x: Any) -> Any:
        """Computes the call's outputs for one batch as Keras does, for texts as in `fit`."""
        texts, _ = self._read(x, None, None)
        return super().predict_on_batch(tf.nest.map_structure(tf.constant, texts))

    def predict_proba(self, texts: Any, batch_size: Optional[int] = None) -> np.ndarray:
        """Computes the probabilities <float32>[texts, classes].

        They sum to 1 for each text, unless the classifier is multi-label.

        Raises:
          ValueError: `activation` is neither None nor softmax (sigmoid if `multi_label`).
        """
        outputs = self.predict(texts, batch_size=batch_size, verbose=0)
        name = "sigmoid" if self.multi_label else "softmax"
        if self.activation is tf.keras.activations.get(name):
            return outputs
        if self.activation is not tf.keras.activations.linear:
            raise ValueError(f"predict_proba needs activation=None or activation='{name}'.")
        return (tf.sigmoid if self.multi_label else tf.nn.softmax)(outputs).numpy()

    def predict_labels(
        self, texts: Any, batch_size: Optional[int] = None, threshold: float = 0.5
    ) -> list[Union[str, list[str], None]]:
        """Predicts the name of each text's class; for a multi-label classifier a list of names.

        The result for a text without words is None. Datasets and batches are not checked for such
        texts.

        Args:
          texts: as for `predict`.
          batch_size: number of texts in a batch.
          threshold: a multi-label classifier predicts classes of at least this probability.

        Raises:
          ValueError: the threshold is not between 0 and 1.
        """
        check_type("threshold", threshold, float)
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold={threshold} must be between 0 and 1.")
        texts = self._read(texts, None, None)[0]
        if self.multi_label:
            likely = self.predict_proba(texts, batch_size) >= threshold
            labels: list = [[self.classes[n] for n in np.flatnonzero(row)] for row in likely]
        else:
            outputs = self.predict(texts, batch_size=batch_size, verbose=0)
            labels = [self.classes[number] for number in outputs.argmax(axis=-1)]
        if not isinstance(texts, (np.ndarray, tuple)) or are_ids(texts):
            return labels  # datasets and batches may be read only once
        return [None if blank else label for blank, label in zip(self._are_blank(texts), labels)]

    def _read(self, x: Any, y: Any, kind: Optional[str] = "loss") -> tuple:
        """Returns `read_examples`' result; "loss" means the labels that the loss reads."""
        check_fork()
        if self.preprocessor is None:
            return x, y
        if kind == "loss":
            if not _is_compiled(self):
                raise ValueError("You must call `compile` before you train or evaluate.")
            kind = "sets" if self.multi_label else labels_of(self.loss)
        return read_examples(x, y, self.sentence_model.fields, self.classes, kind)

    def _read_validation(self, data: Any, kind: str = "loss") -> Any:
        """Returns validation data, with texts, labels and weights that have been read; or None."""
        if isinstance(data, (tuple, list)) and len(data) in (2, 3):
            texts, labels, *weights = data
            return (*self._read(texts, labels, kind), *map(read_weights, weights))
        return None if data is None else self._read(data, None, kind)[0]

    def _class_weights(self, weights: Any) -> Optional[dict[int, float]]:
        """Returns `read_class_weights`' result; ValueError for a multi-label classifier."""
        if weights is not None and self.multi_label:
            raise ValueError("class_weight needs one class for each text; use sample_weight.")
        return read_class_weights(weights, self.classes)

    def _read_tensors(self, x: Any, y: Any) -> tuple:
        """Returns one batch's texts, as tensors, and its labels."""
        texts, labels = self._read(x, y)
        return tf.nest.map_structure(tf.constant, texts), labels

    def call(self, texts: Any, training: Optional[bool] = None) -> tf.Tensor:
        return self._outputs(texts, training)

    @tf.autograph.experimental.do_not_convert  # conversion would double the time of tracing
    def _outputs(self, texts: Any, training: Optional[bool]) -> tf.Tensor:
        if not are_ids(texts, self.sentence_model.fields):
            texts = self.preprocess(texts)
        fields = self.sentence_model.fields
        ids = [texts[field] for field in fields] if isinstance(texts, Mapping) else [texts]
        return self.activation(self.sentence_model(*tf.nest.flatten(ids), training=training))

    @property
    def _inputs_struct(self) -> dict[str, Any]:
        """The structure of the preprocessor's outputs, which keras-hub's tests compare."""
        fields = self.sentence_model.fields
        return {field: tf.keras.Input([None], dtype="int32", name=field) for field in fields}

    def save_to_preset(self, folder: Union[str, Path]) -> None:
        """Writes a folder, without code, that `from_preset` and `disan_tf.load` read.

        An older preset in the folder is replaced. `fit` on the loaded classifier starts with a new
        optimizer; a `.keras` file keeps it.

        Raises:
          ValueError: the classifier was not made by `from_preset`; its preprocessor has a
            `sequence_length`, which a preset does not record; the folder is a work directory; or a
            file that is not part of a preset would be overwritten, such as a README.md.
        """
        config = json.loads(self._config)
        if config is None:
            raise ValueError("save_to_preset needs a classifier that from_preset made; use save.")
        if (length := self._text_preprocessor.sequence_length) is not None:
            raise ValueError(
                f"a preset does not record sequence_length={length}, without which predictions for "
                "longer texts differ; use save, or a preprocessor without it."
            )
        tokenizer = self._text_preprocessor.tokenizer
        about = {
            "classes": list(self.classes),
            "tokenizer": {**tokenizer, "raw_text": tokenizer["name"]},
            "scores": {"step": int(self.optimizer.iterations) if _is_compiled(self) else 0},
            **({"multi_label": True} if self.multi_label else {}),
        }
        write_preset(Path(folder), self.sentence_model, config, self.words, about)

    def export(self, path: Union[str, Path], format: str = "tf_saved_model", **kwargs: Any) -> None:
        """Writes a SavedModel from raw text to predictions, for other processes.

        It has the inputs and outputs of `--mode=export`'s signature `serving_default`; a
        multi-label classifier has no output "class". A process that loads it needs `import
        tensorflow_text`, and not this package. An older SavedModel in the folder is replaced.
        Further arguments of Keras' `export` have no effect.

        Raises:
          ValueError: a format other than "tf_saved_model", which has no look-up of words; or the
            path holds anything but a SavedModel.
        """
        model = self.sentence_model

        def serve(*texts: tf.Tensor) -> dict[str, tf.Tensor]:
            inputs = self.preprocess(texts[0] if len(texts) == 1 else texts).values()
            logits = model(*inputs, training=False)
            described = describe_classes(logits, model, self.classes)
            if self.multi_label:
                del described["class"]
                described["probabilities"] = tf.sigmoid(logits)
            return {**described, NO_KNOWN_WORD: model.lacks_words(*inputs)}

        text_to_ids = self._text_preprocessor.text_to_ids
        parts = {"weights": list(self.weights), "text_to_ids": text_to_ids}
        steps = python_steps(*text_to_ids.tokenizer)  # for the client
        about: dict[str, Any] = {"classes": self.classes, "tokenizer": steps}
        about.update({"multi_label": True} if self.multi_label else {})
        write_saved_model(path, format, serve, model.fields, about, parts)

    def get_config(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "model": tf.keras.utils.serialize_keras_object(self.sentence_model),
            "words": self.words,
            "tokenizer": self._text_preprocessor.tokenizer,
            "sequence_length": self._text_preprocessor.sequence_length,
            "classes": list(self.classes),
            "config": json.loads(self._config),
            "activation": tf.keras.activations.serialize(self.activation),
            "multi_label": self.multi_label,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> "TextClassifier":
        model = tf.keras.utils.deserialize_keras_object(config["model"])
        tokenizer = recorded(config["tokenizer"])
        return cls(**{**config, "model": model, "tokenizer": tokenizer})
