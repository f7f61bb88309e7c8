"""The tables and the picture of accuracy against the number of training examples."""

import csv
import io

from disan_tf.reporting.report import report
from disan_tf.reporting.scaling.figure import draw_curves
from disan_tf.reporting.scaling.law import fit_curves
from disan_tf.reporting.scaling.table import scaling_tables
from tests.support.runs.finished import DATA, config_of, write_run
from tests.support.runs.scaling import SIZES, error, scaling_predictions, scaling_results


def tables_of(results, predictions=()):
    return scaling_tables(fit_curves(results, dict(predictions)))


def rows_of(text):
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]


def test_a_fit_stands_beside_what_was_measured_and_the_paper():
    results = scaling_results(seeds=(1, 2))
    text = tables_of(results, scaling_predictions(results))["scaling.md"]
    head, _, row = rows_of(text)[:3]
    cells = dict(zip(head, row))
    assert cells["held out"] == "89,169" and cells["paper"] == "85.62"
    assert cells["whole corpus"] == "549,367"
    for name in ("forecast there", "forecast for it"):
        value, low, high = (
            float(part)
            for part in cells[name].strip(")").replace("(", "").replace("to", "").split()
        )
        assert low < value < high
    assert abs(float(cells["forecast for it"].split()[0]) - 100 * (1 - error(549_367))) < 3


def test_a_forecast_that_misses_the_paper_is_printed_as_it_is():
    cells = dict(zip(*rows_of(tables_of(scaling_results())["scaling.md"])[:3:2]))
    value = float(cells["forecast for it"].split()[0])
    assert abs(value - 100 * (1 - error(549_367))) < 0.5 and value < float(cells["paper"]) - 4
    assert "no interval" in cells["forecast for it"]


def test_the_csv_has_a_line_for_each_number_of_examples():
    lines = list(csv.DictReader(io.StringIO(tables_of(scaling_results())["scaling.csv"])))
    assert [line["training examples"] for line in lines] == [f"{size:,}" for size in SIZES]
    assert [line["test accuracy, %"] for line in lines] == [
        f"{100 * (1 - error(size)):.2f}" for size in SIZES
    ]


def test_a_sentence_says_what_too_few_numbers_lack():
    text = tables_of(scaling_results(SIZES[:2]))["scaling.md"]
    assert (
        "- DiSAN on SNLI was trained on 6,000 and 12,000 pairs, and a law needs 4 numbers: train "
        "on fewer or more with --config.train.examples=N.\n"
    ) in text
    assert "forecast there" not in text


def test_without_any_curve_there_is_a_sentence_alone():
    tables = tables_of({})
    assert list(tables) == ["scaling.md"]
    assert "No model was trained on two numbers of examples yet" in tables["scaling.md"]


def test_curves_with_a_fit_are_drawn(tmp_path):
    results = {**scaling_results(seeds=(1, 2)), **scaling_results(SIZES[:2], encoder="additive")}
    draw_curves(fit_curves(results, scaling_predictions(results)), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "scaling.md",
        "scaling.svg",
        "scaling.png",
    }
    picture = (tmp_path / "scaling.svg").read_text()
    assert "DiSAN, SNLI" in picture and "additive" not in picture


def test_nothing_is_drawn_without_a_fit(tmp_path):
    draw_curves(fit_curves(scaling_results(SIZES[:3]), {}), tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_report_makes_them_of_recorded_runs(tmp_path):
    for size in (100, 200, 400, 800):
        config = config_of("snli")
        config["train"]["examples"] = size
        write_run(tmp_path / "runs" / f"disan_{size}", config, test=0.5 + size / 4000, data=DATA)
    report(tmp_path / "runs", tmp_path / "out")
    text = (tmp_path / "out/tables/scaling.md").read_text()
    rows = rows_of(text)
    assert "(../figures/scaling.png)" in text
    assert rows[2][0] == "DiSAN" and rows[2][5:7] == ["800", "70.00"]
    assert (tmp_path / "out/figures/scaling.png").is_file()
