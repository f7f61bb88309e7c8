"""Folders for preparations of the tiny treebank."""

import pytest

from tests.support.corpora import tiny_trees


@pytest.fixture
def data_dir(tmp_path):
    return tiny_trees.write(tmp_path / "data")


@pytest.fixture
def prepared_dir(tmp_path):
    return tmp_path / "prepared"
