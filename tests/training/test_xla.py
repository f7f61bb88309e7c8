"""Trainings whose steps XLA compiles: equal losses, resumption, few shapes, refused configs."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.cli.loading import read_config
from disan_tf.ops.batch_share import mean_of_rows
from disan_tf.ops.tracing import target
from disan_tf.training.compilation import (
    BucketedStep,
    make_compiler,
    pad_tokens,
    padded_length,
)
from disan_tf.training.config import from_dict
from disan_tf.training.optimizers import OPTIMIZERS
from disan_tf.training.steps import apply_gradients
from tests.support.corpora.elmo import elmo_config, elmo_corpus
from tests.support.corpora.pairs import make_feature_corpus, make_pair_corpus
from tests.support.errors import user_error
from tests.support.runs.training import (
    corpus_of,
    load_config,
    make_loop,
    optimizer_of,
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


def _resan(sampling="parallel", **policy):
    """Trees for ReSAN without pretraining."""

    def make(folder):
        config, resan = tiny_config(), tiny_config(name="resan_snli")
        config.encoder, config.policy = resan.encoder, resan.policy
        config.encoder.sampling = sampling
        config.policy.update({"pretrain_steps": 0, "policy_steps": 0, **policy})
        config.evaluate.update({"selection": "sample", "samples": 2})
        return config, corpus_of(config, folder)

    return make


def _elmo(folder):
    config = with_few_operations(elmo_config())
    return config, elmo_corpus(folder, config)


def _drcn(folder):
    """With Adadelta: RMSProp makes whole steps of gradients that are 0 but for rounding."""
    config = tiny_config(name="drcn_snli", optimizer="adadelta", learning_rate=0.5)
    config.encoder.functions = "Ca-Cs-D"
    return config, make_feature_corpus(folder / "pairs", config.data.word_length)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(_trees("additive"), id="additive"),
        *(
            pytest.param(make, id=name, marks=pytest.mark.slow)
            for name, make in {
                "disan": _trees(""),
                "resan_in_turns": _resan(schedule="sep", policy_steps=1, period=1),
                "resan_iterative": _resan("iterative"),
                "dsa_of_pairs": _pairs("dsa_snli"),
                "drcn": _drcn,
                "elmo": _elmo,
                "bi_lstm": _trees("bi_lstm"),
                "multi_head": _trees("multi_head"),
            }.items()
        ),
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
    trainer, batch = _trainer_and_batch(config, corpus, workdir, jit_compile)
    steps = [trainer.method.train(number, *batch) for number in range(3)]
    result = trainer.method.evaluation_step(*batch)
    phases = {step.get("phase") for step in steps}
    assert trainer.method.compiler.compilations == (len(phases) + 1) * jit_compile
    return steps, *result


def _trainer_and_batch(config, corpus, workdir, jit_compile):
    """Returns a trainer, and its first batch, padded."""
    config.train.jit_compile, config.train.batch_size = str(jit_compile), 8
    trainer = make_loop(config, corpus, workdir)
    batch = next(iter(trainer.batches(0)))
    return trainer, pad_tokens([batch[name] for name in (*trainer.model.reads, "label")])


def test_the_summary_counts_compilations(tmp_path):
    config = with_few_operations(tiny_config(steps=2, evaluate_every=2, jit_compile="True"))
    config.evaluate.batch_size = 40  # all of dev
    trainer = make_loop(config, corpus_of(config, tmp_path / "corpus"), tmp_path / "run")
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
    step = BucketedStep(lambda ids, labels: tf.reduce_sum(ids, axis=1) + labels, specs)
    for length in (3, 8, 9, 15):
        found = step(tf.ones([2, length], tf.int32), tf.constant([0, 5]))
        np.testing.assert_array_equal(found, [length, length + 5])
    assert len(step.compiled) == 2
    assert [spec.shape.rank for spec in step.get_concrete_function().inputs] == [2, 1]


def test_a_smaller_batch_is_padded_and_not_counted():
    specs = [tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int32)]

    def lengths(ids, labels):
        sums = tf.cast(tf.reduce_sum(ids, axis=1) + labels, tf.float32)
        return sums, mean_of_rows(sums + 1.0)

    step = BucketedStep(lengths, specs, rows=5)
    for rows in (5, 2, 1):
        sums, mean = step(tf.ones([rows, 3], tf.int32), tf.range(rows))
        np.testing.assert_array_equal(sums, 3.0 + np.arange(rows))
        assert float(mean) == 4.0 + (rows - 1) / 2
    assert len(step.compiled) == 1


def test_compiling_ahead_leaves_the_variables_and_has_every_length():
    total, batch = tf.Variable([5]), [tf.ones([3, 7], tf.int32), tf.ones([3], tf.int32)]
    step = BucketedStep(
        lambda ids, labels: total.assign_add([tf.reduce_sum(ids)]),
        [tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int32)],
    )
    step.prepare(batch, [8, 16], [total])
    assert total.numpy() == [5]
    assert sorted(shapes[0][1] for shapes in step.compiled) == [8, 16]
    assert step(*batch) == [26] and total.numpy() == [26] and len(step.compiled) == 2


@pytest.mark.slow
def test_a_training_by_policy_gradient_compiles_its_evaluation_ahead(tmp_path):
    config, corpus = _resan()(tmp_path)
    config.train.steps, config.evaluate.samples = 8, 1
    trainer, _ = _trainer_and_batch(config, corpus, tmp_path / "run", True)
    trainer._compile_ahead()
    assert trainer.method.evaluation_step.compiled


@pytest.mark.parametrize(
    "choice, on_gpu, changes, expected",
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"train.batch_tokens": 99}, False),
        ("True", False, {}, True),
        ("False", True, {}, False),
    ],
)
def test_xla_compiles_by_default_on_a_gpu(choice, on_gpu, changes, expected):
    config = load_config("disan_sst")
    config.update_from_flattened_dict({"train.jit_compile": choice, **changes})
    encoder = SimpleNamespace(dtype_policy=SimpleNamespace(name=config.dtype))
    model = SimpleNamespace(encoder=encoder, criterion="accuracy")
    with target("GPU" if on_gpu else "CPU"):
        assert make_compiler(from_dict(config).train, model).jit_compile is expected


@pytest.mark.parametrize("name, moving_average", [*((it, 0.0) for it in OPTIMIZERS), ("adam", 0.9)])
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
        optimizer = optimizer_of(config, [table])
        step = partial(apply_gradients, optimizer)
        step = tf.function(step, jit_compile=jit_compile, autograph=False)
        for gradient in gradients:
            step([gradient], [table], clip_norm=3.0)
        results.append([table.numpy(), *(weight.numpy() for weight in optimizer.weights)])
    assert len(results[0]) > 2
    for actual, expected in zip(*results):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "name, changes, setting",
    [
        ("disan_sst", {"train.batch_tokens": 99}, "train.batch_tokens=99"),
        ("disan_sst", {"train.distribution": "mirrored"}, "train.distribution=mirrored"),
        ("disan_sst", {"dtype": "mixed_float16"}, "dtype=mixed_float16"),
        ("resan_snli", {"encoder.unselected": "drop"}, "encoder.unselected=drop"),
        ("bilm", {}, "task.name=language_model"),
    ],
)
def test_a_config_that_xla_cannot_compile_is_refused(name, changes, setting):
    config = load_config(name)
    config.update_from_flattened_dict(changes)
    read_config(config)
    config.train.jit_compile = "True"
    message = user_error(read_config, config)
    assert message.startswith(
        f"--config.train.jit_compile=True does not go with --config.{setting}, wh"
    )
    assert message.endswith(", or leave jit_compile at False.")
