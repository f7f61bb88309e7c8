"""The embeddings of `config.embedding`, with their properties.

A function makes each embedding from `Sources` and the shared arguments ("l2", "dtype", "seed",
"name"). Its keyword arguments are the values of `config.embedding`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Optional

from disan_tf.common.checks import check_choice
from disan_tf.common.errors import UserError
from disan_tf.elmo.embedding import ElmoEmbedding
from disan_tf.layers.embedding.characters import WordBytes, WordCharacterEmbedding
from disan_tf.layers.embedding.words import Embedding, WordEmbedding
from disan_tf.text import TextToCharacters, TextToIds, TextToPairFeatures, WordForms
from disan_tf.text.word_forms import WORD_FORMS, read_forms

PHRASES = ("own", "cut")


@dataclass(frozen=True)
class Sources:
    """The sources of a model's words."""

    words: tuple[int, int]  # number of (trainable, fixed) words
    bilm: Optional[dict] = None  # the arguments of the `BiLM` that feeds the model, if any
    cached: bool = False  # whether batches hold the biLM's layers in place of characters


# For embeddings that are only checked or compared, before a corpus or a biLM is read.
ANY_SOURCES = Sources((1, 0), {"units": 1, "cells": 1, "filters": [(1, 1)]})


def make_words(sources: Sources, shared: dict, *, dim: int, trainable: bool = True) -> Embedding:
    """Makes a `WordEmbedding`, whose docstring explains `dim` and `trainable`."""
    given = {name: shared[name] for name in ("dtype", "name")}
    return WordEmbedding(*sources.words, dim, trainable=trainable, **given)


def make_characters(
    sources: Sources,
    shared: dict,
    *,
    dim: int,
    word_length: int,
    character_dim: int = 16,
    character_units: int = 32,
    character_width: int = 5,
    trainable: bool = True,
) -> Embedding:
    """Makes the `WordCharacterEmbedding` of DRCN, whose docstring explains the arguments."""
    return WordCharacterEmbedding(
        *sources.words,
        dim,
        word_length,
        character_dim=character_dim,
        character_units=character_units,
        character_width=character_width,
        trainable=trainable,
        **shared,
    )


def make_elmo(
    sources: Sources,
    shared: dict,
    *,
    bilm: str,
    dim: int,
    cached: bool = True,
    phrases: str = "own",
    trainable_bilm: bool = False,
    normalize: bool = False,
    words: bool = False,
    dropout: float = 0.0,
) -> Embedding:
    """Makes an embedding of a biLM's mixed layers.

    Args:
      sources, shared: see above.
      bilm: the name of the biLM's files, which are read before a model is made.
      dim: the size of the word vectors.
      cached: whether the layers are computed once, before training, or in every step.
      phrases: "own" reads each phrase of a corpus as its own sentence; "cut" reads the sentence
        that contains the phrase and keeps the layers of its words, which must be cached.
      trainable_bilm, normalize, dropout: see `ElmoEmbedding`.
      words: whether word vectors are concatenated to the layers.

    Raises:
      ValueError: an option is impossible; the error names the possible values.
    """
    if not bilm:
        raise ValueError(f"bilm={bilm} must name the files of a biLM, such as elmo/bilm_small.")
    check_choice("phrases", phrases, PHRASES)
    if phrases == "cut" and not cached:
        raise ValueError(
            f"phrases={phrases} needs the layers of whole sentences, which must be cached: set "
            "--config.embedding.cached=True."
        )
    if trainable_bilm and cached:
        raise ValueError(
            f"trainable_bilm={trainable_bilm} changes the layers of the biLM, which cannot be "
            "cached then: set --config.embedding.cached=False."
        )
    sizes = dict(zip(("trainable_words", "fixed_words"), sources.words), dim=dim)
    options = {"trainable_bilm": trainable_bilm, "normalize": normalize, "dropout": dropout}
    options["words"] = sizes if words else None
    return ElmoEmbedding(sources.bilm, sources.cached, **options, **shared)


def make_bytes(sources: Sources, shared: dict, *, word_length: int) -> Embedding:
    """Makes `WordBytes`, which a language model's encoder reads."""
    return WordBytes(word_length, dtype=shared["dtype"], name=shared["name"])


class Prepared(NamedTuple):
    """Arrays that a prepared corpus must have for an embedding."""

    name: str  # the `PreparedCorpus` attribute, which is empty without the arrays
    lack: str  # a clause on a corpus without the arrays, for an error
    flag: str  # the flag that prepares the arrays


@dataclass(frozen=True)
class EmbeddingKind:
    """The properties of an embedding with a given `config.embedding.name`.

    `look_up` makes the look-up for raw text from a bundle's folder, `config.embedding`, a biLM's
    arguments and the arguments of `TextToIds`; None for a model that reads no raw text.
    """

    make: Callable[..., Embedding]  # a function of this module
    look_up: Optional[Callable[..., TextToIds]] = None
    files: tuple[str, ...] = ()  # files of the corpus in a bundle, except the vocabulary
    equal: Mapping[str, str] = field(default_factory=dict)  # option -> its equal in `config.data`
    required: Mapping[str, str] = field(default_factory=dict)  # option of `config.data` -> reason
    prepared: Optional[Prepared] = None  # the arrays that it reads; None if it reads ids alone
    reads_bilm: bool = False  # whether a biLM feeds it
    counts_words: bool = False  # whether it needs the word frequencies
    beyond_ids: str = ""  # a clause on why a text needs more than ids
    distributes: bool = True  # whether several replicas can train it


def _look_up_ids(folder: Path, options, bilm, *arguments) -> TextToIds:
    return TextToIds(*arguments)


def _look_up_pair_features(folder: Path, options, bilm, *arguments) -> TextToIds:
    forms = WordForms(read_forms(folder / WORD_FORMS))
    return TextToPairFeatures(*arguments, forms=forms, word_length=options.word_length)


def _look_up_characters(folder: Path, options, bilm, *arguments) -> TextToIds:
    return TextToCharacters(*arguments, word_length=bilm["word_length"])


EMBEDDINGS = {
    "words": EmbeddingKind(make_words, _look_up_ids, equal={"dim": "embedding_dim"}),
    "characters": EmbeddingKind(
        make_characters,
        _look_up_pair_features,
        files=(WORD_FORMS,),
        equal={"dim": "embedding_dim", "word_length": "word_length"},
        required={"word_features": "reads characters and matches of words"},
        prepared=Prepared(
            "word_features", "has no characters of words", "--config.data.word_features=True"
        ),
        beyond_ids="it reads characters and matches of words, from tables of the text model",
    ),
    "elmo": EmbeddingKind(
        make_elmo,
        _look_up_characters,
        equal={"dim": "embedding_dim", "bilm": "bilm"},
        prepared=Prepared("bilm", "was prepared without a biLM", "--config.data.bilm"),
        reads_bilm=True,
        beyond_ids="its biLM reads the characters of words",
        distributes=False,
    ),
    "bytes": EmbeddingKind(
        make_bytes,
        equal={"word_length": "word_bytes"},
        prepared=Prepared("characters", "has no bytes of words", "--config.data.word_bytes"),
        counts_words=True,
        beyond_ids="it reads the bytes of words",
        distributes=False,
    ),
}


def check_arrays(embedding, data) -> None:
    """Raises UserError unless `config.data` has the arrays that `config.embedding` reads."""
    kind = EMBEDDINGS[embedding.name]
    for name, prepared in kind.equal.items():
        if data.get(prepared) != embedding[name]:
            raise UserError(
                f"--config.data.{prepared}={data.get(prepared)} must be {embedding[name]}, as "
                f"config.embedding.{name} is."
            )
    is_frozen = embedding.name == "words" and not embedding.get("trainable", True)
    if is_frozen and data.corpus == "table" and not data.vectors:
        raise UserError(
            "--config.embedding.trainable=False would leave random vectors as they are; name "
            "--config.data.vectors, or train them."
        )
    for name, reason in kind.required.items():
        if not data.get(name):
            raise UserError(
                f"--config.embedding.name={embedding.name} {reason}: set --config.data.{name}=True."
            )
    if embedding.get("phrases") == "cut" and not data.get("contexts"):
        raise UserError(
            "--config.embedding.phrases=cut reads the sentences around phrases: set "
            "--config.data.contexts=True."
        )
