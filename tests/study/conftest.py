"""A fixture of the tests of the study."""

from itertools import count

import pytest

from disan_tf.study.report import summarise
from tests.support.runs.finished import config_of, write_run, write_series


@pytest.fixture
def recorded(tmp_path):
    """A function that returns the recorded result of a run, or of a series if `tests` are given."""
    numbers = count()

    def summarised(config=None, tests=None, **run):
        folder = tmp_path / "recorded" / str(next(numbers))
        config = config or config_of()
        if tests is None:
            return summarise(write_run(folder, config, **run), {})
        return summarise(write_series(folder, config, tests, **run), {})

    return summarised
