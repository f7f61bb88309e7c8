"""The trained model with whose weights a training begins (`--init_from`)."""

import functools
from collections.abc import Iterator
from itertools import chain
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.elmo.bilm import BiLM
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.layers.embedding.words import WordEmbedding
from disan_tf.models.base import SentenceModel
from disan_tf.models.embeddings import ANY_SOURCES, EMBEDDINGS
from disan_tf.models.factory import embedding_parts, encoder_class, encoder_parts
from disan_tf.models.language_model import LanguageModel
from disan_tf.runs.bundle import Bundle
from disan_tf.runs.work_directory import portable_name

# Arguments of layers that change neither the weights' shapes nor their meaning.
_FREE = {
    *("name", "dtype", "trainable", "seed", "attention_form", "init_scale"),
    *("dropout", "word_dropout", "l2"),
}


class InitialModel:
    """A trained model with whose weights a training begins.

    Embedding and encoder take its weights, except counters of random draws: two trainings with one
    command stay equal. A word of the corpus that the model knows takes the model's vector; other
    words keep the vectors of the corpus. The head takes its weights if
    task, classes and shapes are equal, and stays new otherwise.

    Args:
      name: a released model, a work directory, or a folder with a `model.json`. The attribute
        `name` omits the folders of an absolute path.
      load: returns the model's `Bundle`. It is called once, and not for a training that resumes.

    Attributes:
      record: the record of the last `apply` for `run.json`: "name", "sha256" of the model's file of
        weights, the numbers of "words" in the corpus and of "words_found" in the model, and "head":
        whether the model's head was taken too; None before it.
    """

    def __init__(self, name: str, load: Callable[[], Bundle]):
        self.name = portable_name(name)
        self.record: Optional[dict] = None
        self._load = load

    @functools.cached_property
    def bundle(self) -> Bundle:
        """The loaded model."""
        return self._load()

    def check_fits(self, config) -> None:
        """Raises UserError unless embedding and encoder fit a `Config`."""
        for option, there, here in _differences(self.bundle.config, config):
            raise UserError(
                f"--init_from={self.name} has {option}={there}, and the config has {here}; choose "
                f"a config with {option}={there}, or another model."
            )

    def apply(self, model: SentenceModel, corpus: PreparedCorpus) -> None:
        """Assigns the weights to a fitting model that has the word vectors of its corpus.

        An embedding that reads another fixed biLM than the model is a UserError.
        """
        bundle, vocabulary = self.bundle, corpus.vocabulary
        source, tables = bundle.model, list(_parts(model.embedding, WordEmbedding))
        rows = {word: row for row, word in enumerate(bundle.vocabulary)}
        pairs = [(row, rows[word]) for row, word in enumerate(vocabulary) if word in rows]
        for table, other in zip(tables, _parts(source.embedding, WordEmbedding)):
            _copy_rows(table, other, np.array(pairs, np.int64).reshape(-1, 2))
        bilms = zip(_parts(model.embedding, BiLM), _parts(source.embedding, BiLM))
        fixed = [pair for pair in bilms if not pair[0].trainable]
        for bilm, other in fixed:
            for weight, value in zip(bilm.weights, other.weights):
                # They are equal, but for the rounding of a file of float16.
                if weight.dtype.is_floating and not np.allclose(weight, value, 2**-8, 2**-14):
                    raise UserError(
                        f"--init_from={self.name} reads another biLM than the files of "
                        "--config.data.bilm; restore its files there, or choose another model."
                    )
        copied = [*tables, *_parts(source.embedding, WordEmbedding), *chain.from_iterable(fixed)]
        _copy(model.embedding, source.embedding, besides=copied)
        _copy(model.encoder, source.encoder)
        is_same = _have_same_head(model, source)
        is_same = is_same and _outputs(source, bundle) == _outputs(source, corpus)
        if is_same:
            _copy(model.head, source.head)
        self.record = {
            "name": self.name,
            "sha256": bundle.info["sha256"][bundle.info["weights"]],
            "words": len(vocabulary),
            "words_found": len(pairs) if tables else 0,
            "head": is_same,
        }


def describe_start(record: dict) -> str:
    """Returns a line about a training's start, from the record by `InitialModel.apply`."""
    return (
        f"begins with {record['name']}, which knows {record['words_found']:,} of "
        f"{record['words']:,} words; {'its' if record['head'] else 'a new'} head"
    )


def _differences(there, config) -> Iterator[tuple]:
    """Yields (option, its value there, its value in `config`) where the two must be equal."""
    embedding, encoder = config.embedding, config.encoder
    if there.embedding.name != embedding.name:
        yield "embedding.name", there.embedding.name, embedding.name
        return
    if encoder_class(there.encoder.name) != encoder_class(encoder.name):
        yield "encoder.name", there.encoder.name, encoder.name
        return
    make_embedding = functools.partial(embedding_parts, sources=ANY_SOURCES)
    sides = (
        ("embedding", make_embedding, there.embedding, embedding),
        ("encoder", encoder_parts, there.encoder, encoder),
    )
    for part, parts, other, section in sides:
        arguments, make = zip(parts(other), parts(section))
        theirs, ours = (of(**it).get_config() for it, of in zip(arguments, make))
        for name in sorted(ours.keys() - _FREE):
            if ours[name] != theirs.get(name):
                given = other.get(name, theirs.get(name)), section.get(name, ours[name])
                yield f"{part}.{name}", *given
    if EMBEDDINGS[embedding.name].reads_bilm and there.embedding.bilm != embedding.bilm:
        yield "embedding.bilm", there.embedding.bilm, embedding.bilm


def _parts(layer: tf.keras.layers.Layer, kind: type) -> Iterator[tf.keras.layers.Layer]:
    """Yields the layers of a class in a layer, itself included, always in the same order."""
    return (part for part in (layer, *layer.submodules) if isinstance(part, kind))


def _copy_rows(table: WordEmbedding, source: WordEmbedding, pairs: np.ndarray) -> None:
    """Copies vectors of words; `pairs` has their rows in the table and in the source."""
    vectors, others = (
        np.concatenate([part.trained.numpy(), part.fixed.numpy()]) for part in (table, source)
    )
    vectors[pairs[:, 0]] = others[pairs[:, 1]]
    table.set_vectors(vectors)


def _copy(layer, source, besides=()) -> None:
    """Copies the weights of an equal layer, except counters of draws and the parts `besides`.

    `besides` has the parts of both layers that may be trainable in one and fixed in the other:
    Keras lists trainable weights first, so their weights have different places in the two lists.
    """
    left = {id(weight) for part in besides for weight in part.weights}
    kept = ([it for it in side.weights if id(it) not in left] for side in (layer, source))
    for weight, value in zip(*kept):
        if weight.dtype.is_floating:
            weight.assign(value.numpy())


def _have_same_head(model: SentenceModel, source: SentenceModel) -> bool:
    """Returns whether two models have the same task, and equal heads of equal features."""
    heads = [
        (
            type(side),
            getattr(side, "pair_features", None),
            type(side.head),
            {name: value for name, value in side.head.get_config().items() if name not in _FREE},
            [weight.shape for weight in side.head.weights],
        )
        for side in (model, source)
    ]
    return heads[0] == heads[1]


def _outputs(model: SentenceModel, described) -> list[str]:
    """Returns the names of a bundle's or corpus' outputs: classes, or a language model's words."""
    return described.vocabulary if isinstance(model, LanguageModel) else described.classes
