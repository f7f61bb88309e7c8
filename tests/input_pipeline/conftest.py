"""The prepared corpus that tests damage."""

import pytest

from tests.support.corpora import two_examples


@pytest.fixture
def directory(tmp_path):
    return two_examples.write(tmp_path)
