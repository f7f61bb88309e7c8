"""Trainings with hard attention: phases, resume, precision, figures, alarms, refusals."""

import numpy as np
import pytest
from pairs import make_pair_corpus
from training_runs import KillAt, Killed, tiny_config

from disan_tf.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.training.loop import Trainer
from disan_tf.training.metrics_log import MetricsLog

STEPS = {"steps": 32, "window": 1, "evaluate_every": 4, "checkpoint_every": 4, "log_every": 2}
PHASES = {"pretrain_steps": 8, "policy_steps": 6}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> PreparedCorpus:
    return make_pair_corpus(tmp_path_factory.mktemp("hard_pairs") / "corpus")


def _config(dtype="float32", **policy):
    config = tiny_config(name="resan_snli", dtype=dtype, **STEPS)
    config.policy.update({**PHASES, **policy})
    return config


def _train(config, corpus, workdir, callbacks=()):
    trainer = Trainer(config, corpus, workdir, callbacks)
    trainer.run()
    return trainer


def _records(trainer, split):
    records = MetricsLog.read(trainer.workdir / "metrics.jsonl")
    return [record for record in records if record["split"] == split]


def _weights(trainer):
    samplers = {id(w) for each in trainer.model.encoder.samplers for w in each.trainable_weights}
    hard = [w.numpy() for w in trainer.model.trainable_weights if id(w) in samplers]
    return hard, [w.numpy() for w in trainer.model.trainable_weights if id(w) not in samplers]


def _moved(before, after):
    return any(np.any(one != other) for one, other in zip(before, after))


@pytest.fixture(scope="module")
def unbroken(corpus, tmp_path_factory):
    """For each schedule, a training that was not disturbed."""
    folder = tmp_path_factory.mktemp("unbroken_policy")
    return {
        schedule: _train(_config(schedule=schedule, period=4), corpus, folder / schedule)
        for schedule in ("sim", "sep")
    }


def test_the_phases_follow_one_another(unbroken):
    phases = [record["phase"] for record in _records(unbroken["sim"], "train")]
    assert phases == ["pretrain"] * 4 + ["policy"] * 3 + ["both"] * 9


def test_in_turns_each_has_its_period(unbroken):
    phases = [record["phase"] for record in _records(unbroken["sep"], "train")]
    turns = ["soft"] * 2 + ["policy"] * 2
    assert phases == ["pretrain"] * 4 + ["policy"] * 3 + (3 * turns)[:9]


@pytest.mark.parametrize(
    "phase, steps, policy, hard_moves, soft_moves",
    [
        ("pretrain", 2, {"pretrain_steps": 20}, False, True),
        ("policy", 2, {"pretrain_steps": 0, "policy_steps": 20}, True, False),
        ("both", 2, {"pretrain_steps": 0, "policy_steps": 0}, True, True),
        ("soft", 2, {"pretrain_steps": 0, "policy_steps": 0, "schedule": "sep"}, False, True),
    ],
)
def test_a_phase_moves_what_it_should(
    phase, steps, policy, hard_moves, soft_moves, corpus, tmp_path
):  # fmt: skip
    trainer = Trainer(_config(**policy), corpus, tmp_path)
    before = _weights(trainer)
    for step, batch in zip(range(steps), trainer.batches(0)):
        ids = [batch[field] for field in trainer.model.fields]
        trainer.method.train(step, *ids, batch["label"])
        assert trainer.method.phase(step) == phase
    moved = [_moved(*pair) for pair in zip(before, _weights(trainer))]
    assert moved == [hard_moves, soft_moves]


def test_while_all_tokens_are_selected_nothing_is_sampled(unbroken):
    for record in _records(unbroken["sim"], "train"):
        everything = record["phase"] == "pretrain"
        assert (record["head_fraction"] == 1.0) == everything
        assert (record["policy_gradient_norm"] == 0.0) == everything


def test_both_dev_figures_are_reported_once_tokens_are_chosen(unbroken):
    dev = _records(unbroken["sim"], "dev")
    assert [("greedy_accuracy" in record) for record in dev] == [False] * 2 + [True] * 6


def test_only_a_model_whose_samplers_have_learnt_is_kept(unbroken):
    assert int(unbroken["sim"].state.best_step) > PHASES["pretrain_steps"]


@pytest.mark.parametrize(  # inside every phase
    "schedule, kill",
    [
        ("sim", 19),
        ("sep", 27),
        pytest.param("sim", 6, marks=pytest.mark.slow),
        pytest.param("sep", 11, marks=pytest.mark.slow),
    ],
)
def test_a_killed_training_resumes_bit_for_bit(schedule, kill, unbroken, corpus, tmp_path):
    config = _config(schedule=schedule, period=4)
    with pytest.raises(Killed):
        _train(config, corpus, tmp_path, [KillAt(kill)])
    resumed, whole = _train(config, corpus, tmp_path), unbroken[schedule]
    for one, other in zip(resumed.model.weights, whole.model.weights):
        np.testing.assert_array_equal(one, other, one.name)
    for split in ("train", "dev"):
        records = [_records(trainer, split) for trainer in (resumed, whole)]
        for record in records[0] + records[1]:
            del record["seconds"]
        assert records[0] == records[1]


def test_pretraining_ends_when_the_dev_loss_has_stopped_falling(corpus, tmp_path):
    config = _config(pretrain_steps=28, pretrain_patience=2)
    config.train.learning_rate = 0.0001  # so that only weight decay and rounding move the loss
    trainer = Trainer(config, corpus, tmp_path)
    for step, loss in ((4, 1.0), (8, 0.9), (12, 0.95), (16, 0.9)):
        assert not trainer.method.may_choose
        trainer.method.evaluated(step, {"loss": loss})
    assert int(trainer.method.pretrained) == 16


def test_each_step_is_traced_once(unbroken):
    steps = unbroken["sep"].method.steps
    traces = {phase: step.experimental_get_tracing_count() for phase, step in steps.items()}
    assert traces == {"pretrain": 1, "policy": 1, "both": 0, "soft": 1}


@pytest.mark.parametrize(
    "dtype", ["mixed_float16", pytest.param("mixed_bfloat16", marks=pytest.mark.slow)]
)
def test_both_optimizers_work_in_low_precision(dtype, corpus, tmp_path):
    trainer = _train(_config(dtype), corpus, tmp_path)
    before = _weights(Trainer(_config(dtype), corpus, tmp_path / "new"))
    assert all(_moved(*pair) for pair in zip(before, _weights(trainer)))
    for record in _records(trainer, "train"):
        assert np.isfinite([record["loss"], record["policy_loss"], record["gradient_norm"]]).all()


def test_a_step_whose_policy_gradient_overflows_is_skipped(corpus, tmp_path):
    config = _config("mixed_float16", pretrain_steps=0, policy_steps=20)
    trainer = Trainer(config, corpus, tmp_path)
    trainer.method.saved["policy_optimizer"]._loss_scale.current_loss_scale.assign(2.0**120)
    before, _ = _weights(trainer)
    batch = next(iter(trainer.batches(0)))
    ids = [batch[field] for field in trainer.model.fields]
    assert trainer.method.train(0, *ids, batch["label"])["skipped_steps"] == 1
    assert not _moved(before, _weights(trainer)[0])


def test_a_baseline_is_a_moving_average_of_the_rewards(corpus, tmp_path):
    config = _config(pretrain_steps=0, baseline=0.9)
    config.train.steps = 6
    trainer = _train(config, corpus, tmp_path)
    rewards = [record["reward"] for record in _records(trainer, "train")]
    assert min(rewards) <= float(trainer.method.baseline.value()) <= max(rewards)


def test_a_collapsed_choice_raises_an_alarm_once(unbroken, caplog):
    method = unbroken["sim"].method
    healthy = {"head_fraction": 0.5, "dependent_fraction": 0.5}
    assert "collapsed" not in method.facts(healthy)
    for _ in range(2):
        facts = method.facts({"head_fraction": 0.001, "dependent_fraction": 0.999})
        assert facts["collapsed"] == ["head_fraction", "dependent_fraction"]
    assert sorted(record.getMessage().split(":")[0] for record in caplog.records) == [
        "The dependent fraction is 0.999", "The head fraction is 0.001",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "values, message",
    [
        ({"policy.reward": "gold"}, "config.policy.reward is 'gold'; choose product, probability."),
        ({"policy.schedule": "now"}, "config.policy.schedule is 'now'; choose sim, sep."),
        ({"evaluate.selection": "best"}, "config.evaluate.selection is 'best'; choose sample,"),
        ({"policy.period": 0}, "config.policy.period is 0; choose at least 1 step."),
        ({"policy.baseline": 1.0}, "config.policy.baseline is 1.0; choose a decay"),
        ({"train.steps": 8}, "config.train.steps is 8, but pretraining may take 8; choose more"),
    ],
)
def test_a_bad_value_is_refused_by_name(values, message, corpus, tmp_path):
    config = _config()
    config.update_from_flattened_dict(values)
    with pytest.raises(UserError, match=message.replace("[", r"\[")):
        Trainer(config, corpus, tmp_path)


def test_hard_attention_without_a_policy_is_refused(corpus, tmp_path):
    config = _config()
    del config.policy
    with pytest.raises(UserError, match="resan_snli has an encoder with hard attention, but no"):
        Trainer(config, corpus, tmp_path)
