"""common/plots.py: styles and legends that tell lines apart."""

import numpy as np

from disan_tf.common import plots


def test_25_lines_have_different_styles():
    assert len({repr(plots.line_style(number)) for number in range(25)}) == 25


def test_colours_by_row_keep_the_numbers():
    axes = plots.new_figure(2.0, 2.0).add_subplot()
    weights = np.array([[0.1, 0.2], [0.9, 0.0], [0.0, 0.0]])
    image = plots.heat_map(axes, weights, "abc", "de", by_row=True, digits=1, mask_zeros=True)
    np.testing.assert_allclose(image.get_array().filled(-1), [[0.5, 1], [1, -1], [-1, -1]])
    assert [text.get_text() for text in axes.texts] == [".1", ".2", ".9"]
    assert [text.get_color() for text in axes.texts] == ["white", "black", "black"]
    assert plots.number(10.25, 1) == "10.2"


def test_a_legend_stands_beside_the_axes_and_inside_the_figure():
    figure = plots.new_figure(6.0, 4.0)
    axes = figure.add_subplot()
    for number in range(9):
        axes.plot([0, 1], [0, number], label=f"run_$b$ {number}")
    plots.legend_beside(axes)
    plots.drawn(figure)
    box = axes.get_legend().get_window_extent()
    assert axes.bbox.x1 < box.x0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
    texts = axes.get_legend().get_texts()
    assert [text.get_text() for text in texts] == [f"run_$b$ {number}" for number in range(9)]
    assert not any(text.get_parse_math() for text in texts)  # signs are no mathematics
