"""The object that `attend` returns: a mapping of arrays, tables, plots and HTML."""

import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import pyplot

from disan_tf.serving.inference.attention import Attention

SOURCE2TOKEN = np.array([[0.1, 0.3], [0.9, 0.7]], np.float32)
MATRIX = np.array([[[0, 0], [0, 0]], [[1, 0.5], [0, 0.5]]], np.float32)


@pytest.fixture
def attention():
    tensors = {"forward_attention": MATRIX, "gate": 1 - SOURCE2TOKEN, "source2token": SOURCE2TOKEN}
    return Attention(("sentence",), (["fine", "film"],), tensors)


@pytest.fixture
def crossed():
    """DRCN's: two words of the premise attend to three of the hypothesis, and the reverse."""
    tensors = {
        "premise_minus_1": np.arange(6, dtype=np.float32).reshape(2, 3, 1),
        "hypothesis_minus_1": np.arange(6, dtype=np.float32).reshape(3, 2, 1),
    }
    return Attention(("premise", "hypothesis"), (["a", "b"], ["c", "d", "e"]), tensors, True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def test_it_is_a_mapping_of_tokens_and_arrays(attention):
    assert list(attention) == ["tokens", "forward_attention", "gate", "source2token"]
    assert len(attention) == 4 and attention["tokens"] == ["fine", "film"]
    assert {**attention}["source2token"] is SOURCE2TOKEN and "axes" not in attention
    with pytest.raises(KeyError):
        attention["backward_attention"]


def test_a_table_has_the_mean_weights_of_each_token(attention):
    table = attention.table()
    assert list(table) == ["token", "source2token", "gate"]
    assert table["token"].tolist() == ["fine", "film"]
    np.testing.assert_allclose(table["source2token"], [0.2, 0.8], atol=1e-6)
    np.testing.assert_allclose(table["gate"], [0.8, 0.2], atol=1e-6)


def test_the_table_of_a_matrix_has_heads_as_rows(attention):
    table = attention.table("forward_attention")
    assert list(table.index) == list(table.columns) == ["fine", "film"]
    np.testing.assert_array_equal(table, [[0, 0], [0.75, 0.25]])


def test_the_words_of_drcn_attend_to_the_other_sentence(crossed):
    assert list(crossed.table("premise_minus_1").columns) == ["c", "d", "e"]
    assert crossed.table("hypothesis_minus_1").loc["e"].tolist() == [4, 5]
    assert crossed.table().iloc[-1].tolist() == ["hypothesis", "e"]


def test_the_table_of_a_pair_has_both_sentences():
    tensors = {"sentence_a_source2token": SOURCE2TOKEN, "sentence_b_source2token": SOURCE2TOKEN}
    table = Attention(("sentence_a", "sentence_b"), (["a", "b"], ["c", "d"]), tensors).table()
    assert list(table) == ["sentence", "token", "source2token"]
    assert table.iloc[2].tolist() == ["sentence_b", "c", pytest.approx(0.2)]


@pytest.mark.parametrize("name", ["forwards_attention", "source2token"])
def test_only_matrices_have_tables_of_their_own(attention, name):
    with pytest.raises(ValueError, match=f"matrix={name} must be forward_attention"):
        attention.table(name)


@pytest.mark.parametrize("matrix", ["", "forward_attention"])
def test_without_pandas_a_table_names_the_extra(attention, matrix, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas.*pip install 'disan_tf\[notebook\]'"):
        attention.table(matrix)
    assert attention[matrix or "gate"].ndim


def test_a_plot_has_heat_maps_and_bars(attention):
    matrix, bars = attention.plot()
    np.testing.assert_array_equal(matrix.images[0].get_array(), [[0, 0], [0.75, 0.25]])
    assert [label.get_text() for label in matrix.get_yticklabels()] == ["fine", "film"]
    np.testing.assert_allclose([bar.get_width() for bar in bars.patches], [0.2, 0.8], atol=1e-6)
    assert [label.get_text() for label in bars.get_yticklabels()] == ["fine", "film"]


def test_a_plot_draws_what_is_named(attention, crossed):
    (axes,) = attention.plot("gate")
    assert axes.get_title() == "gate"
    assert [axes.get_title() for axes in crossed.plot()] == [
        "premise minus 1",
        "hypothesis minus 1",
    ]
    with pytest.raises(ValueError, match="name=gates must be"):
        attention.plot("gates")
    with pytest.raises(ValueError, match="no attention to draw"):
        Attention(("sentence",), (["a"],), {}).plot()


def test_words_with_dollars_are_drawn_as_they_are():
    tensors = {"attention": MATRIX, "source2token": SOURCE2TOKEN}
    axes, *_ = Attention(("sentence",), (["$\\x$", "$_$"],), tensors).plot()
    axes.figure.canvas.draw()  # an invalid formula raises


def _page(attention):
    """The tags and the text of its HTML, which is XML too."""
    root = ElementTree.fromstring(attention._repr_html_())
    return {element.tag for element in root.iter()}, "".join(root.itertext())


def test_html_shades_the_tokens(attention):
    assert _page(attention) == ({"div", "p", "bdi"}, "source2token: fine film")
    shades = re.findall(r"rgba\(230, 150, 0, ([\d.]+)\)", attention._repr_html_())
    assert shades == ["0.25", "1.00"]  # 0.2 / 0.8, and the largest


def test_html_escapes_tokens():
    tokens = ['<script>alert("&")</script>', "'\"><img src=x onerror=y>"]
    tensors = {"forward_attention": MATRIX, "source2token": SOURCE2TOKEN}
    tags, text = _page(Attention(("sentence",), (tokens,), tensors))
    assert not tags & {"script", "img"} and all(text.count(token) == 1 for token in tokens)


def test_html_of_tokens_without_weights_shows_them(crossed):
    assert "premise_tokens: a b" in _page(crossed)[1]


def test_dsa_has_weights_and_its_weight_vectors_are_in_the_mapping_alone(loaded):
    attention = loaded("dsa_sst5").attend("a fine film .")
    assert attention["weight_vectors"].ndim == 3 and not attention.matrices
    assert "weight_vectors" not in attention.weights
    assert len(attention.plot()) == 1 and "fine" in attention._repr_html_()
