"""The API pages name every public class and function, and show equations as LaTeX."""

import importlib.util
import inspect
import re
import sys
from types import SimpleNamespace

import pytest
from matplotlib.mathtext import MathTextParser

import disan_tf
from disan_tf import encoders, layers, ops
from tests.support.runs.training import ROOT

CONSTANTS = {"ENCODERS", "DIRECTIONS", "FORMS"}
OBJECT = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
PUBLIC = [
    pytest.param(it, id=it.__name__)
    for module in (layers, encoders, ops)
    for it in vars(module).values()
    if callable(it)
]


def _has_equations(documented) -> bool:
    """Returns whether a paragraph of a docstring begins with an equation."""
    heads = [part.splitlines()[0] for part in inspect.getdoc(documented).split("\n\n")]
    return any(" = " in it and "`" not in it and it[-1] not in ".,:" for it in heads)


WITH_EQUATIONS = [it for it in PUBLIC if _has_equations(*it.values)]
BASES = {"BaseLayer", "BatchNormHead", "BiRecurrentEncoder", "Recurrent"}


def _documented(page: str) -> set:
    text = (ROOT / "docs" / "api" / f"{page}.md").read_text(encoding="utf-8")
    return {name.rpartition(".")[2] for name in OBJECT.findall(text)}


@pytest.mark.parametrize("module", [encoders, ops], ids=lambda module: module.__name__)
def test_all_names_of_a_module_are_documented(module):
    page = module.__name__.rpartition(".")[2]
    assert _documented(page) - BASES == {*module.__all__} - CONSTANTS


def test_all_names_of_the_package_are_documented():
    assert {*disan_tf.__all__} - {"layers", "encoders", "ops"} <= _documented("disan_tf")
    assert _documented("layers") | _documented("encoders") >= BASES  # docstrings refer to them
    assert _documented("layers") - BASES == {"layers"}  # MkDocs lists its __all__


@pytest.fixture(scope="module")
def docstrings():
    """The extension that lays out docstrings, without griffe, which only the site needs."""
    spec = importlib.util.spec_from_file_location("docstrings", ROOT / "docs" / "docstrings.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "griffe", SimpleNamespace(Extension=object))
        spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "text, expected",
    [
        ("s_j = sum_i P^j_i * x_i   (11)", r"s_{j} = \sum _{i}\;P^{j}_{i}\odot x_{i} \tag{11}"),
        ("h = activation(W1 x + b1)", r"h = \text{activation}(W_{1}\;x + b_{1})"),
        ("q + <xhat_j|i, z_j>  (line 7)", r"q + \langle \hat{x}_{j|i}, z_{j}\rangle  \tag{line 7}"),
        ("0 if i < j  (16, 17)", r"0\;\text{if}\;i < j \tag{16, 17}"),
        ("e = source2token([u; x'_i])", r"e = \text{source2token}([u; x'_{i}])"),
        ("z^h ~ X^(l-1), ..., w . b", r"z^{h}\;\sim\;X^{l-1}, \dots , w\;\cdot\;b"),
        (
            "PE[2i]   = 10^(2i / dim)   for all",
            r"\text{PE}[2i] = 10^{2i / dim} \qquad \text{for}\;\text{all}",
        ),
    ],
)
def test_an_equation_becomes_latex(docstrings, text, expected):
    assert docstrings.latex(text) == expected


def _laid_out(docstrings, documented) -> str:
    docstring = SimpleNamespace(value=inspect.getdoc(documented))
    docstrings.Layout().on_object(obj=SimpleNamespace(docstring=docstring))
    return docstring.value


@pytest.mark.parametrize("documented", PUBLIC)
def test_no_type_or_product_is_taken_for_a_tag(docstrings, documented):
    text = re.sub(r"```.*?```|`[^`]*`", "", _laid_out(docstrings, documented), flags=re.DOTALL)
    assert not re.search(r"<\w", text.partition("Examples:")[0])


@pytest.mark.parametrize("documented", WITH_EQUATIONS)
def test_all_equations_are_latex(docstrings, documented):
    blocks = re.findall(r"```math\n(.*?)\n```", _laid_out(docstrings, documented), re.DOTALL)
    assert blocks
    for line in "\n".join(blocks).splitlines():
        formula = re.sub(r" \\tag{.*}$", "", line)
        assert "`" not in formula and "  (" not in formula and not line.startswith(" ")
        MathTextParser("path").parse(f"${formula}$")
