"""Trainings with hard attention: phases, resume, precision, figures, alarms, refusals."""

import itertools
from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.input_pipeline import PreparedCorpus, evaluation_batches, make_dataset
from disan_tf.runs.bundle import load_bundle
from disan_tf.training.evaluation import evaluate
from disan_tf.training.methods.policy_gradient import PHASES
from tests.support.corpora.pairs import make_pair_corpus
from tests.support.runs.training import (
    check_resumes,
    make_loop,
    records_of,
    run_loop,
    tiny_config,
    with_few_operations,
)

STEPS = {"steps": 32, "window": 1, "evaluate_every": 4, "checkpoint_every": 4, "log_every": 2}
LIMITS = {"pretrain_steps": 8, "policy_steps": 5}  # so that a phase ends between two log steps


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> PreparedCorpus:
    return make_pair_corpus(tmp_path_factory.mktemp("hard_pairs") / "corpus")


def _config(dtype="float32", **policy):
    config = with_few_operations(tiny_config(name="resan_snli", dtype=dtype, **STEPS))
    config.policy.update({**LIMITS, **policy})
    return config


def _whole_config(schedule):
    """Of a training whose every part has a state."""
    return _config(schedule=schedule, period=4, baseline=0.9)


def _weights(model):
    samplers = {id(w) for each in model.encoder.samplers for w in each.trainable_weights}
    hard = [w.numpy() for w in model.trainable_weights if id(w) in samplers]
    return hard, [w.numpy() for w in model.trainable_weights if id(w) not in samplers]


def _moved(before, after):
    return any(np.any(one != other) for one, other in zip(before, after))


class Weights(tf.keras.callbacks.Callback):
    """Keeps the weights before some steps, of the samplers and of the rest."""

    def __init__(self, *steps):
        super().__init__()
        self.steps, self.before = steps, {}

    def on_train_batch_begin(self, batch, logs=None):
        if batch in self.steps:
            self.before[batch] = _weights(self.model)


@pytest.fixture(scope="module")
def in_turns(corpus, tmp_path_factory):
    """A training in turns, and its weights where phases begin."""
    weights = Weights(0, 8, 13, 17)
    folder = tmp_path_factory.mktemp("in_turns")
    return run_loop(_whole_config("sep"), corpus, folder, [weights]), weights.before


@pytest.fixture(scope="module")
def unbroken(in_turns):
    return in_turns[0]


@pytest.fixture(scope="module")
def at_once(corpus, tmp_path_factory):
    """A training of both at once, in low precision, and its weights."""
    config, weights = _config("mixed_float16"), Weights(0, 13, 15)
    config.train.update({"steps": 16, "evaluate_every": 16, "checkpoint_every": 16})
    return run_loop(config, corpus, tmp_path_factory.mktemp("half"), [weights]), weights.before


def _phases(trainer):
    """The phase and the steps of each of its lines, in their order."""
    lines = [(record["phase"], record["step"]) for record in records_of(trainer, "train")]
    return [
        (phase, [step for _, step in group])
        for phase, group in itertools.groupby(lines, key=lambda line: line[0])
    ]


def test_the_phases_follow_one_another(unbroken):
    assert _phases(unbroken) == [
        ("pretrain", [2, 4, 6, 8]),
        ("policy", [10, 12, 13]),
        ("soft", [14, 16, 17]),
        ("policy", [18, 20, 21]),
        ("soft", [22, 24, 25]),
        ("policy", [26, 28, 29]),
        ("soft", [30, 32]),
    ]


@pytest.mark.parametrize(
    "training, start, end, hard_moves, soft_moves",
    [
        pytest.param("in_turns", 0, 8, False, True, id="pretrain"),
        pytest.param("in_turns", 8, 13, True, False, id="policy"),
        pytest.param("in_turns", 13, 17, False, True, id="soft"),
        pytest.param("at_once", 13, 15, True, True, id="both", marks=pytest.mark.slow),
    ],
)
def test_a_phase_moves_what_it_should(training, start, end, hard_moves, soft_moves, request):
    *_, before = request.getfixturevalue(training)
    moved = [_moved(*pair) for pair in zip(before[start], before[end])]
    assert moved == [hard_moves, soft_moves]


def test_all_tokens_are_selected_in_pretraining_alone(unbroken):
    for record in records_of(unbroken, "train"):
        assert (record["head_fraction"] == 1.0) == (record["phase"] == "pretrain")


def test_scores_of_a_split_do_not_depend_on_earlier_ones(unbroken, corpus):
    bundle = load_bundle(unbroken.work.path / "best")
    alone, _, again = (evaluate(bundle, corpus, split) for split in ("test", "dev", "test"))
    assert alone == again and alone["accuracy"] == alone["sample_accuracy"]


def test_the_config_names_the_selections_of_the_score(unbroken, corpus):
    bundle = load_bundle(unbroken.work.path / "best")
    bundle.config.evaluate.selection = "greedy"
    scores = evaluate(bundle, corpus, "train")
    assert scores["accuracy"] == scores["greedy_accuracy"]
    greedy, sampled = scores["greedy_head_fraction"], scores["sample_head_fraction"]
    assert scores["head_fraction"] == greedy != sampled


@pytest.mark.slow
def test_scores_name_the_shares_that_the_scored_model_selected(unbroken, corpus):
    bundle, split = load_bundle(unbroken.work.path / "best"), corpus.split("test")
    scores = evaluate(bundle, corpus, "test")
    assert scores["all_head_fraction"] == scores["all_dependent_fraction"] == 1.0
    assert scores["head_fraction"] == scores["sample_head_fraction"] < 1.0  # as the config says
    (batch,) = make_dataset(split, evaluation_batches(split.field_lengths, len(split)))
    ids = [batch[name] for name in bundle.model.reads]
    selections = bundle.model.select(*ids, how="greedy")
    for kind in ("head_fraction", "dependent_fraction"):
        expected = np.mean([getattr(chosen, kind) for chosen in selections])
        assert scores[f"greedy_{kind}"] == pytest.approx(expected, abs=1e-6)
    correct = np.argmax(bundle.model(*ids, selections=selections), axis=1) == batch["label"]
    assert scores["greedy_accuracy"] == pytest.approx(np.mean(correct))


def test_watched_splits_do_not_change_the_trained_weights(corpus, tmp_path):
    trainers = []
    for splits, batch_size in (((), 100), (("test",), 7)):
        config = _config(pretrain_steps=2, policy_steps=2)
        config.train.update({"steps": 8, "evaluate_every": 2, "checkpoint_every": 2})
        config.evaluate.update({"splits": splits, "batch_size": batch_size})
        trainers.append(run_loop(config, corpus, tmp_path / str(batch_size)))
    for one, other in zip(*(trainer.model.weights for trainer in trainers)):
        np.testing.assert_array_equal(one, other)


def test_only_a_model_whose_samplers_have_learnt_is_kept(corpus, tmp_path):
    trainer = make_loop(_config(), corpus, tmp_path)
    trainer.best.keep(4, {"accuracy": 1.0}, trainer.method.may_choose)
    assert not (tmp_path / "best").exists()
    assert int(trainer.state.best_step) == 4  # the early stop counts from here
    trainer.method.pretrained.assign(4)
    trainer.best.keep(8, {"accuracy": 0.5}, trainer.method.may_choose)
    assert load_bundle(tmp_path / "best").info["scores"] == {"step": 8, "dev_accuracy": 0.5}


@pytest.mark.slow
@pytest.mark.parametrize("schedule, kill", [("sim", 6), ("sim", 19), ("sep", 27)])
def test_it_resumes_bit_for_bit_in_every_phase(schedule, kill, corpus, tmp_path):
    config = _whole_config(schedule)
    config.encoder = tiny_config(name="resan_snli").encoder
    check_resumes(partial(run_loop, config, corpus), tmp_path, kill)


def test_pretraining_ends_when_the_dev_loss_has_stopped_falling(corpus, tmp_path):
    for losses in ({4: 1.0, 8: 0.9}, {12: 0.95, 16: 0.9}):
        trainer = make_loop(_config(pretrain_steps=28, pretrain_patience=2), corpus, tmp_path)
        trainer.state.restore()  # as after a kill
        for step, loss in losses.items():
            assert not trainer.method.may_choose
            trainer.method.evaluated(step, {"loss": loss})
        trainer.state.save()
    assert int(trainer.method.pretrained) == 16


def test_each_step_is_traced_once(unbroken):
    steps = unbroken.method.steps
    traces = {phase: step.experimental_get_tracing_count() for phase, step in steps.items()}
    assert traces == {"pretrain": 1, "policy": 1, "both": 0, "soft": 1}


@pytest.mark.slow
def test_both_optimizers_work_in_low_precision(at_once):
    trainer, _ = at_once
    for record in records_of(trainer, "train"):
        norms = [record["gradient_norm"], record["policy_gradient_norm"]]
        assert np.isfinite([record["loss"], record["policy_loss"], *norms]).all()
        assert max(norms) < 100.0  # loss scaling makes them thousands of times larger
    assert [phase for phase, _ in _phases(trainer)] == ["pretrain", "policy", "both"]


def test_a_collapsed_choice_raises_an_alarm_once(unbroken, caplog):
    method = unbroken.method
    phase = list(PHASES).index("both")
    healthy = {"phase": phase, "head_fraction": 0.5, "dependent_fraction": 0.5}
    assert "collapsed" not in method.extra_metrics(healthy)
    pretraining = {"phase": 0, "head_fraction": 1.0}  # no choice yet
    assert "collapsed" not in method.extra_metrics(pretraining)
    collapsed = {**healthy, "head_fraction": 0.001, "dependent_fraction": 0.999}
    for _ in range(2):
        assert method.extra_metrics(collapsed)["collapsed"] == [
            "head_fraction",
            "dependent_fraction",
        ]
    assert sorted(record.getMessage().split(":")[0] for record in caplog.records) == [
        "The dependent fraction is 0.999",
        "The head fraction is 0.001",
    ]
