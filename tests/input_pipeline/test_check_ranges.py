"""disan_tf/input_pipeline/check_ranges.py: numbers that no preparation writes are refused."""

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus
from tests.support.corpora.manifests import save_array, write_manifest
from tests.support.corpora.pairs import make_score_corpus
from tests.support.corpora.two_examples import ARRAYS, CLASSES, refusal


@pytest.mark.parametrize(
    "name, array, reason",
    [
        ("dev.sentence.ids", [2, 3, 10**6, 2], "holds numbers from 2 to 1000000, not 1 to 4"),
        ("dev.sentence.ids", [2, 0, 4, 2], "holds numbers from 0 to 4, not 1 to 4"),
        ("dev.sentence.ids", [2, -3, 4, 2], "holds numbers from -3 to 4, not 1 to 4"),
        ("dev.label", [77, 0], "holds numbers from 0 to 77, not 0 to 2"),
        ("dev.label", [2, -1], "holds numbers from -1 to 2, not 0 to 2"),
        ("dev.sentence.offsets", [0, 4, 4], "does not increase by at least 1 at each step"),
        ("dev.sentence.offsets", [0, 5, 4], "does not increase by at least 1 at each step"),
        ("dev.sentence.offsets", [1, 3, 4], "does not begin at 0 and end at 4"),
    ],
)
def test_numbers_out_of_range_are_refused(name, array, reason, directory):
    save_array(directory, name, np.array(array, ARRAYS[name].dtype))
    assert refusal(directory) == (
        f"{directory}: {name}.npy {reason}; delete the directory and prepare the corpus again with "
        "--mode=prepare."
    )


@pytest.mark.parametrize("score", [0.5, 5.5, np.nan, np.inf])
def test_scores_out_of_range_are_refused(score, tmp_path):
    corpus = make_score_corpus(tmp_path / "scores")
    labels = np.array(corpus.split("dev").labels)
    labels[3] = score
    save_array(corpus.directory, "dev.label", labels)
    with pytest.raises(UserError, match=r"dev.label.npy holds numbers from .*, not 1.0 to 5.0"):
        PreparedCorpus(corpus.directory).split("dev")


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(number, directory):
    save_array(directory, "embeddings", np.array([[0, 1], [number, 2], [3, 4]], np.float32))
    assert "embeddings.npy does not hold finite vectors of 3 words" in refusal(directory)


def test_genres_that_the_corpus_does_not_name_are_refused(directory):
    np.save(directory / "dev.genre.npy", np.array([b"fiction", b"trav\xff"]))
    write_manifest(directory, CLASSES, (2, 1), sizes={"dev": 2}, GENRES=["fiction", "travel"])
    assert "dev.genre.npy holds genres beside fiction, travel" in refusal(directory)
