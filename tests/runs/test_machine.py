"""The description of the machine that stands in run.json."""

import os

from disan_tf.common.schema import check_schema
from disan_tf.runs import machine


def test_the_description_has_the_schema_of_run_json():
    described = machine.describe_machine()
    assert check_schema("run.json", described, machine.MACHINE, "")
    assert described["processor"] and described["load_before"] >= 0


def test_a_load_that_nobody_knows_is_none(monkeypatch):
    def unknown():
        raise OSError("no load")

    monkeypatch.setattr(os, "getloadavg", unknown)
    assert machine.load() is None
    monkeypatch.delattr(os, "getloadavg")
    assert machine.load() is None
    check_schema("run.json", machine.describe_machine(), machine.MACHINE, "")
