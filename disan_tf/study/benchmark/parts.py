"""The benchmark: runs its parts, prints tables and writes the measurements."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Callable, Optional

from ml_collections import ConfigDict

from disan_tf.common.atomic import write_json
from disan_tf.common.errors import UserError
from disan_tf.common.tables import text_table
from disan_tf.models.embeddings import EMBEDDINGS
from disan_tf.study.benchmark.epoch import measure_encoders, measure_epoch
from disan_tf.study.benchmark.step import (
    form_configs,
    is_pair,
    measure_core,
    measure_memory,
    measure_steps,
)
from disan_tf.study.benchmark.timing import describe_machine

_OF_PAIRS = ("epoch", "encoders")
_COLUMNS = {  # key of a measurement -> its column and format
    "parameters": ("parameters", ","),
    "median_ms": ("median ms", ",.1f"),
    "min_ms": ("min ms", ",.1f"),
    "max_ms": ("max ms", ",.1f"),
    "pairs_per_second": ("pairs/s", ",.0f"),
    "min": ("min", ",.0f"),
    "max": ("max", ",.0f"),
    "epoch_seconds": ("epoch s", ",.0f"),
    "epoch_minutes": ("epoch min", ",.1f"),
    "inference_pairs_per_second": ("inference pairs/s", ",.0f"),
    "padding_share": ("padding", ".1%"),
    "peak_gib": ("GiB", ",.2f"),
    "elements_per_ns": ("elements/ns", ",.2f"),
    "dense_ratio": ("times faster than dense", ",.2f"),
    "disan_ratio": ("beside DiSAN", ",.2f"),
}


def benchmark(
    config,
    compared_configs: Callable[[ConfigDict], Mapping[str, ConfigDict]],
    output: Optional[str] = None,
    parts: Sequence[str] = (),
    repetitions: int = 9,
) -> dict:
    """Measures a config's model, prints a table for each part, and writes the measurements.

    Args:
      config: a config of `configs/`.
      compared_configs: returns the configs that are compared with a config: "disan", and for DiSAN
        its baselines.
      output: a .json file for what is returned: "machine", "config", "repetitions" and the record
        of each part.
      parts: names of `PARTS`; empty = all parts for the config.
      repetitions: calls of every function; the median counts.
    """
    parts = _check(config, output, parts)
    compared = compared_configs(config)
    forms = form_configs(config, compared["disan"])
    results = {"machine": describe_machine(), "config": config.to_dict()}
    results["repetitions"] = repetitions
    print(", ".join(f"{key} {value}" for key, value in results["machine"].items()))
    for part in parts:
        measure, title, lines_of = PARTS[part]
        results[part] = measure(config, repetitions, compared if part == "encoders" else forms)
        print(f"\n{title}\n{text_table(lines_of(results[part]))}", flush=True)
        if output:
            write_json(Path(output), results)  # after every part: the later ones take minutes
    return results


def _check(config, output, parts):
    """Returns the parts to measure, in order; raises UserError, see `benchmark`."""
    for part in parts:
        if part not in PARTS:
            raise UserError(f"There is no benchmark part {part!r}; choose from {', '.join(PARTS)}.")
    known = {
        "disan": [*PARTS],
        "resan": ("encoders",),
        "dsa": ("step", "epoch", "memory"),
        "drcn": ("epoch", "memory"),
    }
    reads_bilm = EMBEDDINGS[config.embedding.name].reads_bilm
    fitting = [] if reads_bilm else known.get(config.encoder.name, [])
    if not fitting or set(parts) - set(fitting):
        wanted = f"part {', '.join(sorted(set(parts) - set(fitting)))}" if parts else "part"
        raise UserError(
            f"The benchmark has no {wanted} for the encoder {config.encoder.name}; give --config a "
            f"file of {' or '.join(known)}, or other --benchmark_parts."
        )
    for part in _OF_PAIRS:
        if part in parts and not is_pair(config):
            raise UserError(
                f"The benchmark part {part} needs a config of sentence pairs, and {config.name} "
                "reads single sentences; leave it out of --benchmark_parts."
            )
    if output and Path(output).suffix != ".json":
        raise UserError(f"--output={output} must end in .json.")
    parts = parts or [part for part in fitting if part not in _OF_PAIRS or is_pair(config)]
    return sorted(parts, key=lambda part: part != "memory")  # before this process grows


def _times(records: list[dict]) -> list[dict]:
    """Returns a table's lines for the forms of the core or of whole steps."""
    return [
        {**_place(record), "form": form, **_numbers({**record, **times})}
        for record in records
        for form, times in record["forms"].items()
    ]


def _memory(record: dict) -> list[dict]:
    """Returns a table's lines for the peak memory of processes that ran one form."""
    return [
        {"what": what, **_place(row), "form": row["form"], **_numbers(row)}
        for what in ("core", "step")
        for row in record[what]
    ]


def _place(record: dict) -> dict:
    lengths = record.get("lengths") or [record["length"]]
    kind = {"step": record["kind"]} if "kind" in record else {}
    return {**kind, "lengths": "/".join(map(str, lengths))}


def _speeds(rows: dict) -> list[dict]:
    """Returns a table's lines for the speeds of forms or encoders."""
    return [{"": name, **_numbers(row)} for name, row in rows.items()]


def _numbers(record: dict) -> dict:
    """Returns the columns of a record's measurements."""
    columns = {key: value for key, value in _COLUMNS.items() if key in record}
    return {column: f"{record[key]:{form}}" for key, (column, form) in columns.items()}


PARTS = {  # name -> measurement, title of its table, lines of the table
    "core": (measure_core, "Attention core, forward and backward", _times),
    "step": (measure_steps, "Training step and inference", _times),
    "epoch": (measure_epoch, "Epoch with SNLI's lengths", lambda it: _speeds(it["forms"])),
    "encoders": (
        measure_encoders,
        "Encoders, on SNLI's lengths; the last column has epochs of DiSAN",
        lambda it: _speeds(it["encoders"]),
    ),
    "memory": (measure_memory, "Peak memory of a process", _memory),
}
