"""Figures of what sentences attend to."""

import numpy as np
import pytest

from disan_tf.common.plots import save_picture
from disan_tf.serving.attention_page import figures as attention
from disan_tf.serving.attention_page.attention_files import read_lines
from tests.support.models.attention_files import disan, dsa, resan, write_sentence

FIRST, SECOND = ["the", "plot", "is", "$good$"], ["a", "film"]


@pytest.fixture
def lines(tmp_path):
    """A function: lines of two sentences, of which a function of tokens gives the tensors."""

    def lines(make, *records):
        for number, tokens in enumerate((FIRST, SECOND), start=1):
            record = records[number - 1] if records else {}
            write_sentence(tmp_path, number, tokens, make(tokens), **record)
        return list(read_lines(tmp_path))

    return lines


def _images(figure):
    """The cells of each heat map, without those of colour bars."""
    return [axes.images[0].get_array() for axes in figure.axes if axes.images]


def _labels(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def _texts(axes):
    return [text.get_text() for text in axes.texts]


def test_matrices_are_means_over_the_features_with_heads_as_rows(lines):
    figure = attention.attention_matrices(lines(disan))
    cells = _images(figure)
    assert len(cells) == 4
    forward = disan(FIRST)["forward_attention"].mean(axis=-1)
    np.testing.assert_allclose(cells[0].filled(0.0), forward, atol=1e-6)
    np.testing.assert_array_equal(cells[0].mask, forward == 0.0)
    first = figure.axes[0]
    assert _labels(first) == FIRST and first.get_ylabel().startswith("attending")
    assert f"{forward[3, 0]:.2f}".replace("0.", ".") in _texts(first)


def test_hard_attention_has_heads_as_columns_and_squares_at_selected_tokens(lines):
    figure = attention.attention_matrices(lines(resan), selected=True)
    cells = _images(figure)[0]
    forward = resan(FIRST)["forward_attention"].mean(axis=-1)
    np.testing.assert_allclose(cells.filled(0.0), forward.T, atol=1e-6)
    squares = [line.get_markerfacecolor() for line in figure.axes[0].lines]
    heads, dependents = squares[:4], squares[4:]
    assert heads == ["black", "white", "black", "white"]
    assert dependents == ["black", "black", "black", "white"]


@pytest.mark.parametrize("make, selected", [(disan, False), (resan, True)])
def test_figures_of_long_sentences_fit_on_a_page(make, selected, tmp_path):
    for number, count in ((1, 40), (2, 5)):
        tokens = [f"word{place}" for place in range(count)]
        write_sentence(tmp_path, number, tokens, make(tokens))
    found = list(read_lines(tmp_path))
    figure = attention.attention_matrices(found, selected=selected)
    assert figure.get_figwidth() < 11.5 and attention.gates(found).get_figwidth() < 11.5
    cells, means = _images(figure)[0], make([""] * 40)["forward_attention"].mean(axis=-1)
    if not selected:
        largest = np.maximum(means.max(axis=1, keepdims=True), 1e-9)
        np.testing.assert_allclose(cells.filled(0.0), means / largest, atol=1e-5)
        assert figure.axes[0].images[0].get_clim() == (0, 1)


def test_a_direction_without_a_choice_does_not_stretch_the_scale(lines):
    tensors = disan(FIRST)
    tensors["forward_attention"][2:] = 0.0  # one head is left, with one word to attend to
    found = lines(lambda tokens: tensors if tokens == FIRST else disan(tokens))
    image = attention.attention_matrices(found).axes[0].images[0]
    backward = tensors["backward_attention"].mean(axis=-1)
    assert image.get_clim() == pytest.approx((0.0, backward[:2].max()))  # the third has no choice


def test_gates_stand_below_each_other(lines):
    figure = attention.gates(lines(disan))
    tensors = disan(FIRST)
    expected = [tensors[f"{name}_gate"].mean(axis=-1) for name in ("forward", "backward")]
    cells = _images(figure)[:2]
    np.testing.assert_allclose(cells[0], expected, atol=1e-6)
    assert _labels(figure.axes[0]) == ["forward gate", "backward gate"]
    extremes = min(map(np.min, cells)), max(map(np.max, cells))  # of both sentences
    for axes in figure.axes[:2]:
        assert axes.images[0].get_clim() == pytest.approx(extremes)


def test_a_word_in_two_contexts_has_all_its_features(lines):
    figure = attention.word_in_contexts(lines(disan, {"word": "plot"}, {"word": "film"}))
    np.testing.assert_allclose(
        _images(figure)[0], [disan(FIRST)["source2token"][1], disan(SECOND)["source2token"][1]]
    )


@pytest.mark.parametrize("records", [(), ({"word": "plot"}, {"word": "absent"})])
def test_a_word_that_is_not_in_two_sentences_has_no_figure(lines, records):
    assert attention.word_in_contexts(lines(disan, *records)) is None


def test_a_single_attention_has_a_strip_for_each_sentence(lines):
    cells = _images(attention.single_attention(lines(lambda tokens: dsa(tokens, 1))))
    np.testing.assert_allclose(cells[0], dsa(FIRST, 1)["attention"].T)
    assert len(cells) == 2
    assert attention.single_attention(lines(dsa)) is None


@pytest.mark.parametrize("draw", [attention.attention_matrices, attention.gates])
def test_one_sentence_is_too_few(tmp_path, draw):
    write_sentence(tmp_path, 1, FIRST, disan(FIRST))
    assert draw(list(read_lines(tmp_path))) is None


def test_weight_vectors_of_few_sentences_have_no_figure():
    points = np.random.default_rng(0).normal(size=(60, 3, 2))
    rows = [{"coordinates": row.tolist()} for row in points]
    record = {"sentences": rows, "explained": [[0.5, 0.25]] * 3}
    figure = attention.weight_vectors(record)
    np.testing.assert_allclose(figure.axes[0].collections[0].get_offsets(), points[:, 0])
    assert "50%" in figure.axes[0].get_xlabel()
    assert attention.weight_vectors({**record, "sentences": rows[:49]}) is None
    assert attention.weight_vectors({}) is None


def test_a_picture_is_saved_twice_with_the_same_bytes_and_any_words(lines, tmp_path):
    tokens = ["$x_1$", "<b>&", "السلام", "\\frac"]
    write_sentence(tmp_path, 1, tokens, disan(tokens))
    write_sentence(tmp_path, 2, SECOND, disan(SECOND))
    contents = []
    for name in ("one", "two"):
        save_picture(attention.attention_matrices(list(read_lines(tmp_path))), tmp_path / name)
        contents.append([(tmp_path / f"{name}.{kind}").read_bytes() for kind in ("svg", "png")])
    assert contents[0] == contents[1]
    text = contents[0][0].decode()
    assert "$x_1$" in text and "&lt;b&gt;&amp;" in text and "السلام" in text
