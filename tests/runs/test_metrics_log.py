"""The log of a training: a disk that is full, and lines that are damaged."""

import errno
import os

import pytest

from disan_tf.runs.metrics_log import MetricsLog
from tests.support.errors import user_error

LINE = '{"step": 1, "epoch": 0.5, "split": "dev", "seconds": 2.0}\n'


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux's /dev/full")
def test_a_line_that_cannot_be_written_names_the_file(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl", 0)
    log.path = "/dev/full"
    with pytest.raises(OSError, match="No space left") as caught:
        log.write(step=1, seconds=0.5)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")


@pytest.mark.parametrize(
    "damaged",
    [
        '{"step": 2, ',
        pytest.param("[" * 100_000, id="nested"),
        pytest.param(LINE.replace("1", "1" * 400), id="a long number"),
    ],
)
def test_a_damaged_line_is_ignored_at_the_end_and_refused_before(damaged, tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text(LINE + damaged.rstrip())
    assert MetricsLog.read(path) == [{"step": 1, "epoch": 0.5, "split": "dev", "seconds": 2.0}]
    path.write_text(f"{LINE}{damaged.rstrip()}\n{LINE}")
    message = user_error(MetricsLog.read, path)
    assert message.startswith(f"{path}, line 2 is not readable JSON (")
    assert message.endswith("): delete the line to continue.")


def test_a_selected_fraction_must_be_a_number(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text(LINE.replace("}", ', "head_fraction": "half"}'))
    message = user_error(MetricsLog.read, path)
    assert message.startswith(f"{path}, line 1: head_fraction must be a number")
