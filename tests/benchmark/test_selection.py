"""The benchmark's part on hard attention."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.benchmark.main import benchmark
from disan_tf.benchmark.selection import RATES, choose_at_rate, measure_selection, model_steps
from disan_tf.benchmark.step import make_batch
from disan_tf.benchmark.tables import selection_table
from disan_tf.common.errors import UserError
from disan_tf.layers import ReinforcedSequenceSampling
from tests.support.runs.training import tiny_config


@pytest.fixture
def config():
    return tiny_config(name="resan_snli", batch_size=4)


@pytest.mark.slow
def test_every_rate_is_measured_in_core_layer_and_model(config, monkeypatch):
    monkeypatch.setattr("disan_tf.benchmark.selection.RATES", (1.0, 0.5))
    record = measure_selection(config, 1, lengths=(4,), pair_lengths=((4, 3),))
    rates = {"1.0", "0.5"}
    for part in ("core", "layer"):
        assert all(set(form) == rates for form in record[part][0]["forms"].values())
    beside = {"all", "without_hard_attention", "iterative"}
    assert set(record["model"][0]["train"]) == rates | beside
    assert record["model"][0]["inference"]["all"]["ratio"] == 1.0
    rows = selection_table(record).splitlines()
    assert sum(row.split()[0] == "model" for row in rows[2:]) == 2 * len(rates | beside)


@pytest.mark.parametrize("rate", RATES)
def test_a_sampler_chooses_at_the_rate_that_it_is_given(rate):
    sampler = ReinforcedSequenceSampling(4)
    x, mask = tf.random.normal([50, 40, 6]), tf.ones([50, 40], tf.bool)
    sampler(x, mask=mask)
    choose_at_rate([sampler], rate)
    selected = sampler.select(x, mask, "sample").selected
    error = 3 * np.sqrt(rate * (1 - rate) / 2000) + 1e-6
    assert abs(np.mean(selected) - rate) <= error


@pytest.mark.slow
def test_a_training_step_selects_at_its_rate(config):
    train, _ = model_steps(config, make_batch(config, (40, 40)))
    for name, share in {"0.1": 0.1, "all": 1.0, "0.75": 0.75}.items():
        measured = train[name]()
        for kind in ("head", "dependent"):
            assert abs(measured[f"{kind}_fraction"] - share) <= 0.1


@pytest.mark.parametrize(
    "name, part", [("resan_snli", "core"), ("disan_snli", "selection"), ("resan_sick", "selection")]
)
def test_a_part_that_is_not_for_the_config_is_refused(name, part):
    with pytest.raises(UserError, match=f"part {part} "):
        benchmark(tiny_config(name=name), parts=[part])
