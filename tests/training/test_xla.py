"""Trainings whose steps XLA compiles: equal losses, resumption, few shapes, refused configs."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.training.check_config import check_config
from disan_tf.training.compilation import FewShapes, pad_tokens, padded_length
from disan_tf.training.dense_rows import dense_gradient
from disan_tf.training.loop import Trainer
from disan_tf.training.optimizers import OPTIMIZERS, build_optimizer
from disan_tf.training.steps import apply_gradients
from tests.support.corpora.elmo import elmo_config, elmo_corpus
from tests.support.corpora.pairs import make_pair_corpus
from tests.support.errors import user_error
from tests.support.runs.training import (
    check_resumes,
    corpus_of,
    load_config,
    run_trainer,
    tiny_config,
    with_few_operations,
)


def _trees(variant):
    def make(folder):
        config = load_config("disan_sst", f"{variant},tiny" if variant else "tiny")
        return config, corpus_of(config, folder)

    return make


def _pairs(name):
    return lambda folder: (tiny_config(name=name), make_pair_corpus(folder / "pairs"))


def _elmo(folder):
    config = elmo_config()
    return config, elmo_corpus(folder, config)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(_trees(""), id="disan"),
        pytest.param(_pairs("dsa_snli"), id="dsa"),
        pytest.param(_pairs("resan_snli"), id="resan"),
        pytest.param(_elmo, id="elmo"),
        pytest.param(_trees("bi_lstm"), id="bi_lstm"),
        pytest.param(_trees("additive"), id="additive", marks=pytest.mark.slow),
        pytest.param(_trees("multi_head"), id="multi_head", marks=pytest.mark.slow),
        pytest.param(_trees("source2token"), id="source2token", marks=pytest.mark.slow),
    ],
)
def test_steps_are_those_without_xla(make, tmp_path):
    config, corpus = make(tmp_path)
    (steps, outputs, loss), (others, *expected) = (
        _three_steps(config, corpus, tmp_path / str(jit_compile), jit_compile)
        for jit_compile in (True, False)
    )
    for actual, step in zip(steps, others):
        assert actual == pytest.approx(step, rel=2e-5, abs=2e-6)
    np.testing.assert_allclose(outputs, expected[0], rtol=2e-5, atol=2e-6)
    assert float(loss) == pytest.approx(float(expected[1]), rel=2e-5)


def _three_steps(config, corpus, workdir, jit_compile):
    """Returns the metrics of three training steps, then the result of an evaluation step."""
    config.train.jit_compile, config.train.batch_size = jit_compile, 8
    trainer = Trainer(config, corpus, workdir)
    batch = next(iter(trainer.batches(0)))
    batch = [pad_tokens(batch[name]) for name in (*trainer.model.reads, "label")]
    steps = [trainer.method.train(number, *batch) for number in range(3)]
    result = trainer.method.evaluation_step(*batch)
    assert trainer.method.compiler.compilations == 2 * jit_compile
    return steps, *result


def test_a_killed_training_resumes_bit_for_bit(tmp_path):
    options = {"steps": 12, "evaluate_every": 6, "checkpoint_every": 4, "moving_average": 0.9}
    config = with_few_operations(tiny_config(jit_compile=True, **options))
    corpus = corpus_of(config, tmp_path / "corpus")
    check_resumes(partial(run_trainer, config, corpus), tmp_path, 10)


def test_the_summary_counts_compilations(tmp_path):
    config = with_few_operations(tiny_config(steps=2, evaluate_every=2, jit_compile=True))
    config.evaluate.batch_size = 40  # all of dev
    trainer = Trainer(config, corpus_of(config, tmp_path / "corpus"), tmp_path / "run")
    lengths = {
        padded_length(batch["sentence"].shape[1])
        for batch, _ in zip(trainer.batches(0), range(config.train.steps))
    }
    assert trainer.run()["compilations"] == len(lengths) + 1


def test_lengths_are_padded_to_few():
    assert [padded_length(n) for n in (0, 1, 8, 9, 16, 17, 24, 25, 33, 49, 65, 97)] == [
        *(8, 8, 8, 16, 16, 24, 24, 32, 48, 64, 96, 128)
    ]


def test_a_step_is_compiled_once_for_each_padded_length():
    specs = [tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int32)]
    step = FewShapes(lambda ids, labels: tf.reduce_sum(ids, axis=1) + labels, specs)
    for length in (3, 8, 9, 15):
        found = step(tf.ones([2, length], tf.int32), tf.constant([0, 5]))
        np.testing.assert_array_equal(found, [length, length + 5])
    assert len(step.compiled) == 2
    assert [spec.shape.rank for spec in step.get_concrete_function().inputs] == [2, 1]


@pytest.mark.parametrize("moving_average", [0.0, 0.9])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_changes_the_same_rows_of_a_table(name, moving_average):
    config = tiny_config(optimizer=name, learning_rate=0.1, moving_average=moving_average)
    values, shape = tf.constant([[1.0, 2], [3, 4], [-5, 6]]), tf.constant([5, 2])
    gradients = [
        tf.IndexedSlices(values, tf.constant(rows), shape)
        for rows in ([1, 3, 1], [2, 3, 3], [0, 1, 1])
    ]
    results = []
    for jit_compile in (True, False):
        table = tf.Variable(tf.reshape(tf.range(10.0), [5, 2]))
        optimizer = build_optimizer(config, [table])
        step = tf.function(partial(apply_gradients, optimizer), jit_compile=jit_compile)
        for gradient in gradients:
            step([gradient], [table], clip_norm=3.0)
        results.append([table.numpy(), *(weight.numpy() for weight in optimizer.weights)])
    assert len(results[0]) > 2
    for actual, expected in zip(*results):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-7)


def test_a_dense_gradient_sums_the_occurrences_of_a_row():
    values, rows = tf.constant([[1.0], [2], [4]]), tf.constant([2, 0, 2])
    gradient = tf.IndexedSlices(values, rows, tf.constant([4, 1]))
    np.testing.assert_array_equal(dense_gradient(gradient), [[2.0], [0], [5], [0]])


@pytest.mark.parametrize(
    "name, changes, setting",
    [
        ("disan_sst", {"train.batch_tokens": 99}, "train.batch_tokens=99"),
        ("disan_sst", {"train.distribution": "mirrored"}, "train.distribution=mirrored"),
        ("disan_sst", {"dtype": "mixed_float16"}, "dtype=mixed_float16"),
        ("resan_snli", {"encoder.unselected": "drop"}, "encoder.unselected=drop"),
        ("drcn_snli", {}, "encoder.name=drcn"),
        ("bilm", {}, "task.name=language_model"),
    ],
)
def test_a_config_that_xla_cannot_compile_is_refused(name, changes, setting):
    config = load_config(name)
    config.update_from_flattened_dict(changes)
    check_config(config)
    config.train.jit_compile = True
    message = user_error(check_config, config)
    assert message.startswith(
        f"--config.train.jit_compile=True does not go with --config.{setting}, wh"
    )
    assert message.endswith(", or leave jit_compile at False.")
