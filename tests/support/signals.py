"""A mark for tests that send SIGHUP."""

import signal

import pytest

needs_sighup = pytest.mark.skipif(
    signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, reason="SIGHUP is ignored, as by nohup"
)
