"""common/plots.py: labels beside the ends of lines, none upon another."""

import numpy as np
import pytest
from matplotlib.text import Text

from disan_tf.common import plots
from disan_tf.common.plots import End, label_ends, spread


@pytest.mark.parametrize(
    "heights, places",
    [
        ([0.1, 0.5, 0.9], [0.1, 0.5, 0.9]),  # far apart: unmoved
        ([0.5, 0.5], [0.45, 0.55]),
        ([0.5, 0.52, 0.9], [0.46, 0.56, 0.9]),
        ([0.4, 0.5, 0.5, 0.5], [0.325, 0.425, 0.525, 0.625]),
        ([0.95, 1.0, 1.0], [0.8, 0.9, 1.0]),  # none above the axes
        ([0.0, 0.01], [0.0, 0.1]),
        ([], []),
    ],
)
def test_heights_that_are_too_close_move_apart_around_their_mean(heights, places):
    np.testing.assert_allclose(spread(heights, 0.1), places, atol=1e-12)


def test_labels_do_not_cover_each_other():
    figure = plots.new_figure(6.0, 4.0)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1])
    label_ends(axes, [End(1.0, 0.5 + place / 1000, f"run {place}", "black") for place in range(9)])
    plots.drawn(figure)
    extents = map(Text.get_window_extent, axes.texts)  # without the lines that lead to the ends
    boxes = sorted(extents, key=lambda box: box.y0)
    assert len(boxes) == 9
    assert all(below.y1 <= above.y0 + 1 for below, above in zip(boxes, boxes[1:]))
    assert min(box.x0 for box in boxes) > axes.bbox.x1
    assert max(box.x1 for box in boxes) <= figure.bbox.x1


def test_signs_in_a_label_are_no_mathematics():
    figure = plots.new_figure(3.0, 2.0)
    axes = figure.add_subplot()
    label_ends(axes, [End(1.0, 0.5, "a_$b$", "black")])
    plots.drawn(figure)
    assert axes.texts[0].get_text() == "a_$b$" and not axes.texts[0].get_parse_math()
