"""data_prep/transfer_tasks.py: the tasks of SentEval, their divisions, labels and refusals."""

import numpy as np
import pytest
from ml_collections import ConfigDict

from data_prep.corpora import sick
from data_prep.transfer_tasks import read_tasks, read_vectors
from tests.support.corpora.transfer import write_transfer_corpora
from tests.support.errors import user_error


@pytest.fixture
def data_dir(tmp_path):
    return write_transfer_corpora(tmp_path / "data")


def read(data_dir, name):
    (task,) = read_tasks(data_dir, [name])
    return task


def test_every_task_is_divided_as_in_senteval(data_dir):
    divisions = {task.name: tuple(task.texts) for task in read_tasks(data_dir)}
    divided = ("train", "dev", "test")
    assert divisions == {
        "cr": ("all",),
        "mpqa": ("all",),
        "subj": ("all",),
        "trec": ("train", "test"),
        "sst_2": divided,
        "sick_entailment": divided,
        "sick_relatedness": divided,
    }


@pytest.mark.parametrize("name", ["cr", "mpqa", "subj"])
def test_undivided_tasks_have_every_sentence_once(data_dir, name):
    task = read(data_dir, name)
    assert len(set(task.texts["all"])) == len(task.texts["all"]) == 24
    for (text,), label in zip(task.texts["all"], task.labels["all"]):
        assert ("bad", "good")[label] in text


def test_the_whole_of_trec_is_trained_on_but_its_test_questions(data_dir):
    task = read(data_dir, "trec")
    assert [len(task.labels[split]) for split in ("train", "test")] == [72, 12]
    assert np.bincount(task.labels["train"]).tolist() == [12] * 6
    assert list(task.inputs) == ["trec/train_5500.label", "trec/TREC_10.label"]
    assert all(len(file["sha256"]) == 64 for file in task.inputs.values())


def test_sst_2_trains_on_phrases_of_two_classes_and_is_scored_on_sentences(data_dir):
    task = read(data_dir, "sst_2")
    assert min(len(text.split()) for (text,) in task.texts["train"]) == 1
    assert min(len(text.split()) for (text,) in task.texts["test"]) > 1
    for labels in task.labels.values():
        assert set(labels.tolist()) == {0, 1}


def test_sick_has_judgments_for_one_task_and_scores_for_the_other(data_dir):
    entailment, relatedness = read_tasks(data_dir, ["sick_entailment", "sick_relatedness"])
    assert entailment.texts == relatedness.texts
    assert entailment.texts["dev"][0] == ("The soup is hot", "The soup is n't hot")
    assert entailment.labels["test"].tolist() == [0, 1, 2] * 3
    assert relatedness.labels["test"].tolist() == [1.5, 3.2, 4.9] * 3


def _shorten(text):
    return text.partition("\n")[2]


@pytest.mark.parametrize(
    "name, path, change, message",
    [
        ("sst_3", "polarity/mpqa.all", str, "--tasks=sst_3 must be cr, mpqa"),
        ("mpqa", "polarity/mpqa.all", lambda text: "", "polarity/mpqa.all holds no sentence"),
        ("cr", "polarity/custrev.all", _shorten, "the training part of cr has 11 examples of neg"),
        (
            "sick_entailment",
            sick.FILES["dev"],
            lambda text: text.replace("NEUTRAL", "UNSURE"),
            "SICK_trial.txt, line 3: entailment_judgment 'UNSURE' is not CONTRADICTION",
        ),
    ],
)
def test_unknown_tasks_and_unfit_corpora_are_refused(data_dir, name, path, change, message):
    (data_dir / path).write_text(change((data_dir / path).read_text()))
    found = user_error(read_tasks, data_dir, [name])
    assert message in found and ("did you mean sst_2?" in found) == (name == "sst_3")


def vectors_of(data_dir, rows, *words, **changed):
    (data_dir / "glove").mkdir()
    (data_dir / "glove/own.2d.txt").write_text("".join(f"{row}\n" for row in rows))
    options = ConfigDict({"vectors": "glove/own*.txt", "embedding_dim": 2, **changed})
    return read_vectors(data_dir, options, words)


def test_vectors_are_those_of_the_words_that_the_file_knows(data_dir):
    rows = ["hot 1 2", "Rice 3 4", "cold 5 6"]
    words, matrix, files = vectors_of(data_dir, rows, "rice", "nothing", "hot")
    assert (words, list(files)) == (("rice", "hot"), ["glove/own.2d.txt"])
    np.testing.assert_array_equal(matrix, [[3, 4], [1, 2]])


def test_vectors_of_a_model_with_padded_vectors_are_padded(data_dir):
    padded = {"embedding_dim": 5, "vector_dim": 2}
    words, matrix, _ = vectors_of(data_dir, ["hot 1 2"], "hot", **padded)
    assert words == ("hot",) and matrix[0, :2].tolist() == [1, 2]
    assert matrix.shape == (1, 5) and np.all(matrix[0, 2:])


def test_a_file_without_any_of_the_words_is_refused(data_dir):
    message = user_error(vectors_of, data_dir, ["hot 1 2"], "rice")
    assert "own.2d.txt has no word of the tasks" in message
