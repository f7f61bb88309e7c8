"""The object that `attend` returns: a mapping of arrays, tables, plots and HTML."""

import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.text import Text

from disan_tf.serving.inference.attention import Attention
from tests.support.models.attention_files import disan

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


def test_a_plot_has_heat_maps_and_bars(attention):
    matrix, bars = attention.plot()
    np.testing.assert_allclose(matrix.images[0].get_array(), [[0, 0], [1, 1 / 3]])
    assert [text.get_text() for text in matrix.texts] == [".75", ".25"]
    assert [label.get_text() for label in matrix.get_yticklabels()] == ["fine", "film"]
    np.testing.assert_allclose([bar.get_height() for bar in bars.patches], [0.2, 0.8], atol=1e-6)
    assert [label.get_text() for label in bars.get_xticklabels()] == ["fine", "film"]


def _long_attention(count, longest=9):
    """DiSAN's attention on so many words, of which some have many letters."""
    words = ["a", "brothers", ",", "w" * longest]
    tokens = [words[place % 4] for place in range(count)]
    return Attention(("sentence",), (tokens,), disan(tokens))


def _overlap(labels):
    """Whether labels that follow each other stand upon each other."""
    boxes = [label.get_window_extent() for label in labels if label.get_text()]
    return any(one.overlaps(other) for one, other in zip(boxes, boxes[1:]))


@pytest.mark.parametrize("count", [1, 5, 13, 28, 60, 130])
def test_a_plot_fits_on_a_page_and_its_labels_do_not_overlap(count):
    axes = _long_attention(count, longest=9 if count % 2 else 60).plot()
    figure = axes[0].figure
    figure.canvas.draw()
    assert figure.get_figwidth() <= 10
    for each in axes:
        for labels in (each.get_xticklabels(), each.get_yticklabels()):
            assert not _overlap(labels) and all(label.get_size() >= 5 for label in labels)
    frame = figure.bbox.padded(1)
    drawn = [text.get_window_extent() for text in figure.findobj(Text) if text.get_text()]
    assert all(frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1) for box in drawn)


def test_maps_side_by_side_have_one_scale_on_which_each_row_reaches_1():
    attention = _long_attention(28)
    forward, backward, _ = attention.plot()
    assert forward.bbox.y0 == backward.bbox.y0 and forward.bbox.x1 < backward.bbox.x0
    for axes, name in ((forward, "forward_attention"), (backward, "backward_attention")):
        (image,) = axes.images
        means = attention[name].mean(axis=-1, dtype=np.float64)
        high = means.max(axis=1)
        np.testing.assert_allclose(image.get_array().max(axis=1).filled(0.0), high > 0)
        np.testing.assert_array_equal(image.get_array().mask, means == 0)
        assert image.get_clim() == (0, 1)
        numbers = [text.get_text() for text in axes.texts if text.get_text()]
        assert numbers == [f"{number:.2f}".lstrip("0") for number in high if number]
    figure = forward.figure
    bars = [axes.get_ylabel() for axes in figure.axes if axes.get_label() == "<colorbar>"]
    assert bars == ["weight / largest\nweight of the row"]
    assert "each row's largest weight" in figure.get_supxlabel()


@pytest.mark.parametrize(
    "name, begin", [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.PDF", b"%PDF")]
)
def test_a_plot_is_written_into_a_file(attention, name, begin, tmp_path):
    (axes,) = attention.plot("forward_attention", path=tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begin)
    assert axes.get_title() == "forward attention" and not pyplot.get_fignums()


@pytest.mark.parametrize("name", ["a.txt", "attention"])
def test_a_file_of_another_kind_is_refused(attention, name, tmp_path):
    with pytest.raises(ValueError, match=rf"path=.*{name} must end with .*\.png.*\.svg"):
        attention.plot(path=str(tmp_path / name))
    assert not list(tmp_path.iterdir())


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
