"""Steps and epoch of the benchmark at tiny sizes."""

import numpy as np
import pytest

from configs.papers.disan import BASELINES
from disan_tf.study.benchmark.epoch import measure_encoders, measure_epoch, snli_shaped_split
from disan_tf.study.benchmark.step import DTYPES, form_names, inputs_of, make_batch, measure_steps
from tests.support.runs.training import tiny_config


@pytest.fixture(scope="module")
def pair_records():
    return measure_steps(tiny_config(name="disan_snli"), repetitions=2, lengths=[(4, 3)])


@pytest.fixture(scope="module")
def split():
    return snli_shaped_split(seed=3)


@pytest.mark.slow
def test_pairs_are_measured_beside_the_dense_form(pair_records):
    assert [record["kind"] for record in pair_records] == ["train", "inference"]
    for record in pair_records:
        assert record["lengths"] == [4, 3]
        assert list(record["forms"]) == ["dense", *DTYPES]


@pytest.mark.slow
def test_ratios_are_of_the_medians_beside_them(pair_records):
    for record in pair_records:
        medians = {name: times["median_ms"] for name, times in record["forms"].items()}
        for dtype in DTYPES:
            ours = record["forms"][dtype]
            assert ours["dense_ratio"] == pytest.approx(medians["dense"] / medians[dtype])


@pytest.mark.slow
def test_dsa_is_measured_beside_disan_with_batches_as_large():
    record, _ = measure_steps(tiny_config(name="dsa_snli"), repetitions=1, lengths=[(4, 3)])
    beside = [f"disan {dtype}" for dtype in DTYPES]
    assert list(record["forms"]) == ["dense", *beside, *DTYPES]
    medians = {name: times["median_ms"] for name, times in record["forms"].items()}
    for dtype in DTYPES:
        expected = medians[f"disan {dtype}"] / medians[dtype]
        assert record["forms"][dtype]["disan_ratio"] == pytest.approx(expected)


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
def test_an_epoch_is_measured_in_pairs_per_second(monkeypatch):
    monkeypatch.setattr("disan_tf.study.benchmark.step.form_names", lambda _: ["dense", "float32"])
    config = tiny_config(name="disan_snli", batch_size=4)
    record = measure_epoch(config, repetitions=2, batches=3)
    assert record["sampled_batches"] == 6 and list(record["forms"]) == ["dense", "float32"]
    for form in record["forms"].values():
        assert form["min"] <= form["pairs_per_second"] <= form["max"]
        minutes = 549_367 / form["pairs_per_second"] / 60
        assert form["epoch_minutes"] == pytest.approx(minutes)
    ours, dense = record["forms"]["float32"], record["forms"]["dense"]
    assert ours["dense_ratio"] == ours["pairs_per_second"] / dense["pairs_per_second"]
    assert ours["padding_share"] < 0.1 < 0.2 < dense["padding_share"]


@pytest.mark.slow
def test_an_epoch_of_dsa_is_measured_beside_one_of_disan_in_its_own_batches(monkeypatch):
    names = ["disan float32", "float32"]
    monkeypatch.setattr("disan_tf.study.benchmark.step.form_names", lambda _: names)
    config = tiny_config(name="dsa_snli", batch_size=4)
    disan, dsa = measure_epoch(config, repetitions=1, batches=2)["forms"].values()
    ratio = dsa["pairs_per_second"] / disan["pairs_per_second"]
    assert dsa["disan_ratio"] == pytest.approx(ratio)
    assert disan["padding_share"] < 0.1 < 0.2 < dsa["padding_share"]


@pytest.mark.slow
def test_an_epoch_of_drcn_has_characters_and_flags(monkeypatch):
    config = tiny_config(name="drcn_snli", batch_size=4)
    assert form_names(config) == list(DTYPES)
    monkeypatch.setattr("disan_tf.study.benchmark.step.form_names", lambda _: ["float32"])
    record = measure_epoch(config, repetitions=1, batches=2)
    assert record["forms"]["float32"]["pairs_per_second"] > 0
    names = [spec.name for spec in inputs_of(config)]
    batch = dict(zip(names, make_batch(config, (5, 3))))
    assert batch["premise"].shape == batch["premise_match"].shape == [4, 5]
    assert batch["hypothesis_characters"].shape == [4, 3, config.data.word_length]
    assert np.min(batch["hypothesis_characters"]) >= 1 and np.max(batch["premise_match"]) == 1


@pytest.mark.slow
def test_the_encoders_of_table_1_are_measured_on_the_same_batches():
    config = tiny_config(name="disan_snli", batch_size=4)
    record = measure_encoders(config, repetitions=2, batches=2)
    assert list(record["encoders"]) == [*BASELINES, "disan"]
    for encoder in record["encoders"].values():
        assert encoder["min"] <= encoder["pairs_per_second"] <= encoder["max"]
        assert encoder["epoch_seconds"] == pytest.approx(549_367 / encoder["pairs_per_second"])
        assert encoder["inference_pairs_per_second"] > 0
    disan = record["encoders"]["disan"]
    assert disan["disan_ratio"] == 1.0 and disan["parameters"] == 6_947
    epochs = record["encoders"]["additive"]["epoch_seconds"] / disan["epoch_seconds"]
    assert record["encoders"]["additive"]["disan_ratio"] == pytest.approx(epochs)
