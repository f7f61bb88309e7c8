"""Steps and epoch of the benchmark at tiny sizes."""

import numpy as np
import pytest

from configs.papers.disan import BASELINES
from disan_tf.cli.loading import compared_configs
from disan_tf.study.benchmark.epoch import measure_encoders, measure_epoch, snli_shaped_split
from disan_tf.study.benchmark.step import DTYPES, form_configs, inputs_of, make_batch, measure_steps
from tests.support.runs.training import tiny_config


def _forms(config, *names):
    """The configs of a config's forms, or of those of these names."""
    forms = form_configs(config, compared_configs(config)["disan"])
    return {name: forms[name] for name in names or forms}


@pytest.fixture(scope="module")
def split():
    return snli_shaped_split(seed=3)


@pytest.mark.slow
def test_pairs_are_measured_beside_the_dense_form():
    config = tiny_config(name="disan_snli")
    records = measure_steps(config, 2, _forms(config), lengths=[(4, 3)])
    assert [record["kind"] for record in records] == ["train", "inference"]
    for record in records:
        assert record["lengths"] == [4, 3]
        assert list(record["forms"]) == ["dense", *DTYPES]
        medians = {name: times["median_ms"] for name, times in record["forms"].items()}
        for dtype in DTYPES:
            ratio = record["forms"][dtype]["dense_ratio"]
            assert ratio == pytest.approx(medians["dense"] / medians[dtype])


def test_dsa_is_measured_beside_disan():
    beside = [f"disan {dtype}" for dtype in DTYPES]
    assert list(_forms(tiny_config(name="dsa_snli"))) == ["dense", *beside, *DTYPES]


def test_a_batch_has_the_lengths_asked_for():
    *ids, label = make_batch(tiny_config(name="disan_snli", batch_size=5), (4, 3))
    assert [array.shape for array in ids] == [(5, 4), (5, 3)] and label.shape == (5,)
    assert all(np.all(array >= 2) for array in ids)  # no padding
    assert set(label.numpy()) <= {0, 1, 2}


def test_the_split_has_the_lengths_of_snli(split):
    means = split.field_lengths.mean(axis=0)
    assert len(split) == 89_169 and split.lengths.max() == 25
    assert means == pytest.approx([13.28, 8.18], abs=0.01)
    assert min(split.ids["premise"].min(), split.ids["hypothesis"].min()) >= 2


@pytest.mark.slow
def test_an_epoch_is_measured_in_pairs_per_second():
    config = tiny_config(name="disan_snli", batch_size=4)
    record = measure_epoch(config, 2, _forms(config, "dense", "float32"), batches=3)
    assert record["sampled_batches"] == 6 and list(record["forms"]) == ["dense", "float32"]
    for form in record["forms"].values():
        assert form["min"] <= form["pairs_per_second"] <= form["max"]
        minutes = 549_367 / form["pairs_per_second"] / 60
        assert form["epoch_minutes"] == pytest.approx(minutes)
    ours, dense = record["forms"]["float32"], record["forms"]["dense"]
    ratio = ours["pairs_per_second"] / dense["pairs_per_second"]
    assert ours["dense_ratio"] == pytest.approx(ratio, rel=1e-12)
    assert ours["padding_share"] < 0.1 < 0.2 < dense["padding_share"]


@pytest.mark.slow
def test_an_epoch_of_dsa_is_measured_beside_one_of_disan_in_its_own_batches():
    config = tiny_config(name="dsa_snli", batch_size=4)
    forms = _forms(config, "disan float32", "float32")
    disan, dsa = measure_epoch(config, 1, forms, batches=2)["forms"].values()
    ratio = dsa["pairs_per_second"] / disan["pairs_per_second"]
    assert dsa["disan_ratio"] == pytest.approx(ratio)
    assert disan["padding_share"] < 0.1 < 0.2 < dsa["padding_share"]


@pytest.mark.slow
def test_an_epoch_of_drcn_has_characters_and_flags():
    config = tiny_config(name="drcn_snli", batch_size=4)
    assert list(_forms(config)) == list(DTYPES)
    record = measure_epoch(config, 1, _forms(config, "float32"), batches=2)
    assert record["forms"]["float32"]["pairs_per_second"] > 0
    names = [spec.name for spec in inputs_of(config)]
    batch = dict(zip(names, make_batch(config, (5, 3))))
    assert batch["premise"].shape == batch["premise_match"].shape == [4, 5]
    assert batch["hypothesis_characters"].shape == [4, 3, config.data.word_length]
    assert np.min(batch["hypothesis_characters"]) >= 1 and np.max(batch["premise_match"]) == 1


def test_resan_is_compared_with_its_recurrent_baselines_and_disan():
    compared = compared_configs(tiny_config(name="resan_snli"))
    encoders = {name: each.encoder.name for name, each in compared.items()}
    assert encoders == {name: name for name in ("bi_lstm", "bi_gru", "disan", "resan")}
    assert [name for name, each in compared.items() if "policy" in each] == ["resan"]


@pytest.mark.slow
def test_resan_is_measured_with_its_samplers():
    config = tiny_config(name="resan_snli", batch_size=4)
    record = measure_encoders(config, 1, compared_configs(config), batches=1)
    assert list(record["encoders"]) == ["bi_lstm", "bi_gru", "disan", "resan"]
    assert all(encoder["pairs_per_second"] > 0 for encoder in record["encoders"].values())


@pytest.mark.slow
def test_the_encoders_of_table_1_are_measured_on_the_same_batches():
    config = tiny_config(name="disan_snli", batch_size=4)
    record = measure_encoders(config, 2, compared_configs(config), batches=2)
    assert list(record["encoders"]) == [*BASELINES, "disan"]
    for encoder in record["encoders"].values():
        assert encoder["min"] <= encoder["pairs_per_second"] <= encoder["max"]
        assert encoder["epoch_seconds"] == pytest.approx(549_367 / encoder["pairs_per_second"])
        assert encoder["inference_pairs_per_second"] > 0
    disan = record["encoders"]["disan"]
    assert disan["disan_ratio"] == 1.0 and disan["parameters"] == 6_947
    epochs = record["encoders"]["additive"]["epoch_seconds"] / disan["epoch_seconds"]
    assert record["encoders"]["additive"]["disan_ratio"] == pytest.approx(epochs)
