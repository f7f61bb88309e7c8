"""Two processes that train together: the steps of one, and what happens when one of them ends."""

import signal
import time

import numpy as np
import pytest
import tensorflow as tf

from data_prep.synthetic.pairs import write_pairs
from data_prep.synthetic.treebank import write_treebank
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.training.distribution.cluster import LOST
from tests.support.runs.command import run_forked
from tests.support.runs.replicated import record_difference, weight_difference
from tests.support.runs.workers import Workers, wait_for_step

STEPS = 60
pytestmark = pytest.mark.slow
OPTIONS = {
    "resan_snli": ["--config.policy.pretrain_steps=20", "--config.policy.policy_steps=10"],
    # A feature that is the same in all pairs of a batch has a gradient of rounding alone, of which
    # RMSProp makes whole steps.
    "drcn_snli": ["--config.train.optimizer=adadelta", "--config.train.learning_rate=0.5"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    write_treebank(folder / "data", seed=0, sizes={"train": 60, "dev": 40, "test": 40})
    write_pairs(folder / "data", seed=0, sizes={"train": 200, "dev": 40, "test": 40})
    return folder


def _arguments(folder, workdir, distribution="multi_worker", config="disan_sst", steps=STEPS):
    return [
        f"--config=configs/{config}.py:tiny",
        f"--config.train.distribution={distribution}",
        f"--config.train.steps={steps}",
        "--config.train.evaluate_every=20",
        "--nopictures",
        f"--data_dir={folder / 'data'}",
        f"--prepared_dir={folder / 'prepared'}",
        f"--workdir={folder / workdir}",
        *OPTIONS.get(config, ()),
    ]


def _train(folder, workdir, config="disan_sst"):
    """Two workers that nothing stops; how they ended."""
    arguments = _arguments(folder, workdir, config=config)
    with Workers(folder / f"{workdir}-streams", arguments) as both:
        return both.wait()


def _records(folder, workdir):
    records = MetricsLog.read(folder / workdir / "metrics.jsonl")
    return [{key: value for key, value in it.items() if key != "seconds"} for it in records]


def _saved(folder, workdir):
    """Weights, slots and counts of the last checkpoint, by name; not how often it was saved."""
    path = tf.train.latest_checkpoint(str(folder / workdir / "checkpoints"))
    reader = tf.train.load_checkpoint(path)
    names = {name for name in reader.get_variable_to_shape_map() if "VARIABLE_VALUE" in name}
    names = {name for name in names if not name.startswith("save_counter/")}
    return {name: reader.get_tensor(name) for name in sorted(names)}


def _check_same(folder, workdir, other):
    ours, theirs = _saved(folder, workdir), _saved(folder, other)
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        np.testing.assert_array_equal(value, theirs[name], name)
    assert _records(folder, workdir) == _records(folder, other)


@pytest.fixture(scope="module")
def unbroken(folder):
    return _train(folder, "unbroken")


def test_two_workers_make_the_steps_of_one_process(folder, unbroken):
    assert [ended.status for ended in unbroken] == [0, 0], unbroken[1].stderr[-2000:]
    assert run_forked(*_arguments(folder, "one", "none")).returncode == 0
    assert _saved(folder, "one").keys() == _saved(folder, "unbroken").keys()
    models = [load_bundle(folder / name / "best").model for name in ("one", "unbroken")]
    assert weight_difference(*(model.weights for model in models)) < 1e-5
    assert record_difference(_records(folder, "one"), _records(folder, "unbroken")) < 1e-5


def test_the_first_worker_reports(unbroken):
    assert "stopped at step 60" in unbroken[0].stdout
    assert unbroken[1].stdout.startswith("worker 2 of 2") and unbroken[1].stdout.count("\n") == 1


def test_a_worker_checks_a_model_of_pairs_without_computing(folder):
    """TensorFlow sets up collective operations only before it computes anything."""
    arguments = _arguments(folder, "pairs", config="dsa_snli", steps=1)
    with Workers(folder / "pairs-streams", arguments, count=1) as only:
        (ended,) = only.wait()
    assert ended.status == 0, ended.stderr[-2000:]


def test_the_workers_that_are_left_end_with_a_sentence_and_all_go_on(folder, unbroken):
    workdir, killed = "killed", 0
    with Workers(folder / f"{workdir}-streams", _arguments(folder, workdir)) as both:
        wait_for_step(folder / workdir, 20, both.processes)
        both.processes[killed].kill()
        started = time.monotonic()
        left = both.wait()[1 - killed]
    assert time.monotonic() - started < 60
    assert left.status == LOST
    assert left.stderr.count("run.py: another worker ended or cannot be reached") == 1
    assert "Traceback" not in left.stderr
    assert [ended.status for ended in _train(folder, workdir)] == [0, 0]
    _check_same(folder, workdir, "unbroken")


def test_sigterm_to_one_worker_stops_all_with_a_checkpoint_of_the_step(folder, unbroken):
    workdir, asked = "terminated", 1
    with Workers(folder / f"{workdir}-streams", _arguments(folder, workdir)) as both:
        wait_for_step(folder / workdir, 10, both.processes)
        both.processes[asked].send_signal(signal.SIGTERM)
        ended = both.wait()
    assert [it.status for it in ended] == [143, 143]
    assert all("run.py: stopped by SIGTERM after step" in it.stderr for it in ended)
    assert [it.status for it in _train(folder, workdir)] == [0, 0]
    _check_same(folder, workdir, "unbroken")
