"""Recorded benchmarks as Markdown tables."""

import pytest

from disan_tf.reporting.benchmark_tables import benchmark_tables
from tests.support.runs.finished import write

MACHINE = {"processor": "Fast", "threads": 2, "tensorflow": "2.15.1"}


def _tables(folder, record):
    write(folder / "mine.json", record)
    return benchmark_tables(folder)["benchmarks.md"]


def test_hard_attention_has_times_by_the_share_of_selected_tokens(tmp_path):
    rates = {
        rate: {"median_ms": 100 * float(rate)} for rate in ("1.0", "0.75", "0.5", "0.25", "0.1")
    }
    model = {**rates, "all": {"median_ms": 1.5}, "iterative": {"median_ms": 2000.0}}
    record = {
        "machine": MACHINE,
        "config": {"dtype": "float32", "train": {"batch_size": 128}},
        "selection": {
            "core": [{"length": 40, "forms": {"native": rates}}],
            "layer": [],
            "model": [{"lengths": [15, 8], "train": model, "inference": rates}],
        },
    }
    text = _tables(tmp_path, record)
    shown = "| 100.0 | 50.0 | 25.0 | 10.0 |"
    assert f"| core, forward and backward | 40 | native {shown}  |  |  |" in text
    assert f"| training step | 15/8 |  {shown} 1.5 |  | 2,000.0 |" in text
    assert "TensorFlow 2.15.1, float32, steps of batches of 128; by the share" in text
    inference = [line for line in text.splitlines() if line.startswith("| inference")]
    del record["selection"]["model"][0]["inference"]
    left = _tables(tmp_path, record).splitlines()
    assert inference and left == [line for line in text.splitlines() if line not in inference]


def test_disan_stands_beside_the_authors_formulation(tmp_path):
    times = {"dense": 90.0, "native": 3.0, "float32": 30.0, "mixed_bfloat16": 20.0}
    forms = {
        name: {
            "median_ms": ms,
            "dense_ratio": 90.0 / ms,
            "products_ratio": ms / 15.0,
            "pairs_per_second": 9000.0 / ms,
        }
        for name, ms in times.items()
    }
    record = {
        "machine": MACHINE,
        "config": {"encoder": {"name": "disan"}},
        "core": [{"length": 14, "forms": forms}, {"length": 400, "forms": {"native": {}}}],
        "step": [{"kind": "train", "lengths": [15, 8], "forms": forms}],
        "epoch": {"forms": forms},
    }
    text = _tables(tmp_path, record)
    assert "Fast, 2 threads, TensorFlow 2.15.1:" in text
    assert "| attention, forward and backward | 14 | 90.0 | 3.0 |  | 30 |  |" in text
    assert "| training step | 15/8 | 90 | 30 | 20 | 3.0, 4.5 | 2.00, 1.33 |" in text
    assert "| epoch, pairs a second | of SNLI | 100 | 300 | 450 | 3.0, 4.5 |  |" in text
    assert "400" not in text


def test_dsa_stands_beside_disan(tmp_path):
    times = {"dense": 900.0, "disan float32": 300.0, "disan mixed_bfloat16": 200.0}
    times.update({"float32": 150.0, "mixed_bfloat16": 80.0})
    forms = {
        name: {"median_ms": ms, "pairs_per_second": 9000.0 / ms, "peak_gib": ms / 100}
        for name, ms in times.items()
    }
    peaks = {name: {"peak_gib": form["peak_gib"]} for name, form in forms.items()}
    memory = [{"lengths": [15, 8], "form": name, **peak} for name, peak in peaks.items()]
    for name in ("float32", "mixed_bfloat16"):
        ratios = {"disan_ratio": times[f"disan {name}"] / times[name], "products_ratio": 1.25}
        forms[name].update(ratios, dense_ratio=900.0 / times[name])
    record = {
        "machine": MACHINE,
        "config": {"encoder": {"name": "dsa"}, "train": {"batch_size": 256}},
        "step": [{"kind": "train", "lengths": [15, 8], "forms": forms}],
        "epoch": {"forms": forms},
        "memory": {"core": [], "step": memory},
    }
    text = _tables(tmp_path, record)
    assert "Fast, 2 threads, TensorFlow 2.15.1, batches of 256:" in text
    ratios = "| 2.00, 2.50 | 6.0, 11.2 | 1.25, 1.25 |"
    assert f"| training step, ms | 15/8 | 900 | 300, 200 | 150, 80 {ratios}" in text
    assert f"| epoch, pairs a second | of SNLI | 10 | 30, 45 | 60, 112 {ratios}" in text
    assert "memory of training, GiB | 15/8 | 9.0 | 3.0, 2.0 | 1.5, 0.8 |  |  |  |" in text
    parts = {part: value for part, value in record.items() if part not in ("epoch", "memory")}
    assert _tables(tmp_path, parts).splitlines() == [
        line for line in text.splitlines() if not line.startswith(("| epoch", "| peak"))
    ]


def test_drcn_has_time_and_memory(tmp_path):
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
        "machine": MACHINE,
        "config": {"encoder": {"name": "drcn", "functions": "Cs"}, "train": {"batch_size": 350}},
        "epoch": {"forms": forms},
        "memory": {"core": [], "step": memory},
    }
    text = _tables(tmp_path, record)
    assert "| DRCN Cs, batches of 350 | pairs a second | minutes an epoch of SNLI " in text
    assert "| peak memory at 15/8, GiB | peak memory at 40/40, GiB |" in text
    assert "| float32 | 100 | 90 | 1.5 | 4.0 |" in text
    assert "| bfloat16 | 200 | 45 | 2.5 | 5.0 |" in text
    del record["memory"]
    assert "| bfloat16 | 200 | 45 |\n" in _tables(tmp_path, record)


def test_encoders_have_epochs_beside_the_papers(tmp_path):
    encoders = {
        name: {
            "parameters": 1_000,
            "epoch_seconds": seconds,
            "disan_ratio": seconds / 500.0,
            "inference_pairs_per_second": 2_000.0,
        }
        for name, seconds in {"bi_lstm": 1_000.0, "disan": 500.0}.items()
    }
    record = {"machine": MACHINE, "encoders": {"dtype": "float32", "encoders": encoders}}
    text = _tables(tmp_path, record)
    assert "Fast, 2 threads, TensorFlow 2.15.1, float32:" in text
    assert "| bi_lstm | 1,000 | 1,000 | 2.00 | 3.54 | 2,000 |" in text  # the paper: 2080 s to 587 s
    assert "| disan | 1,000 | 500 | 1.00 | 1.00 | 2,000 |" in text


def test_benchmarks_follow_one_another_by_name(tmp_path):
    config = {"dtype": "float32", "train": {"batch_size": 128}}
    layer = [{"length": 40, "forms": {"native": {"1.0": {"median_ms": 3.0}}}}]
    record = {"config": config, "selection": {"core": [], "layer": layer, "model": []}}
    for name, processor in (("b", "Second"), ("a", "First")):
        machine = {**MACHINE, "processor": processor}
        write(tmp_path / f"{name}.json", {**record, "machine": machine})
    text = benchmark_tables(tmp_path)["benchmarks.md"]
    assert "\n\nFirst, " in text and "|\n\nSecond, " in text.partition("\n\nFirst, ")[2]


@pytest.mark.parametrize(
    "gpu, title", [({}, ""), ({"gpu": "none"}, ""), ({"gpu": "NVIDIA L4"}, "NVIDIA L4, ")]
)
def test_a_title_names_the_gpu(tmp_path, gpu, title):
    record = {"machine": {**MACHINE, **gpu}, "step": []}
    assert f"\n{title}Fast, 2 threads, TensorFlow 2.15.1:\n" in _tables(tmp_path, record)
