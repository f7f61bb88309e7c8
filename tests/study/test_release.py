"""How a model is released: its copy, its card, and its row in the manifest."""

import shutil
from unittest import mock

import h5py
import numpy as np
import pytest

from data_prep.prepare import prepare
from disan_tf.common import atomic
from disan_tf.common.atomic import write_json
from disan_tf.common.errors import UserError
from disan_tf.common.files import sha256
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.models import SentenceClassifier
from disan_tf.runs.bundle import load_bundle, read_info
from disan_tf.serving.presets import find_bundle, read_manifest
from disan_tf.study.release import choose_precision, licence_row, model_card, release
from disan_tf.training.evaluation import evaluate
from tests.support.models.bundles import RELATEDNESS, make_pair_bundle
from tests.support.runs.training import corpus_of, make_loop, tiny_config, with_few_operations


@pytest.fixture(scope="module")
def workdir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    config = with_few_operations(tiny_config(steps=10))
    make_loop(config, corpus_of(config, folder / "corpus"), folder).run()
    (folder / "evaluation").mkdir()
    for split, accuracy in (("dev", 0.5), ("test", 0.25)):
        scores = {"accuracy": accuracy, "step": read_info(folder / "best")["scores"]["step"]}
        write_json(folder / "evaluation" / f"{split}.json", scores)
    return folder


def test_a_released_model_is_found_by_name_and_has_a_card(workdir, tmp_path):
    folder = release(workdir, "small", "make small", tmp_path)
    assert find_bundle("small", tmp_path) == folder
    load_bundle(folder)
    row = read_manifest(tmp_path / "manifest.tsv")["small"]
    assert row["config"] == "disan_sst" and row["parameters"] == "429"
    assert [row[name] for name in ("criterion", "dev", "test")] == ["accuracy", "0.5000", "0.2500"]
    card = (folder / "README.md").read_text()
    assert "make small" in card and "25.00 % on test" in card


def test_a_model_of_pairs_is_released_with_its_criterion(tmp_path):
    make_pair_bundle(tmp_path, RELATEDNESS, encoder={"name": "additive", "units": 4})
    (tmp_path / "bundle").rename(tmp_path / "best")
    (tmp_path / "evaluation").mkdir()
    for split, score in (("dev", 0.5), ("test", 0.25)):
        write_json(tmp_path / f"evaluation/{split}.json", {"pearson": score, "step": 30})
    folder = release(tmp_path, "small", "make small", tmp_path / "released")
    row = read_manifest(tmp_path / "released" / "manifest.tsv")["small"]
    assert [row[name] for name in ("criterion", "dev", "test")] == ["pearson", "0.5000", "0.2500"]
    card = (folder / "README.md").read_text()
    for words in (
        "sentence_a and sentence_b -> how related they are, from 1 to 5",
        "| licence | treat the weights like the corpus: CC BY-NC-SA 3.0, no commercial use ([data",
        "Pearson's r | 0.5000 on dev, 0.2500 on test",
        "--input=pairs.txt",
    ):
        assert words in card


def test_a_model_can_be_released_again(workdir, tmp_path, monkeypatch):
    for _ in range(2):
        release(workdir, "small", "make small", tmp_path)
    monkeypatch.setattr(atomic, "sync", mock.Mock(side_effect=OSError("No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        release(workdir, "small", "make small", tmp_path)
    assert len((tmp_path / "manifest.tsv").read_text().splitlines()) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.tsv", "small"]


@pytest.fixture(scope="module")
def with_vectors(tmp_path_factory):
    """A training with a vector file, and the same corpus prepared with all of its words."""
    folder = tmp_path_factory.mktemp("vectors")
    config = with_few_operations(tiny_config(steps=10))
    config.data.vectors = "glove/small.txt"
    (folder / "data/glove").mkdir(parents=True)
    words = ["the", "film", "zebra", "is", "kettle"]  # two of them are in no tree
    numbers = np.random.default_rng(3).normal(0.0, 0.5, [len(words), 16]).round(4)
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, numbers)]
    (folder / "data/glove/small.txt").write_text("".join(lines))
    corpus = corpus_of(config, folder / "data")
    make_loop(config, corpus, folder / "run").run()
    write_json(folder / "run/run.json", {"command": "make small"})
    config.data.fixed_words = "all"
    return folder / "run", prepare(config.data, folder / "data", folder / "prepared"), numbers


@pytest.mark.parametrize("precision", ["int8", "float16"])
def test_a_released_model_gets_all_words_of_its_vectors(
    precision, with_vectors, tmp_path, monkeypatch
):
    workdir, prepared, numbers = with_vectors
    monkeypatch.setattr("disan_tf.study.release.choose_precision", lambda *_: precision)
    folder = release(workdir, "small", checkpoints=tmp_path, prepared=prepared)
    before, after = load_bundle(workdir / "best"), load_bundle(folder)
    assert {"zebra", "kettle"} <= {*after.vocabulary} - {*before.vocabulary}
    place = after.vocabulary.index("zebra") - after.info["words"][0]
    fixed = after.model.embedding.fixed.numpy()[place]
    # float16 has eight bits of eleven; int8 has steps of 1/127 or 1/20 of the largest number
    half = {"rtol": 2.0**-8 + 2.0**-11, "atol": 1e-6}
    rounded = half if precision == "float16" else {"atol": 0.51 / 20 * np.abs(numbers[2]).max()}
    np.testing.assert_allclose(fixed, numbers[2], **rounded)
    pairs = zip(before.model.encoder.weights, after.model.encoder.weights)
    for one, other in [*pairs, (before.model.embedding.trained, after.model.embedding.trained)]:
        rounded = half if precision == "float16" else {"atol": 0.51 / 127 * np.abs(one).max()}
        np.testing.assert_allclose(other, one, **rounded if one.shape.rank == 2 else {"rtol": 0})
    with h5py.File(next(folder.glob("*.weights.h5"))) as file:
        assert file["layers/word_embedding/vars/0"].dtype == np.dtype(precision)
        dense = file["layers/additive_encoder/attention/token_map/dense/vars"]
        assert [dense[name].dtype for name in "01"] == [np.dtype(precision), np.float32]
    assert f"matrices are stored as {precision};" in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    "criterion, half, coded, precision",
    [
        ("accuracy", 0.5, 0.4, "int8"),  # an example of ten
        ("accuracy", 0.5, 0.3, "float16"),
        ("accuracy", 0.5, 0.9, "int8"),
        ("pearson", 0.8500, 0.8496, "int8"),
        ("pearson", 0.8500, 0.8494, "float16"),
    ],
)
def test_int8_may_lose_one_example_or_half_a_thousandth(criterion, half, coded, precision):
    reports = ({criterion: score, "examples": 10} for score in (half, coded))
    assert choose_precision(criterion, *reports) == precision


def test_a_released_model_can_be_packed_again(with_vectors, tmp_path):
    workdir, prepared, _ = with_vectors
    folder = release(workdir, "small", checkpoints=tmp_path, prepared=prepared)
    before = load_bundle(folder).model.weights
    assert release(folder, "small", "make small", tmp_path, prepared) == folder
    for one, other in zip(before, load_bundle(folder).model.weights):
        np.testing.assert_allclose(other, one, atol=0.51 / 127 * np.abs(one).max(initial=0.0))


def test_its_scores_are_those_of_what_is_released(with_vectors, tmp_path):
    workdir, prepared, _ = with_vectors
    read = {"training_read": 30, "training_examples": 30, "official_training_examples": 40}
    series = {"mean": {"test": {"accuracy": 0.5}}, "members": [0, 0]}
    series.update(data={**read, "unit": "pairs"}, config={"train": {}})
    series["standard_deviation"] = {"test": {"accuracy": 0.01}}
    write_json(tmp_path / "results/mine.json", series)
    folder = release(workdir, "small", checkpoints=tmp_path, prepared=prepared, result="mine")
    found = evaluate(load_bundle(folder), PreparedCorpus(prepared), "test")["accuracy"]
    assert float(read_manifest(tmp_path / "manifest.tsv")["small"]["test"]) == round(found, 4)
    card = (folder / "README.md").read_text()
    for words in (
        "    make small\n",
        "the Stanford Sentiment Treebank",
        "5 of GloVe; ",
        "stored as int8",
        "mean of 2 trainings | 50.00 % (standard deviation 1.00) on test",
        "training examples | 30 of 40 pairs (75.0 %); see the [data statement]",
        "PDDL",
    ):
        assert words in card


def test_a_card_tells_the_fold_and_whether_probabilities_are_calibrated():
    info = read_info(find_bundle("demo"))
    for fold, temperature in ((None, None), (8, 1.5)):
        info["config"]["data"]["fold"] = fold
        info["scores"]["temperature"] = temperature
        card = model_card("demo", SentenceClassifier, info, {"dev": 1.0, "test": 1.0}, "command")
        assert card.lower().count("probabilit") == 1
        assert ("and fold 8, the best on dev" in card) == bool(fold)
        assert ("calibrated on dev, with the temperature 1.500" in card) == bool(fold)
        assert ("Probabilities are not calibrated" in card) != bool(fold)


def test_a_corpus_of_other_words_is_refused(with_vectors, workdir, tmp_path):
    shutil.copytree(workdir, tmp_path / "copy")
    vocabulary = tmp_path / "copy/best/vocabulary.txt"
    vocabulary.write_text(vocabulary.read_text().replace("\n", "x\n", 1))
    info = read_info(workdir / "best")
    info["sha256"]["vocabulary.txt"] = sha256(vocabulary)
    write_json(tmp_path / "copy/best/model.json", info)
    with pytest.raises(UserError, match="other training words than .*fixed_words=all"):
        release(tmp_path / "copy", "small", "x", tmp_path, with_vectors[1])


def test_an_unevaluated_model_is_not_released(workdir, tmp_path):
    (tmp_path / "best").symlink_to(workdir / "best")
    with pytest.raises(UserError, match="run --mode=evaluate with --split=dev"):
        release(tmp_path, "small", "make small", tmp_path / "released")


def test_scores_of_an_earlier_best_model_are_not_published(workdir, tmp_path):
    shutil.copytree(workdir, tmp_path / "copy")
    write_json(tmp_path / "copy/evaluation/test.json", {"accuracy": 0.25, "step": 5})
    with pytest.raises(
        UserError, match=r"test.json has the scores of step 5, .* step 10; run --mo"
    ):
        release(tmp_path / "copy", "small", "make small", tmp_path / "released")


@pytest.mark.parametrize("name", sorted({*read_manifest(CHECKPOINTS / "manifest.tsv")} - {"demo"}))
def test_the_card_of_a_released_model_names_the_licence_of_its_corpus(name):
    info = read_info(CHECKPOINTS / name)
    rows = licence_row(info["config"]["data"]["corpus"])
    lines = (CHECKPOINTS / name / "README.md").read_text().splitlines()
    assert rows and {f"| {key} | {value} |" for key, value in rows.items()} <= {*lines}
