"""The log of a training: a disk that is full, and lines that are damaged."""

import errno
import gzip
import os

import numpy as np
import pytest

from disan_tf.runs.metrics_log import MetricsLog, TrainingLog
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


def test_a_log_is_not_decompressed(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(gzip.compress(b"\n" * 1_000_000))
    assert "line 1: byte 0x8b at column 2 is not UTF-8" in user_error(MetricsLog.read, path)


def test_a_line_that_a_resumed_training_writes_again_is_removed(tmp_path):
    path, train = tmp_path / "metrics.jsonl", LINE.replace("dev", "train")
    path.write_text(train.replace("1", "2", 1) + train.replace("1", "3", 1) + LINE)
    kept = [(2, "train"), (1, "dev")]
    MetricsLog(path, 3, again=["train"])
    assert [(it["step"], it["split"]) for it in MetricsLog.read(path)] == kept


def test_the_log_of_a_training_without_its_checkpoints_is_refused(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text(LINE + LINE.replace("1", "2", 1))
    assert "whose checkpoints are missing; restore" in user_error(MetricsLog.check_begins, path)
    path.write_text(LINE)  # a kill between the first evaluation and its checkpoint
    MetricsLog.check_begins(path)


def test_a_selected_fraction_must_be_a_number(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text(LINE.replace("}", ', "head_fraction": "half"}'))
    message = user_error(MetricsLog.read, path)
    assert message.startswith(f"{path}, line 1: head_fraction must be a number")


def test_the_norm_of_a_skipped_step_does_not_count():
    log = TrainingLog(None, plan=None)
    for norm, skipped in [(2.0, 0), (float("nan"), 1), (float("inf"), 1), (4.0, 0)]:
        log.steps.append({"loss": 1.0, "gradient_norm": norm, "skipped_steps": skipped})
    assert log.means() == ({"loss": 1.0, "gradient_norm": 3.0}, 2)
    log.steps = log.steps[1:3]
    assert log.means() == ({"loss": 1.0}, 2)
    log.steps[0]["skipped_steps"] = 0  # a norm that is NaN for another reason stays
    assert np.isnan(log.means()[0]["gradient_norm"])
