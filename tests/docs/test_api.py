"""The API pages name every public class and function."""

import re

import pytest

import disan_tf
from disan_tf import encoders, ops
from tests.support.runs.training import ROOT

CONSTANTS = {"ENCODERS", "DIRECTIONS", "FORMS"}
OBJECT = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)


def _documented(page: str) -> set:
    text = (ROOT / "docs" / "api" / f"{page}.md").read_text(encoding="utf-8")
    return {name.rpartition(".")[2] for name in OBJECT.findall(text)}


@pytest.mark.parametrize("module", [encoders, ops], ids=lambda module: module.__name__)
def test_all_names_of_a_module_are_documented(module):
    page = module.__name__.rpartition(".")[2]
    assert _documented(page) == {*module.__all__} - CONSTANTS


def test_all_names_of_the_package_are_documented():
    assert {*disan_tf.__all__} - {"layers", "encoders", "ops"} <= _documented("disan_tf")
    assert _documented("layers") == {"BaseLayer", "layers"}  # MkDocs lists its __all__
