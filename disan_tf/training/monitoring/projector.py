"""The word vectors of a trained model in TensorBoard's embedding projector."""

from pathlib import Path
from typing import Optional

import numpy as np
from tensorboard.plugins import projector

from disan_tf.common.files import write_atomically
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.layers.embedding.words import WordEmbedding
from disan_tf.text.lookup import FIRST_WORD_ID

WORDS = 2000  # the most frequent; the browser projects them again and again
VECTORS, LABELS, NAME = "word_vectors.tsv", "words.tsv", "word vectors"


def write_projector(directory: Path, model, corpus: PreparedCorpus) -> None:
    """Writes the vectors of the most frequent training words, their labels and the tab's settings.

    A model that reads words through a biLM alone has no such vectors: nothing is written.

    Args:
      directory: `<workdir>/tensorboard`.
      model: the `SentenceModel`.
      corpus: on which it was trained.
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
    projector.visualize_embeddings(str(directory), config)


def _table(model) -> Optional[WordEmbedding]:
    """The words' layer that is trained, or else the first one with trainable words."""
    tables = [each for each in model.submodules if isinstance(each, WordEmbedding)]
    tables = [each for each in tables if each.trainable_words]
    return next((each for each in tables if each.trainable), tables[0] if tables else None)


def _frequent(corpus, count) -> np.ndarray:
    """Rows of the trainable table, the most frequent word first."""
    train = corpus.split("train")
    times = np.zeros(FIRST_WORD_ID + count, np.int64)
    for ids in train.ids.values():
        times += np.bincount(ids, minlength=len(times))[: len(times)]
    return np.argsort(-times[FIRST_WORD_ID:], kind="stable")[:WORDS]


def label(word: str) -> str:
    """The word on a line of its own: no line may be empty, and none has columns."""
    return " ".join(word.split()) or "(empty)"
