"""Bars on a terminal, silence elsewhere, and times for people."""

import io
import os
import sys
from contextlib import redirect_stderr

import pytest

from disan_tf.common import progress
from disan_tf.common.progress import format_seconds, progress_bar, stages


@pytest.fixture
def terminal():
    """A standard error that is a terminal."""
    stream = io.StringIO()
    stream.isatty = lambda: True
    return stream


def _count(stderr, **arguments):
    with redirect_stderr(stderr), progress_bar("predict", "lines", **arguments) as bar:
        bar.mininterval = bar.miniters = 0
        bar.update(1000)
        bar.update(500)
        bar.refresh()


def test_a_bar_has_the_work_the_counts_the_speed_and_the_time_left(terminal):
    _count(terminal, total=3000)
    assert "predict: 1,500/3,000 lines " in terminal.getvalue()
    assert " lines/s, 00:00 left" in terminal.getvalue()


def test_a_bar_of_an_unknown_number_has_counts_and_speed(terminal):
    _count(terminal)
    assert "predict: 1,500 lines, " in terminal.getvalue()
    assert "left" not in terminal.getvalue()


def test_nothing_is_drawn_into_a_file(capsys):
    _count(sys.stderr, total=3000)
    with stages(2) as begin:
        begin("reading")
    assert capsys.readouterr() == ("", "")


def test_nothing_is_drawn_on_request(terminal):
    _count(terminal, total=3000, is_enabled=False)
    assert terminal.getvalue() == ""


def test_stages_name_the_current_one(terminal):
    with redirect_stderr(terminal), stages(2) as begin:
        begin("reading")
        begin("writing")
    assert "reading (0 of 2 done)" in terminal.getvalue()
    assert "\r (0 of 2 done)" not in terminal.getvalue()
    assert "writing (1 of 2 done)" in terminal.getvalue()


def test_a_bar_that_is_stopped_at_its_first_drawing_can_be_closed(terminal, monkeypatch):
    def stop(bar, **_):
        bars.append(bar)
        raise KeyboardInterrupt

    bars = []
    monkeypatch.setattr(progress.QuietBar, "refresh", stop)
    with pytest.raises(KeyboardInterrupt):
        _count(terminal)
    bars[0].close()


def test_the_first_frame_begins_at_zero(terminal):
    with redirect_stderr(terminal):
        progress.QuietBar(total=2, bar_format="{elapsed}").close()
    assert terminal.getvalue().split()[0] == "00:00"


def test_a_remark_to_a_closed_terminal_fails_nothing():
    reader, writer = os.pipe()
    os.close(reader)
    unbuffered = io.TextIOWrapper(io.FileIO(writer, "w"), write_through=True)
    with unbuffered, redirect_stderr(unbuffered):
        progress.notify("2 predictions")


@pytest.mark.parametrize(
    "seconds, text", [(0.4, "0 s"), (59.6, "1 min 0 s"), (84, "1 min 24 s"), (7500, "2 h 5 min")]
)
def test_times_have_seconds_minutes_or_hours(seconds, text):
    assert format_seconds(seconds) == text
