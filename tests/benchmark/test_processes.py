"""Peak memory of a function in a new process."""

import numpy as np
import pytest

from disan_tf.benchmark.timing import peak_gib


def test_the_peak_counts_what_the_function_touched():
    quarter = 2**25  # float64 numbers of a quarter of a GiB
    more, less = peak_gib(np.ones, quarter), peak_gib(np.ones, 1)
    assert more - less == pytest.approx(0.25, abs=0.02)


def test_the_caller_s_own_memory_does_not_count():
    kept = np.ones(2**27)  # one GiB
    assert peak_gib(np.ones, 1) < kept.nbytes / 2**30
