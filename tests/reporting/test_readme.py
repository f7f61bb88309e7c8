"""The README's tables of recorded runs and benchmarks."""

import pytest

from disan_tf.errors import UserError
from disan_tf.reporting.readme import README, benchmark_table, table, update_readme
from disan_tf.reporting.report import summarise
from tests.support.finished_runs import config_of, write, write_run, write_series

NAMES = ("results", "benchmark")


def test_the_readme_gets_a_row_for_each_run(tmp_path):
    run = summarise(write_run(tmp_path / "run", config_of()), {})
    write(tmp_path / "results" / "mine.json", run)
    assert "| mine (seed 3) | 1,000 | 20 (1.0) | 2 | 50.00 | 47.50 | 51.72 |" in _updated(tmp_path)


def test_a_series_shows_its_mean_and_deviation(tmp_path):
    run = summarise(write_series(tmp_path / "run", config_of()), {})
    write(tmp_path / "results" / "mine.json", run)
    row = "| mine (seeds 1, 2, 3) | 1,000 | 20 (1.0) | 2 | 50.00 ± 0.00 | 50.00 ± 10.00 | 51.72 |"
    assert row in _updated(tmp_path)


def test_relatedness_shows_correlations_and_error(tmp_path):
    run = summarise(write_run(tmp_path / "run", config_of()), {})
    scores = {"pearson": 0.86604, "spearman": 0.811, "mse": 0.33}
    write(tmp_path / "results" / "mine.json", {**run, "dev": scores, "test": scores})
    assert "| r 0.8660, ρ 0.8110, MSE 0.3300 | 51.72 |" in _updated(tmp_path)


def test_a_language_model_shows_its_perplexity(tmp_path):
    run = summarise(write_run(tmp_path / "run", config_of()), {})
    scores = {"log_likelihood": -4.5, "perplexity": 90.017, "forward_perplexity": 91.0}
    write(tmp_path / "results" / "mine.json", {**run, "dev": scores, "test": scores})
    assert "| perplexity 90.02 | perplexity 90.02 | 51.72 |" in _updated(tmp_path)


@pytest.mark.parametrize(
    "folds, shown", [([0, 1, 2], "seed 1, 3 folds"), ([0, 2], "seed 1, folds 0, 2 of 3")]
)
def test_folds_are_counted(tmp_path, folds, shown):
    run = summarise(write_series(tmp_path / "run", config_of("cr", folds=3, fold=0)), {})
    run["members"] = [{"seed": 1, "fold": fold} for fold in folds]
    write(tmp_path / "results" / "mine.json", run)
    assert f"| mine ({shown}) |" in _updated(tmp_path)


def test_the_readme_gets_the_times_by_the_share_of_selected_tokens(tmp_path):
    rates = {
        rate: {"median_ms": 100 * float(rate)} for rate in ("1.0", "0.75", "0.5", "0.25", "0.1")
    }
    model = {**rates, "all": {"median_ms": 1.5}, "iterative": {"median_ms": 2000.0}}
    record = {
        "machine": {"processor": "Fast", "threads": 2, "tensorflow": "2.15.1"},
        "config": {"dtype": "float32"},
        "selection": {
            "core": [{"length": 40, "forms": {"native": rates}}],
            "layer": [],
            "model": [{"lengths": [15, 8], "train": model, "inference": rates}],
        },
    }
    write(tmp_path / "benchmarks" / "resan.json", record)
    text = _updated(tmp_path)
    shown = "| 100.0 | 50.0 | 25.0 | 10.0 |"
    assert f"| core, forward and backward | 40 | native {shown}  |  |  |" in text
    assert f"| training step | 15/8 |  {shown} 1.5 |  | 2,000.0 |" in text


def test_the_readme_gets_the_times_of_each_benchmark(tmp_path):
    times = {"dense": 90.0, "native": 3.0, "float32": 30.0, "mixed_bfloat16": 20.0}
    forms = {
        name: {
            "median_ms": each, "dense_ratio": 90.0 / each, "products_ratio": each / 15.0,
            "pairs_per_second": 9000.0 / each,
        }
        for name, each in times.items()
    }  # fmt: skip
    record = {
        "machine": {"processor": "Fast", "threads": 2, "tensorflow": "2.15.1"},
        "config": {"encoder": {"name": "disan"}},
        "core": [{"length": 14, "forms": forms}, {"length": 400, "forms": {"native": {}}}],
        "step": [{"kind": "train", "lengths": [15, 8], "forms": forms}],
        "epoch": {"forms": forms},
    }
    write(tmp_path / "benchmarks" / "fast.json", record)
    text = _updated(tmp_path)
    assert "Fast, 2 threads, TensorFlow 2.15.1:" in text
    assert "| attention, forward and backward | 14 | 90.0 | 3.0 | | 30 | |" in text
    assert "| training step | 15/8 | 90 | 30 | 20 | 3.0, 4.5 | 2.00, 1.33 |" in text
    assert "| epoch, pairs per second | of SNLI | 100 | 300 | 450 | 3.0, 4.5 | |" in text
    assert "400" not in text


def test_the_readme_gets_dsa_beside_disan(tmp_path):
    times = {"dense": 900.0, "disan float32": 300.0, "disan mixed_bfloat16": 200.0}
    times.update({"float32": 150.0, "mixed_bfloat16": 80.0})
    forms = {
        name: {"median_ms": each, "pairs_per_second": 9000.0 / each, "peak_gib": each / 100}
        for name, each in times.items()
    }
    for name in ("float32", "mixed_bfloat16"):
        ratios = {"disan_ratio": times[f"disan {name}"] / times[name], "products_ratio": 1.25}
        forms[name].update(ratios, dense_ratio=900.0 / times[name])
    memory = [{"lengths": [15, 8], "form": name, **form} for name, form in forms.items()]
    for each in memory:
        for ratio in ("disan_ratio", "products_ratio", "dense_ratio"):
            each.pop(ratio, None)
    record = {
        "machine": {"processor": "Fast", "threads": 2, "tensorflow": "2.15.1"},
        "config": {"encoder": {"name": "dsa"}, "train": {"batch_size": 256}},
        "step": [{"kind": "train", "lengths": [15, 8], "forms": forms}],
        "epoch": {"forms": forms},
        "memory": {"core": [], "step": memory},
    }
    write(tmp_path / "benchmarks" / "dsa.json", record)
    text = _updated(tmp_path)
    assert "Fast, 2 threads, TensorFlow 2.15.1, batches of 256:" in text
    ratios = "| 2.00, 2.50 | 6.0, 11.2 | 1.25, 1.25 |"
    assert f"| training step, ms | 15/8 | 900 | 300, 200 | 150, 80 {ratios}" in text
    assert f"| epoch, pairs per second | of SNLI | 10 | 30, 45 | 60, 112 {ratios}" in text
    assert "| GiB | 15/8 | 9.0 | 3.0, 2.0 | 1.5, 0.8 |  |  |  |" in text.replace(
        "peak memory of training, GiB", "GiB"
    )


def test_the_readme_gets_time_and_memory_of_drcn(tmp_path):
    forms = {
        name: {"pairs_per_second": 100.0 * n, "epoch_minutes": 90.0 / n}
        for n, name in enumerate(("float32", "mixed_bfloat16"), start=1)
    }
    memory = [
        {"lengths": lengths, "form": name, "peak_gib": lengths[0] / 10 + n}
        for lengths in ([15, 8], [40, 40])
        for n, name in enumerate(forms)
    ]
    record = {
        "machine": {"processor": "Fast", "threads": 2, "tensorflow": "2.15.1"},
        "config": {"encoder": {"name": "drcn", "functions": "Cs"}, "train": {"batch_size": 350}},
        "epoch": {"forms": forms},
        "memory": {"core": [], "step": memory},
    }
    write(tmp_path / "benchmarks" / "drcn.json", record)
    text = _updated(tmp_path)
    assert "| DRCN Cs, batches of 350 | pairs per second | minutes an epoch of SNLI " in text
    assert "| peak memory at 15/8, GiB | peak memory at 40/40, GiB |" in text
    assert "| float32 | 100 | 90 | 1.5 | 4.0 |" in text
    assert "| bfloat16 | 200 | 45 | 2.5 | 5.0 |" in text


def test_the_readme_gets_the_epochs_of_each_encoder(tmp_path):
    encoders = {
        name: {
            "parameters": 1_000, "epoch_seconds": seconds, "disan_ratio": seconds / 500.0,
            "inference_pairs_per_second": 2_000.0,
        }
        for name, seconds in {"bi_lstm": 1_000.0, "disan": 500.0}.items()
    }  # fmt: skip
    machine = {"processor": "Fast", "threads": 2, "tensorflow": "2.15.1"}
    record = {"machine": machine, "encoders": {"dtype": "float32", "encoders": encoders}}
    write(tmp_path / "benchmarks" / "encoders.json", record)
    text = _updated(tmp_path)
    assert "Fast, 2 threads, TensorFlow 2.15.1, float32:" in text
    assert "| bi_lstm | 1,000 | 1,000 | 2.00 | 3.54 | 2,000 |" in text  # the paper: 2080 s to 587 s
    assert "| disan | 1,000 | 500 | 1.00 | 1.00 | 2,000 |" in text


def _updated(folder):
    """A README after `update_readme`; what stood between its marks is gone."""
    readme = folder / "README.md"
    parts = [f"<!-- {name}: begin -->\nearlier\n<!-- {name}: end -->\n" for name in NAMES]
    readme.write_text("\n".join(["before", *parts, "after\n"]))
    update_readme(readme, folder / "results", folder / "benchmarks")
    text = readme.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "earlier" not in text
    return text


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_without_the_marks_is_refused(tmp_path, name):
    (other,) = set(NAMES) - {name}
    marks = f"<!-- {other}: begin -->\n<!-- {other}: end -->\n"
    (tmp_path / "README.md").write_text(marks)
    with pytest.raises(UserError, match=f"{name}: begin"):
        update_readme(tmp_path / "README.md", tmp_path, tmp_path)
    assert (tmp_path / "README.md").read_text() == marks


def test_the_readme_of_the_repository_shows_the_recorded_runs_and_benchmarks():
    text = README.read_text(encoding="utf-8")
    assert table() in text and benchmark_table() in text
