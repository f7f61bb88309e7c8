"""disan_tf/ops/tracing.py: where operations run, without a GPU; the GPUs here are made up."""

from types import SimpleNamespace

import pytest
import tensorflow as tf

from disan_tf.ops import tracing
from disan_tf.ops.tracing import GPU_BLOCK_NUMBERS, block_numbers, device_type, is_on_gpu, on_host

REPLICA = "/job:worker/replica:0/task:1/device:{}:0"


@pytest.fixture
def on_gpu(monkeypatch):
    monkeypatch.setattr(tracing, "device_type", lambda: "GPU")


def placed(function):
    """The devices of a traced function's operations."""
    graph = tf.function(function, autograph=False).get_concrete_function().graph
    return {operation.device for operation in graph.get_operations()}


@pytest.mark.parametrize("kind", ["CPU", "GPU"])
def test_the_device_is_the_one_that_takes_an_operation(kind, monkeypatch):
    placed_there = SimpleNamespace(device=REPLICA.format(kind))
    monkeypatch.setattr(tracing.tf, "zeros", lambda shape: placed_there)
    assert device_type() == kind and is_on_gpu() == (kind == "GPU")


def test_the_device_is_known_while_a_function_is_traced():
    found = []
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    run = tf.function(lambda: strategy.run(lambda: found.append(device_type())), autograph=False)
    run.get_concrete_function()
    with tf.device("CPU:0"):
        tf.function(lambda: found.append(device_type()), autograph=False).get_concrete_function()
    assert found == ["CPU", "CPU"]


def test_a_saved_model_is_not_made_for_the_gpu_that_writes_it(on_gpu, tmp_path):
    found = []

    class Module(tf.Module):
        @tf.function(input_signature=[], autograph=False)
        def call(self):
            found.append(is_on_gpu())

    module = Module()
    module.call.get_concrete_function()
    tf.saved_model.save(module, str(tmp_path))
    assert found[0] and not any(found[1:]) and len(found) > 1


def test_blocks_are_larger_on_a_gpu_alone(on_gpu, monkeypatch):
    assert block_numbers(5) == GPU_BLOCK_NUMBERS
    monkeypatch.setattr(tracing, "device_type", lambda: "CPU")
    assert block_numbers(5) == 5


def test_indices_stay_in_host_memory_if_a_gpu_computes(on_gpu):
    def positions():
        with on_host():
            return tf.where(tf.ones([3], tf.bool))

    assert placed(positions) == {"/device:CPU:0", ""}  # the result itself has no device


@pytest.fixture
def two_gpus(monkeypatch):
    """Two made-up GPUs of 8,000 and 6,000 bytes, of which 1,000 and 2,500 are used."""
    gpus = [SimpleNamespace(name=f"/physical_device:GPU:{k}", device_type="GPU") for k in range(2)]
    logical = [SimpleNamespace(name=f"/device:GPU:{k}") for k in range(2)]
    local = [SimpleNamespace(device_type="CPU", memory_limit=10)]
    local += [SimpleNamespace(device_type="GPU", memory_limit=size) for size in (8_000, 6_000)]
    used = {"GPU:0": 1_000, "GPU:1": 2_500}
    config, experimental = tf.config, tf.config.experimental
    monkeypatch.setattr(config, "get_visible_devices", lambda kind: gpus)
    monkeypatch.setattr(config, "list_logical_devices", lambda kind: logical)
    monkeypatch.setattr(tracing.device_lib, "list_local_devices", lambda: local)
    monkeypatch.setattr(experimental, "get_memory_info", lambda name: {"current": used[name]})


def test_the_memory_is_that_of_the_smallest_gpu(two_gpus):
    assert tracing.gpu_memory() == 6_000


def test_the_free_memory_is_free_on_every_gpu(two_gpus):
    assert tracing.free_gpu_memory() == 6_000 - 2_500
