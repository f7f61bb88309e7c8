"""The table of trainings that began with a trained model."""

import csv

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.reporting.report import report
from disan_tf.reporting.result_files import read_results
from tests.support.runs.finished import config_of, write_series

START = {"name": "m", "sha256": "a", "words": 9000, "words_found": 7000, "head": False}
LABELS = np.array([0, 1] * 20, np.uint8)


def _series(folder, wrong, **run):
    """Three seeds, each wrong in so many of the 40 test examples."""
    write_series(folder, config_of(), [1 - count / 40 for count in wrong], **run)
    for seed, count in enumerate(wrong, start=1):
        predictions = np.where(np.arange(40) < count, 1 - LABELS, LABELS)
        path = folder / f"seed-{seed}" / "evaluation/test.npz"
        np.savez(path, predictions=predictions, labels=LABELS, step=20)


@pytest.fixture
def tree(tmp_path):
    _series(tmp_path / "runs/fine_tuning/sst", [20, 22, 24])
    _series(tmp_path / "runs/fine_tuning/sst_from_m", [4, 6, 8], init_from=START)
    return tmp_path / "runs"


def _lines(tmp_path):
    with open(tmp_path / "out/tables/fine_tuning.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_a_series_stands_beside_that_with_random_weights(tree, tmp_path):
    report(tree, tmp_path / "out")
    (line,) = _lines(tmp_path)
    assert (line["config"], line["seeds"]) == ("disan_sst", "seeds 1, 2, 3")
    assert (line["random weights"], line["from m"]) == ("45.00 (5.00)", "85.00 (5.00)")
    assert (line["gain"], line["words of the trained model"]) == ("+40.00", "7,000")
    low, high = map(float, line["interval"].split(" to "))
    assert 20 < low < 35 and 45 < high < 60
    page = (tmp_path / "out/tables/fine_tuning.md").read_text()
    assert "| disan_sst |" in page and "--init_from" in page


def test_no_table_of_a_paper_reads_either_series(tree, tmp_path):
    report(tree, tmp_path / "out")
    assert not read_results(tmp_path / "out/results")
    assert "45.00" not in (tmp_path / "out/tables/disan_table_2.csv").read_text()


def test_without_predictions_there_is_no_interval(tree, tmp_path):
    (tree / "fine_tuning/sst/seed-2/evaluation/test.npz").unlink()
    report(tree, tmp_path / "out")
    (line,) = _lines(tmp_path)
    assert (line["gain"], line["interval"]) == ("+40.00", "")


def test_a_series_without_its_counterpart_is_named(tree, tmp_path):
    report(tree, tmp_path / "out")
    (tmp_path / "out/results/fine_tuning/sst.json").unlink()
    with pytest.raises(UserError, match=r"sst_from_m\.json has no counterpart without --init_from"):
        report(None, tmp_path / "out")


def test_the_folder_has_a_meaning_only_inside_a_tree(tree, tmp_path):
    report(tree / "fine_tuning", tmp_path / "other")
    assert (tmp_path / "other/results/sst.json").exists()
