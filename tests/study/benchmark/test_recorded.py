"""Recorded benchmarks in tables; the repository's page has all kinds, see test_report.py."""

from disan_tf.study.benchmark.recorded import benchmark_tables

EPOCH = {"pairs_per_second": 107.2, "epoch_minutes": 85.6}
BENCHMARK = {"machine": {"processor": "Fast", "threads": 2, "tensorflow": "2.15.1"}}


def _benchmarks(*records):
    named = {str(number): {**BENCHMARK, **record} for number, record in enumerate(records)}
    return benchmark_tables(named)["benchmarks.md"]


def test_disan_stands_beside_the_authors_formulation():
    times = {"dense": 90.0, "native": 3.0, "float32": 30.0, "mixed_bfloat16": 15.0}
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
        "config": {"encoder": {"name": "disan"}},
        "core": [{"length": 14, "forms": forms}, {"length": 400, "forms": {"native": {}}}],
        "step": [{"kind": "train", "lengths": [15, 8], "forms": forms}],
        "epoch": {"forms": forms},
    }
    text = _benchmarks(record)
    assert "## DiSAN\n\n| machine | threads | TensorFlow | quantity | lengths |" in text
    assert (
        "| Fast | 2 | 2.15.1 | attention, forward and backward, ms | 14 | 90.0 | 3.0 |  | 30 |  |"
        in text
    )
    assert "| training step, ms | 15/8 | 90 | 30 | 15.0 | 3.0, 6.0 | 2.00, 1.00 |" in text
    epoch = "| epoch, pairs per second | of SNLI | 100 | 300 | 600 | 3.0, 6.0 |"
    assert epoch in text and "400" not in text


def test_encoders_have_epochs_beside_the_papers():
    encoders = {
        name: {
            "parameters": 1_000,
            "epoch_seconds": seconds,
            "disan_ratio": seconds / 500.0,
            "inference_pairs_per_second": 2_000.0,
        }
        for name, seconds in {"bi_lstm": 1_000.0, "disan": 500.0}.items()
    }
    text = _benchmarks({"encoders": {"dtype": "float32", "encoders": encoders}})
    assert "## The encoders of DiSAN's Table 1, float32" in text
    assert "| bi_lstm | 1,000 | 1,000 | 2.00 | 3.54 | 2,000 |" in text  # the paper: 2080 s to 587 s
    assert "| disan | 1,000 | 500 | 1.00 | 1.00 | 2,000 |" in text


def test_a_kind_of_benchmark_has_one_table_for_all_machines():
    record = {
        "config": {"encoder": {"name": "drcn", "functions": "Cs"}, "train": {"batch_size": 64}},
        "epoch": {"forms": dict.fromkeys(("float32", "mixed_bfloat16"), EPOCH)},
    }
    peaks = {"float32": 1.5, "mixed_bfloat16": 1.2}.items()
    memory = {"step": [{"lengths": [15, 8], "form": form, "peak_gib": gib} for form, gib in peaks]}
    gpu = {**BENCHMARK["machine"], "gpu": "NVIDIA L4", "tensorflow": "2.21.0"}
    text = _benchmarks({**record, "memory": memory}, {**record, "machine": gpu})
    assert text.count("## ") == 1
    assert "| Fast | 2 | 2.15.1 | Cs | 64 | bfloat16 | 107 | 86 | 1.2 |\n" in text
    assert "| NVIDIA L4 | 2 | 2.21.0 | Cs | 64 | float32 | 107 | 86 |  |\n" in text
