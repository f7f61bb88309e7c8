"""The page of all recorded runs, with hours and machines."""

import pytest

from disan_tf.study.report import summarise
from disan_tf.study.results import describe_examples
from disan_tf.study.tables import results_table
from tests.support.runs.finished import MACHINE, config_of, write_run, write_series

SEEN = "900 of 8,544 trees (10.5 %)"


def _page(**results):
    return results_table(results)["results.md"]


def test_recorded_machines_stand_beside_trainings_without_one(tmp_path, recorded):
    folder = write_series(tmp_path / "series", config_of())
    for seed, machine in ((1, MACHINE), (2, {**MACHINE, "gpu": "none"})):
        write_run(folder / f"seed-{seed}", config_of(seed=seed), machine=machine)
    text = _page(series=summarise(folder, {}))
    assert "| Some CPU, 2 of 4: 2 trainings; not recorded: 1 training |" in text
    text = _page(run=recorded(machine={**MACHINE, "gpu": "Some GPU"}))
    assert "| Some GPU beside Some CPU, 2 of 4 |" in text


@pytest.mark.parametrize(
    "drawn, kept, trained",
    [(0, 900, "900"), (400, 900, "400"), (950, 900, "900"), (0, 15_000, "1,000")],
    ids=["all", "a draw", "more than there are", "phrases of the trees"],
)
def test_the_training_examples_are_those_that_were_trained_on(drawn, kept, trained):
    data = {"training_examples": kept, "training_read": 1000, "unit": "trees"}
    data["official_training_examples"] = 2000
    run = {"config": {"train": {"examples": drawn}}, "data": data}
    assert describe_examples(run).startswith(f"{trained} of 2,000 trees (")


@pytest.mark.parametrize(
    "folds, shown", [([0, 1, 2], "seed 1, 3 folds"), ([0, 2], "seed 1, folds 0, 2 of 3")]
)
def test_folds_are_counted(recorded, folds, shown):
    run = recorded(config_of("cr", folds=3, fold=0))
    run["members"] = [{"seed": 1, "fold": fold, "minutes": 1.0} for fold in folds]
    assert f"| mine ({shown}) |" in _page(mine=run)
