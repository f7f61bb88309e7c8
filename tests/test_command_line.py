"""run.py from outside: what it does, and one sentence with status 2 for every mistake."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from data_prep.synthetic.treebank import write_treebank
from tests.support.training_runs import ROOT

TINY = "--config=configs/disan_sst.py:tiny"


def run(*arguments, text=None):
    """Runs the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "run.py", *map(str, arguments)], cwd=ROOT, input=text,
        capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def assert_refused(outcome, *words):
    assert outcome.returncode == 2, outcome.stderr
    assert outcome.stderr.startswith("run.py: ") and outcome.stderr.count("\n") == 1
    for word in words:
        assert word in outcome.stderr


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_treebank(folder, 0, {"train": 60, "dev": 40, "test": 40})
    return folder


@pytest.fixture(scope="module")
def workdir(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    outcome = run(TINY, f"--data_dir={data}", f"--workdir={folder}")
    assert outcome.returncode == 0, outcome.stderr
    assert "5,445 parameters" in outcome.stdout and "tokens a step" in outcome.stdout
    return folder


@pytest.fixture
def trees(tmp_path):
    """A private copy of a treebank for a test to break."""
    write_treebank(tmp_path / "data", 0, {"train": 60, "dev": 40, "test": 40})
    return tmp_path / "data" / "sst" / "trees"


def test_training_fills_the_work_directory(workdir):
    names = {path.name for path in workdir.iterdir()}
    expected = {"config.json", "run.json", "checkpoints", "best", "metrics.jsonl", "tensorboard"}
    assert expected <= names
    described = json.loads((workdir / "run.json").read_text())
    assert described["parameters"] == 5445
    assert described["versions"]["tensorflow"].startswith("2.15")


def test_training_again_goes_on_with_more_steps(workdir, data, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(workdir, folder)
    more = run(TINY, f"--data_dir={data}", f"--workdir={folder}", "--config.train.steps=60")
    assert more.returncode == 0, more.stderr
    assert "stopped at step 60" in more.stdout


def test_evaluation_prints_and_writes_scores(workdir, data):
    outcome = run("--mode=evaluate", f"--workdir={workdir}", f"--data_dir={data}")
    assert outcome.returncode == 0, outcome.stderr
    assert "accuracy" in outcome.stdout
    report = json.loads((workdir / "evaluation" / "test.json").read_text())
    assert report["examples"] == 40


def test_prediction_answers_every_line_in_order(workdir):
    lines = ["the film is good .", "", "its plot was awful ."]
    outcome = run("--mode=predict", f"--workdir={workdir}", text="\n".join(lines) + "\n")
    assert outcome.returncode == 0, outcome.stderr
    answers = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert [answer["text"] for answer in answers] == lines
    for answer in answers:
        assert sum(answer["probabilities"].values()) == pytest.approx(1.0, abs=1e-5)


def test_attention_tensors_are_written(workdir, tmp_path):
    outcome = run(
        "--mode=attend", f"--workdir={workdir}", f"--output={tmp_path / 'attention'}",
        text="the film is good .\n",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    with np.load(tmp_path / "attention" / "00001.npz") as tensors:
        assert tensors["forward_attention"].shape == (5, 5, 16)


def test_an_export_lies_in_the_work_directory(workdir):
    outcome = run("--mode=export", f"--workdir={workdir}")
    assert outcome.returncode == 0, outcome.stderr
    assert (workdir / "saved_model" / "saved_model.pb").is_file()
    assert (workdir / "saved_model_ids" / "saved_model.pb").is_file()


def test_the_benchmark_prints_and_writes_what_it_measured(tmp_path):
    outcome = run(
        "--mode=benchmark", TINY, "--benchmark_parts=step", "--repetitions=1",
        f"--output={tmp_path / 'bench.json'}",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert "Training step and inference" in outcome.stdout
    measured = json.loads((tmp_path / "bench.json").read_text())
    assert {record["kind"] for record in measured["step"]} == {"train", "inference"}


def test_a_benchmark_that_does_not_fit_the_config_is_refused():
    outcome = run("--mode=benchmark", TINY, "--benchmark_parts=epoch")
    assert_refused(outcome, "disan_sst is not for them", "--benchmark_parts")


def test_the_released_demo_answers():
    outcome = run(
        "--mode=predict", "--checkpoint=demo",
        text="the plot is superb but the acting is awful .\nthe acting is awful .\n",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    labels = [json.loads(line)["label"] for line in outcome.stdout.splitlines()]
    assert labels == ["negative", "negative"]


def test_doctor_prints_versions_devices_and_data(data):
    outcome = run("--mode=doctor", f"--data_dir={data}")
    assert outcome.returncode == 0, outcome.stderr
    for word in ("tensorflow 2.15.1", "device", "threads", "corpus sst: 3 files", "vectors: none"):
        assert word in outcome.stdout


def test_an_unknown_variant_is_refused(tmp_path):
    outcome = run("--config=configs/disan_sst.py:huge", f"--workdir={tmp_path / 'run'}")
    assert_refused(outcome, "'huge'", "binary, multi_head, official, sentence, source2token, tiny")
    assert not (tmp_path / "run").exists()


def test_an_unknown_override_is_refused(tmp_path):
    outcome = run(TINY, "--config.train.batchsize=3", f"--workdir={tmp_path / 'run'}")
    assert_refused(outcome, "batchsize")


def test_an_override_of_the_wrong_type_is_refused(tmp_path):
    outcome = run(TINY, "--config.train.batch_size=many", f"--workdir={tmp_path / 'run'}")
    assert_refused(outcome, "batch_size", "many")


def test_a_missing_config_file_is_refused(tmp_path):
    outcome = run("--config=configs/nothing.py", f"--workdir={tmp_path / 'run'}")
    assert_refused(outcome, "configs/nothing.py")


def test_a_missing_flag_is_named():
    assert_refused(run(TINY), "--mode=train needs --workdir")


def test_an_unknown_flag_is_refused():
    assert_refused(run("--word_dir=x"), "word_dir")


def test_another_config_in_the_work_directory_is_refused(workdir, data):
    before = (workdir / "config.json").read_text()
    outcome = run(TINY, f"--data_dir={data}", f"--workdir={workdir}", "--config.train.l2=0.5")
    assert_refused(outcome, str(workdir), "train.l2 (0.0001 there, 0.5 here)")
    assert (workdir / "config.json").read_text() == before


@pytest.mark.parametrize(
    "content, words",
    [
        (b"(2 (2 the) (3 good)", ["train.txt", "line 2"]),
        (b"(7 (2 the) (3 good))", ["train.txt", "line 2", "7"]),
        (b"(2 (2 caf\xe9) (3 good))", ["train.txt", "line 2", "0xe9", "UTF-8"]),
    ],
    ids=["truncated", "label", "encoding"],
)
def test_a_broken_tree_is_named_with_its_line(trees, tmp_path, content, words):
    (trees / "train.txt").write_bytes(b"(3 (2 the) (3 good))\n" + content + b"\n")
    outcome = run(TINY, f"--data_dir={tmp_path / 'data'}", f"--workdir={tmp_path / 'run'}")
    assert_refused(outcome, *words)
    assert not list((tmp_path / "run" / "prepared").iterdir())


def test_an_empty_corpus_file_is_refused(trees, tmp_path):
    (trees / "dev.txt").write_bytes(b"")
    outcome = run(TINY, f"--data_dir={tmp_path / 'data'}", f"--workdir={tmp_path / 'run'}")
    assert_refused(outcome, "dev.txt", "empty")


def test_an_absent_corpus_is_refused_with_the_way_to_get_it(tmp_path):
    outcome = run(TINY, f"--data_dir={tmp_path}", f"--workdir={tmp_path / 'run'}")
    assert_refused(outcome, "sst/trees", "python -m data_prep.download sst")


def test_vectors_of_another_dimension_are_refused(trees, tmp_path):
    vectors = tmp_path / "data" / "glove" / "short.txt"
    vectors.parent.mkdir()
    vectors.write_text("the 0.1 0.2 0.3\n")
    outcome = run(
        TINY, "--config.data.vectors=glove/short.txt",
        f"--data_dir={tmp_path / 'data'}", f"--workdir={tmp_path / 'run'}",
    )  # fmt: skip
    assert_refused(outcome, "short.txt", "3", "16")


def test_absent_vectors_are_refused_with_those_that_are_there(trees, tmp_path):
    (tmp_path / "data" / "glove").mkdir()
    (tmp_path / "data" / "glove" / "mine.txt").write_text("the 0.1\n")
    outcome = run(
        TINY, "--config.data.vectors=glove/other.txt",
        f"--data_dir={tmp_path / 'data'}", f"--workdir={tmp_path / 'run'}",
    )  # fmt: skip
    assert_refused(outcome, "other.txt", "mine.txt", "--config.data.vectors")


def test_a_corrupt_checkpoint_is_refused(workdir, data, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(workdir, folder)
    part = next((folder / "checkpoints").glob("step-50.data*"))
    part.write_bytes(part.read_bytes()[:1000])
    outcome = run(TINY, f"--data_dir={data}", f"--workdir={folder}", "--config.train.steps=60")
    assert_refused(outcome, "step-50", "cannot be restored")


def test_a_changed_model_is_refused(workdir, tmp_path):
    shutil.copytree(workdir / "best", tmp_path / "best")
    (tmp_path / "best" / "vocabulary.txt").write_text("other\n")
    outcome = run("--mode=predict", f"--checkpoint={tmp_path}", text="good\n")
    assert_refused(outcome, "vocabulary.txt", "damaged or was changed")


def test_an_unknown_checkpoint_is_refused_with_the_known_names():
    assert_refused(run("--mode=predict", "--checkpoint=nobody", text=""), "nobody", "known: demo")
