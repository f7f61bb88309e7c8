"""The log of a training on a disk that is full."""

import errno
import os

import pytest

from disan_tf.runs.metrics_log import MetricsLog


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux's /dev/full")
def test_a_line_that_cannot_be_written_names_the_file(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl", 0)
    log.path = "/dev/full"
    with pytest.raises(OSError, match="No space left") as caught:
        log.write(step=1, seconds=0.5)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")
