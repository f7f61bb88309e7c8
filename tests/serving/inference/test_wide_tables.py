"""CSV predictions of tables with many columns."""

import time

from disan_tf.serving.inference.lines import CsvLines

BLANK = {"label": None, "probabilities": dict.fromkeys(("bad", "good")), "blank": True}
PREDICTION = {"label": "good", "probabilities": {"bad": 0.25, "good": 0.75}}
ROWS = 20


def _seconds(columns: int) -> float:
    """Returns a processor's least seconds for some rows, of which one has the header."""
    records = [{f"column {number}": "text" for number in range(columns)} for _ in range(ROWS)]
    least = float("inf")
    for _ in range(3):
        lines, started = CsvLines(BLANK), time.process_time()
        written = [(lines.check(record, ""), lines.line(record, PREDICTION)) for record in records]
        least = min(least, time.process_time() - started)
    assert written[-1][1].count(b",") == columns + 4 and written[-1][1].count(b"\n") == 1
    return least


def test_a_row_takes_linear_time_in_its_columns():
    """Ten times as many columns take ten times as long; in quadratic time, a hundred times."""
    assert _seconds(10_000) < 40 * _seconds(1_000)
