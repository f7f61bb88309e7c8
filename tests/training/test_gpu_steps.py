"""The training and evaluation step of every kind of model, as a GPU would run them.

No GPU is needed, and none has confirmed the placement, which is that of
`tests.support.ops.gpu_kernels`, from the registry of kernels in the installed TensorFlow.
"""

import functools
import re
from pathlib import Path
from unittest import mock

import pytest

from disan_tf.models.factory import ENCODERS, TASKS, build_model
from disan_tf.ops import devices
from disan_tf.ops.native.runtime import portable
from tests.support.ops.gpu_kernels import NO_KERNEL, findings, has_gpu_kernels
from tests.support.runs.training import load_config, method_of

pytestmark = pytest.mark.skipif(
    not has_gpu_kernels(), reason="this TensorFlow registers no GPU kernels"
)
PAGE = Path(__file__).resolve().parents[2] / "checkpoints" / "FINDINGS.md"
SMALL_BILM = {"units": 8, "cells": 16, "filters": [(1, 4)], "word_length": 50}
FEW = 8  # numbers in a shape, at most

# Why the host waits for the GPU: which findings, (operation, argument, name), and what the page
# says of them. The first that fits counts.
REASONS = {
    "scaling": (
        r"^If bool bool\(\) cond",
        "loss scaling applies a step only if its gradients are finite",
    ),
    "optimizer": (
        r"(Unique int|Shape int32 int32\(\?,\)).*/update",
        "the optimizer adds up the gradients of a word that occurs several times (`tf.unique`)",
    ),
    "loop": (
        r"\b(scan|while)\b",
        "a loop over time reads its condition, and its gradient shapes and places, at each token",
    ),
    "selection": (
        r"(Maximum int32 int32\(\) .*attention/.*Maximum|gradient_tape/.*attention/(for|back)ward)",
        "the greatest number of selected tokens becomes a length",
    ),
    "packed": (
        r"cond.*(GatherNd|strided_slice)|StridedSliceGrad",
        "the gradient of packed sentences reads the tokens' places",
    ),
    "sum": (
        r"(Reshape|StridedSlice|Pack|ConcatV2)\b.*gradient_tape",
        "the gradient of a sum, a mean or a padding reads its shape",
    ),
}

# The fast tests have one of the papers' models, the slow ones the others.
# config:variant:dtype -> the name in the page, and the reasons.
MODELS = {
    "disan_sick:tiny": ("DiSAN on SICK", "optimizer sum"),
    "disan_sst:tiny:mixed_bfloat16": ("DiSAN", "optimizer"),
    "disan_sst:tiny:mixed_float16": ("DiSAN in mixed_float16", "optimizer scaling"),
    "disan_sst:additive": ("additive", "optimizer"),
    "disan_sst:source2token": ("source2token", "optimizer"),
    "disan_sst:multi_head": ("multi_head", "optimizer"),
    "disan_sst:bi_lstm": ("bi_lstm", "optimizer loop"),
    "resan_snli:tiny": ("ReSAN", "optimizer sum"),
    "resan_snli:without_dependency_restricted": (
        "without_dependency_restricted",
        "optimizer sum selection",
    ),
    "resan_sick:without_soft_attention": ("without_soft_attention", "optimizer sum"),
    "resan_sick:bi_gru": ("bi_gru", "optimizer sum loop"),
    "resan_sick:multi_window_cnn": ("multi_window_cnn", "optimizer sum"),
    "resan_sick:hierarchical_cnn": ("hierarchical_cnn", "optimizer sum"),
    "dsa_snli:tiny:mixed_bfloat16": ("DSA", "packed"),
    "dsa_sst:bi_lstm": ("DSA's bi_lstm", "sum loop"),
    "drcn_snli:tiny": ("DRCN", "optimizer sum loop"),
    "elmo_disan_sst:tiny": ("ELMo-DiSAN", "sum loop"),
    "bilm:tiny": ("biLM", "optimizer sum loop"),
}


@functools.cache
def found(model: str) -> frozenset:
    """The findings in the steps of a model."""
    config = small_config(*model.split(":"))
    with portable(), mock.patch.object(devices, "device_type", lambda: "GPU"):
        built = build_model(config, (10, 3), 5, bilm=SMALL_BILM)
        method = method_of(config, built)
        train = method.steps["both"] if built.samplers else method.train_step
        steps = train, method.evaluation_step
        return frozenset().union(*(findings(step.get_concrete_function()) for step in steps))


def small_config(name, variant, dtype="float32"):
    config = load_config(name, variant)
    config.dtype = dtype
    if variant != "tiny":
        config.data.embedding_dim = config.task.hidden_units = 16
        if "units" in config.encoder:
            config.encoder.units = 16
    return config


FAST = ("disan_sst:tiny:mixed_bfloat16",)
each_model = pytest.mark.parametrize(
    "model",
    [pytest.param(it, marks=[] if it in FAST else [pytest.mark.slow]) for it in MODELS],
)


def reason_of(finding) -> str:
    text = f"{finding.operation} {finding.argument} {finding.name}"
    known = (name for name, (pattern, _) in REASONS.items() if re.search(pattern, text))
    return next(known, text)


@each_model
def test_every_operation_has_a_kernel_for_gpus(model):
    assert [it for it in found(model) if it.kind == NO_KERNEL] == []


@each_model
def test_the_host_waits_for_the_gpu_for_known_reasons(model):
    assert {reason_of(it) for it in found(model)} == set(MODELS[model][1].split())


@each_model
def test_the_host_reads_only_shapes_and_scalars_but_for_two_reasons(model):
    large = {reason_of(it) for it in found(model) if not 0 <= it.numbers <= FEW}
    assert large <= {"optimizer", "packed"}


def test_the_page_has_the_reasons_and_their_models():
    text = PAGE.read_text(encoding="utf-8")
    for reason, (_, sentence) in REASONS.items():
        models = dict.fromkeys(
            name for name, reasons in MODELS.values() if reason in reasons.split()
        )
        assert f"| {sentence} | {', '.join(models)} |\n" in text


def test_every_encoder_and_task_is_among_the_models():
    configs = [small_config(*model.split(":")) for model in MODELS]
    assert {config.encoder.name for config in configs} == set(ENCODERS)
    assert {config.task.name for config in configs} == set(TASKS)
