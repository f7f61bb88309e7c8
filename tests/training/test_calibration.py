"""Temperature scaling of a trained model."""

import shutil
from unittest import mock

import numpy as np
import pytest
from scipy.special import softmax

from disan_tf.cli.loading import read_config
from disan_tf.common.errors import UserError
from disan_tf.metrics.scores import expected_calibration_error
from disan_tf.runs.bundle import load_bundle
from disan_tf.training.config import from_dict
from disan_tf.training.evaluation import calibrate, evaluate, fit_temperature
from disan_tf.training.train import train
from tests.support.runs.training import corpus_of, load_config, tiny_config, with_few_operations


def draw(temperature, examples=20_000):
    """Logits, and labels drawn from their softmax at a temperature."""
    generator = np.random.default_rng(4)
    logits = generator.normal(0, 3, [examples, 3])
    edges = np.cumsum(softmax(logits / temperature, axis=1), axis=1)
    return logits, (generator.random([examples, 1]) > edges).sum(axis=1)


@pytest.mark.parametrize("temperature", [0.5, 2.5])
def test_the_temperature_of_the_labels_is_found(temperature):
    logits, labels = draw(temperature)
    assert fit_temperature(logits, labels) == pytest.approx(temperature, rel=0.05)


def test_a_dev_part_without_a_mistake_has_a_finite_temperature():
    assert 0.05 <= fit_temperature(np.eye(3), np.arange(3)) < 0.06


def test_the_calibration_error_is_the_gap_of_confidence_and_accuracy():
    sure, unsure = [0.9, 0.1], [0.35, 0.65]
    probabilities = np.array([sure] * 4 + [unsure] * 2)
    labels = np.array([0, 0, 1, 1, 1, 0])  # accuracy .5 at .9, .5 at .65
    expected = (4 * 0.4 + 2 * 0.15) / 6
    assert expected_calibration_error(probabilities, labels) == pytest.approx(expected)
    logits, labels = draw(2.5)
    assert expected_calibration_error(softmax(logits / 2.5, axis=1), labels) < 0.01
    assert expected_calibration_error(softmax(logits, axis=1), labels) > 0.1


def test_a_training_folds_the_temperature_into_the_saved_model_once(tmp_path, capsys):
    config = with_few_operations(tiny_config(steps=4, evaluate_every=4))
    corpus = corpus_of(config, tmp_path / "data")
    config.task.calibrate = True

    def keep_plain(folder, corpus):
        shutil.copytree(folder, tmp_path / "plain/best")
        return calibrate(folder, corpus)

    with mock.patch("disan_tf.training.train.calibrate", keep_plain):
        train(from_dict(config), lambda: corpus, tmp_path / "run", pictures=False)
    train(from_dict(config), lambda: corpus, tmp_path / "run", pictures=False)
    printed = capsys.readouterr().out
    plain, bundle = (load_bundle(tmp_path / name / "best") for name in ("plain", "run"))
    temperature = bundle.info["scores"]["temperature"]
    assert temperature != pytest.approx(1.0, abs=0.01)
    assert f"temperature {temperature:.3f}: expected calibration error on dev" in printed
    assert f"the model is calibrated, with the temperature {temperature:.3f}" in printed
    inputs = [corpus.split("dev").ids["sentence"][None, :9]]
    np.testing.assert_allclose(
        bundle.model(*inputs) * temperature, plain.model(*inputs), rtol=1e-4, atol=1e-6
    )
    before, after = (evaluate(it, corpus, "dev") for it in (plain, bundle))
    assert after["calibration_error_before"] == pytest.approx(before["calibration_error"], 1e-3)
    assert after["accuracy"] == before["accuracy"] and "temperature" not in before


@pytest.mark.parametrize("config", [("own_table", "scores,tiny"), ("resan_snli", "tiny")])
def test_only_classes_without_hard_attention_are_calibrated(config):
    config = load_config(*config)
    config.task.calibrate = True
    with pytest.raises(UserError, match="--config.task.calibrate=True is for classes without hard"):
        read_config(config)
