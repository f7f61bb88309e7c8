"""Low precision trains as float32 does."""

import pytest

from disan_tf.training.experiment import Trainer
from tests.support.runs.training import corpus_of, load_config, tiny_config

LEARNING = {"steps": 800, "learning_rate": 2.0, "evaluate_every": 800, "checkpoint_every": 800}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    sizes = {"train": 1000, "dev": 500, "test": 10}
    return corpus_of(tiny_config(), tmp_path_factory.mktemp("corpus"), sizes)


@pytest.fixture(scope="module")
def float32_accuracy(corpus, tmp_path_factory):
    workdir = tmp_path_factory.mktemp("float32")
    accuracy = Trainer(tiny_config(**LEARNING), corpus, workdir).run()["best_score"]
    assert accuracy > 0.4  # four classes: it has learnt, so that the comparison says something
    return accuracy


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_low_precision_ends_within_a_point_of_float32(dtype, corpus, float32_accuracy, tmp_path):
    trainer = Trainer(tiny_config(dtype=dtype, **LEARNING), corpus, tmp_path)
    assert abs(trainer.run()["best_score"] - float32_accuracy) <= 0.01
    assert trainer.method.train_step.experimental_get_tracing_count() == 1


@pytest.mark.slow
def test_the_demo_passes_95_percent_where_a_bag_of_words_cannot(tmp_path):
    config = load_config("demo")
    corpus = corpus_of(config, tmp_path, {"train": 3500, "dev": 400, "test": 800})
    assert Trainer(config, corpus, tmp_path / "run").run()["best_score"] > 0.95
