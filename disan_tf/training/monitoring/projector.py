"""Writes a trained model's word vectors for TensorBoard's embedding projector."""

from pathlib import Path
from typing import Optional

import numpy as np
from google.protobuf import text_format
from tensorboard.plugins import projector

from disan_tf.common.files import write_atomically
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.layers.embedding.words import WordEmbedding
from disan_tf.text.lookup import FIRST_WORD_ID

WORDS = 2000  # the most frequent; the browser computes projections of them
VECTORS, LABELS, NAME = "word_vectors.tsv", "words.tsv", "word vectors"
SETTINGS = "projector_config.pbtxt"  # where TensorBoard looks for them


def write_projector(directory: Path, model, corpus: PreparedCorpus) -> None:
    """Writes the vectors of the most frequent training words, their labels and the tab's settings.

    Writes nothing for a model without word vectors, which reads words through a biLM alone.

    Args:
      directory: `<workdir>/tensorboard`.
      model: the `SentenceModel`.
      corpus: the corpus of its training.
    """
    table = _table(model)
    if table is None:
        return
    rows = _frequent(corpus, table.trainable_words)
    vectors, words = table.trained.numpy()[rows], corpus.vocabulary
    lines = ("\t".join(f"{number:.5g}" for number in vector) for vector in vectors)
    write_atomically(directory / VECTORS, "".join(f"{line}\n" for line in lines))
    write_atomically(directory / LABELS, "".join(f"{label(words[row])}\n" for row in rows))
    config = projector.ProjectorConfig()
    config.embeddings.add(tensor_name=NAME, tensor_path=VECTORS, metadata_path=LABELS)
    write_atomically(directory / SETTINGS, text_format.MessageToString(config))


def _table(model) -> Optional[WordEmbedding]:
    """Returns the trained word embedding, or else the first one with trainable words."""
    tables = [layer for layer in model.submodules if isinstance(layer, WordEmbedding)]
    tables = [table for table in tables if table.trainable_words]
    return next((table for table in tables if table.trainable), tables[0] if tables else None)


def _frequent(corpus, count) -> np.ndarray:
    """Returns the trainable table's rows, the most frequent word first."""
    train = corpus.split("train")
    times = np.zeros(FIRST_WORD_ID + count, np.int64)
    for ids in train.ids.values():
        times += np.bincount(ids, minlength=len(times))[: len(times)]
    return np.argsort(-times[FIRST_WORD_ID:], kind="stable")[:WORDS]


def label(word: str) -> str:
    """Returns a word's line in the labels' file, which may neither be empty nor hold tabs."""
    return " ".join(word.split()) or "(empty)"
