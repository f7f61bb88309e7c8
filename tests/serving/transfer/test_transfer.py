"""`--mode=transfer`: which vectors are compared, and what is recorded."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from data_prep.transfer_tasks import read_tasks
from disan_tf.common.errors import UserError
from disan_tf.reporting.other_tables import transfer_tables
from disan_tf.serving.inference.model import LoadedModel
from disan_tf.serving.transfer import classifiers, main
from disan_tf.serving.transfer.encoders import MEAN, RANDOM, TRAINED, distinct_words, make_encoders
from tests.support.corpora.transfer import write_transfer_corpora
from tests.support.models.bundles import SENTENCES

WORDS = ("film", "good", "boring")
VECTORS = np.arange(48, dtype=np.float32).reshape(3, 16) / 48.0
FILE = {"glove/own.txt": {"sha256": "1234", "bytes": 9}}
TEXTS = ["A good film .", "boring", "", "unknown"]


@pytest.fixture(scope="module")
def with_vectors(bundle):
    """The bundle of a model that was trained with a file of word vectors."""
    config = bundle.config.copy_and_resolve_references()
    with config.unlocked():
        config.data.vectors = "glove/own.txt"
    return dataclasses.replace(bundle, config=config)


@pytest.fixture(scope="module")
def encoders(with_vectors):
    return make_encoders(with_vectors, WORDS, VECTORS)


def test_the_model_s_vectors_are_those_that_users_get(bundle, encoders):
    expected = LoadedModel(bundle).encode(SENTENCES)
    np.testing.assert_array_equal(encoders[TRAINED].encode(SENTENCES), expected)


def test_the_mean_is_over_the_words_that_have_a_vector(encoders):
    good_film = (VECTORS[0] + VECTORS[1]) / 2
    expected = [good_film, VECTORS[2], np.zeros(16), np.zeros(16)]
    np.testing.assert_allclose(encoders[MEAN].encode(TEXTS), expected, rtol=1e-6)


@pytest.mark.slow
def test_random_weights_read_the_same_vectors(with_vectors, encoders):
    vectors = encoders[RANDOM].encode(TEXTS)
    assert vectors.shape == encoders[TRAINED].encode(TEXTS).shape
    np.testing.assert_array_equal(vectors[2], vectors[3])  # no known word in either
    again = make_encoders(with_vectors, WORDS, VECTORS)[RANDOM].encode(TEXTS)
    np.testing.assert_array_equal(vectors, again)
    others = make_encoders(with_vectors, WORDS, VECTORS + 1.0)[RANDOM].encode(TEXTS)
    assert np.abs(vectors[0] - others[0]).max() > 1e-3


def test_known_tokens_are_those_with_a_word_of_the_encoder(encoders):
    assert encoders[MEAN].known_tokens(["a good film .", "boring zzz"]) == pytest.approx(3 / 6)
    assert encoders[TRAINED].known_tokens(["a good film .", "boring zzz"]) == pytest.approx(5 / 6)


def test_words_are_looked_up_as_the_model_does(bundle):
    assert distinct_words(bundle, ["Good good film", "It's"]) == ["good", "film", "it", "'s"]


def test_pairs_are_told_by_difference_and_product():
    first, second = np.array([[1.0, -2.0]]), np.array([[3.0, 4.0]])
    np.testing.assert_array_equal(main.pair_features(first, second), [[2, 6, 3, -8]])


@pytest.fixture(scope="module", autouse=True)
def _few_folds():
    """Three folds and one strength, which take a fiftieth of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classifiers, "FOLDS", 3)
        patch.setattr(classifiers, "STRENGTHS_OF_FOLDS", (1.0,))
        yield


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    data_dir = write_transfer_corpora(tmp_path_factory.mktemp("data"))
    return read_tasks(data_dir, ["trec", "sick_entailment", "sick_relatedness"])


@pytest.fixture(scope="module")
def recorded(with_vectors, tasks, tmp_path_factory):
    """The folder of a result, and the result."""
    folder = tmp_path_factory.mktemp("results")
    asked = []

    def read_vectors(words):
        asked.extend(words)
        return WORDS, VECTORS, FILE

    path = main.transfer(with_vectors, tasks, read_vectors, folder / "transfer")
    assert {"which", "soup", "isn", "n't"} & set(asked) >= {"which", "soup", "n't"}
    return folder, json.loads(path.read_text())


def test_a_result_has_the_scores_of_all_encoders_on_all_tasks(recorded, tasks):
    _, result = recorded
    assert list(result["scores"]) == [TRAINED, MEAN, RANDOM]
    for scores in result["scores"].values():
        assert list(scores) == [task.name for task in tasks]
        assert 0 <= scores["trec"]["test"]["accuracy"] <= 1
        assert set(scores["sick_relatedness"]["test"]) == {"pearson", "spearman", "mse"}
    assert result["scores"][MEAN]["trec"]["dim"] == 16
    assert result["vectors"] == "glove/own.txt" and result["protocol"] == {
        "folds": 10,
        "seed": 1111,
    }
    assert {"sick/SICK_train.txt", "glove/own.txt"} <= result["inputs"].keys()


def test_tasks_that_were_scored_are_not_scored_again(recorded, with_vectors, tasks, monkeypatch):
    folder, result = recorded
    monkeypatch.setattr(main, "score_vectors", lambda x, y: pytest.fail("is scored again"))
    path = main.transfer(
        with_vectors, tasks[:1], lambda words: (WORDS, VECTORS, FILE), folder / "transfer"
    )
    assert json.loads(path.read_text()) == result


def test_scores_on_other_word_vectors_are_forgotten(recorded, with_vectors, tasks, tmp_path):
    folder, result = recorded
    (tmp_path / "bundle.json").write_text(json.dumps(result))
    other = {"glove/own.txt": {"sha256": "5678", "bytes": 9}}
    path = main.transfer(with_vectors, tasks[:1], lambda words: (WORDS, VECTORS, other), tmp_path)
    again = json.loads(path.read_text())
    assert [list(scores) for scores in again["scores"].values()] == [["trec"]] * 3
    assert again["inputs"]["glove/own.txt"]["sha256"] == "5678"


@pytest.mark.slow
def test_a_second_run_gives_the_same_scores(recorded, with_vectors, tasks, tmp_path):
    path = main.transfer(with_vectors, tasks[:1], lambda words: (WORDS, VECTORS, FILE), tmp_path)
    scores = json.loads(Path(path).read_text())["scores"]
    for name, by_task in recorded[1]["scores"].items():
        assert {**scores[name]["trec"], "seconds": 0} == {**by_task["trec"], "seconds": 0}


def test_a_result_is_named_for_the_model_or_its_work_directory(bundle):
    assert main.result_name(bundle) == "bundle"
    inside = dataclasses.replace(bundle, directory=Path("runs/disan_snli/best"))
    assert main.result_name(inside) == "disan_snli"


def test_the_report_has_a_row_for_each_encoder(recorded):
    folder, result = recorded
    tables = transfer_tables(folder)
    rows = [line for line in tables["transfer.md"].splitlines() if line.startswith("| ")]
    assert rows[2].startswith("| `bundle`, step 30 | 32 |")
    assert rows[3].startswith("| mean of the word vectors of glove/own.txt | 16 |")
    assert rows[4].startswith("| disan with random weights on these word vectors | 32 |")
    accuracy = 100 * result["scores"][MEAN]["trec"]["test"]["accuracy"]
    assert f" {accuracy:.1f} " in rows[3]
    assert tables["transfer.csv"].count("\n") == 1 + 3 * 3


def test_nothing_recorded_gives_no_table(tmp_path):
    assert transfer_tables(tmp_path) == {}


def test_a_damaged_result_is_named(recorded):
    folder, result = recorded
    (folder / "transfer/damaged.json").write_text(json.dumps({**result, "scores": []}))
    with pytest.raises(UserError, match=r"damaged.json: scores must be an object; run"):
        transfer_tables(folder)
    (folder / "transfer/damaged.json").unlink()


def test_a_model_without_a_file_of_vectors_stands_alone(bundle, tasks, tmp_path, capsys):
    path = main.transfer(bundle, tasks[:1], lambda words: pytest.fail("is not read"), tmp_path)
    result = json.loads(path.read_text())
    assert list(result["scores"]) == [TRAINED] and result["vectors"] is None
    assert "neither of the baselines" in capsys.readouterr().out


def test_a_model_that_reads_two_sentences_together_is_refused(bundle, tasks, tmp_path, monkeypatch):
    specs = {name: spec for name, spec in bundle.model.signatures().items() if name != "encode"}
    monkeypatch.setattr(bundle.model, "signatures", lambda: specs)
    with pytest.raises(UserError, match="has no vector of one alone"):
        main.transfer(bundle, tasks, None, tmp_path)
