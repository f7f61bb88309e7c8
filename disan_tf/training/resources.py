"""Reads the resources of a model from the prepared corpus and from files."""

from dataclasses import replace

import numpy as np

from disan_tf.common.errors import UserError
from disan_tf.elmo.bilm import official_tensors
from disan_tf.elmo.cache import cache_layers
from disan_tf.elmo.official_files import load_bilm, read_options
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.models.base import Resources
from disan_tf.models.embeddings import EMBEDDINGS
from disan_tf.models.factory import TASKS
from disan_tf.models.language_model import BOUNDARIES


def gather_resources(
    embedding, dtype: str, corpus: PreparedCorpus
) -> tuple[Resources, PreparedCorpus]:
    """Reads the resources of a model; computes the biLM's layers, if cached.

    Returns the resources, and the corpus, with the biLM's layers if the embedding caches them.
    Raises UserError if the corpus lacks word features that the embedding reads, or see
    `disan_tf.elmo`.
    """
    kind = EMBEDDINGS[embedding.name]
    prepared = kind.prepared
    if prepared and not getattr(corpus, prepared.name):
        raise UserError(f"{corpus.directory} {prepared.lack}; prepare it with {prepared.flag}.")
    resources = Resources(corpus.words, len(corpus.classes), corpus.vectors)
    if kind.counts_words:  # how often a language model must predict each word and boundary
        split = corpus.split("train")
        counts = np.bincount(split.ids["sentence"], minlength=sum(corpus.words) + 2)
        counts = np.concatenate([[len(split)] * BOUNDARIES, counts[1:]])
        resources = replace(resources, word_counts=counts)
    if kind.reads_bilm:
        bilm, options = load_bilm(*corpus.bilm, dtype=dtype), read_options(corpus.bilm[0])
        weights = {name: weight.numpy() for name, weight in official_tensors(bilm).items()}
        resources = replace(resources, bilm=options, bilm_weights=weights)
        if embedding.cached:
            corpus = corpus.with_layers(cache_layers(corpus, bilm, embedding.phrases))
    return resources, corpus


def check_prepared(corpus: PreparedCorpus, config) -> None:
    """Checks that a prepared corpus has what the training of a `Config` reads.

    Raises:
      UserError: the corpus lacks the sentences or the labels that the task reads, or a split, or
        has fewer training examples.
    """
    task, examples = TASKS[config.task.name], config.train.batches.examples
    fields = [" and ".join(names) for names in (corpus.fields, task.fields)]
    kinds = [
        "scores" if is_score else "classes"
        for is_score in (corpus.scores, task.label_dtype.is_floating)
    ]
    for present, wanted in (fields, kinds):
        if present != wanted:
            raise UserError(
                f"{corpus.directory} holds {present}, but the task of the config reads {wanted}; "
                "choose a config.task.name that fits config.data.corpus."
            )
    for name in ("dev", *config.evaluate.splits):
        corpus.split(name)
    available = len(corpus.split("train"))
    if examples > available:
        raise UserError(
            f"--config.train.examples={examples} is more than the {available} training examples of "
            "the corpus; 0 takes all."
        )
