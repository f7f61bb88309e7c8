"""The description of the machine that stands in run.json."""

import os

import pytest
import tensorflow as tf

from disan_tf.common import machine
from disan_tf.common.schema import check_schema


def test_the_description_has_the_schema_of_run_json():
    described = machine.describe_machine()
    assert check_schema("run.json", described, machine.MACHINE, "")
    assert described["processor"] and described["load_before"] >= 0


@pytest.mark.parametrize(
    "names, expected", [([], "none"), (["NVIDIA L4"], "NVIDIA L4"), (["One", ""], "One, unknown")]
)
def test_processor_and_gpus_have_their_names(names, expected, monkeypatch):
    details = [{"device_name": name} if name else {} for name in names]
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind: range(len(details)))
    monkeypatch.setattr(tf.config.experimental, "get_device_details", details.__getitem__)
    described = machine.describe_machine()
    assert described["gpu"] == expected and isinstance(described["processor"], str)


def test_a_load_that_nobody_knows_is_none(monkeypatch):
    def unknown():
        raise OSError("no load")

    monkeypatch.setattr(os, "getloadavg", unknown)
    assert machine.load() is None
    check_schema("run.json", machine.describe_machine(), machine.MACHINE, "")


@pytest.mark.parametrize(
    "program, environment, usable, threads",
    [(3, "5", 8, 3), (0, "5", 8, 5), (0, "", 8, 8), (0, "many", 1, 1), (0, "0", 2, 2)],
)
def test_the_threads_are_those_that_tensorflow_takes(
    program, environment, usable, threads, monkeypatch
):
    monkeypatch.setattr(tf.config.threading, "get_intra_op_parallelism_threads", lambda: program)
    monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", environment)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(usable)), raising=False)
    monkeypatch.setattr(machine, "_HAS_AFFINITY", True)
    assert machine.describe_machine()["threads"] == threads


@pytest.mark.parametrize(
    "sets, switch, gpus, is_slow",
    [
        ("fma avx512f avx512_vnni", None, [], True),
        ("fma avx512f avx512_vnni", "1", [], True),
        ("fma avx512f avx512_bf16", None, [], False),
        ("fma avx512f amx_bf16 amx_tile", None, [], False),
        ("fma avx2", None, [], False),  # TensorFlow's own kernels
        ("fma avx512f", "0", [], False),
        ("fma avx512f", "FALSE", [], False),
        ("fma avx512f", None, ["NVIDIA L4"], False),
    ],
)
def test_bfloat16_is_emulated_by_processors_with_avx512_alone(
    sets, switch, gpus, is_slow, tmp_path, monkeypatch
):
    (tmp_path / "cpuinfo").write_text(
        f"model name\t: A CPU\nflags\t\t: {sets}\n\nmodel name\t: B\n"
    )
    monkeypatch.setattr(machine, "LINUX", tmp_path / "cpuinfo")
    monkeypatch.setattr(machine, "_gpus", lambda: gpus)
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    if switch:
        monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", switch)
    assert machine.emulates_bfloat16() == is_slow
    assert machine.describe_machine()["processor"] == "A CPU"
