"""common/plots.py: styles and legends that tell lines apart."""

from disan_tf.common import plots


def test_25_lines_have_different_styles():
    assert len({repr(plots.line_style(number)) for number in range(25)}) == 25


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
