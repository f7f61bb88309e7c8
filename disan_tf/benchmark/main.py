"""The benchmark: runs its parts, prints tables and writes the measurements."""

from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from disan_tf.benchmark.core import measure_core, measure_core_memory
from disan_tf.benchmark.encoders import measure_encoders
from disan_tf.benchmark.epoch import measure_epoch
from disan_tf.benchmark.step import is_pair, measure_step_memory, measure_steps
from disan_tf.benchmark.tables import (
    core_table,
    encoders_table,
    epoch_table,
    memory_table,
    step_table,
)
from disan_tf.benchmark.timing import describe_machine
from disan_tf.common.errors import UserError
from disan_tf.common.files import write_json
from disan_tf.models.embeddings import EMBEDDINGS

_OF_PAIRS = ("epoch", "encoders")
_OF_DSA = ("step", "epoch", "memory")
_OF_DRCN = ("epoch", "memory")


def _memory(config, _):
    core = measure_core_memory(config) if config.encoder.name == "disan" else []
    return {"core": core, "step": measure_step_memory(config)}


PARTS = {
    "core": (measure_core, core_table),
    "step": (measure_steps, step_table),
    "epoch": (measure_epoch, epoch_table),
    "encoders": (measure_encoders, encoders_table),
    "memory": (_memory, memory_table),
}


def benchmark(
    config, output: Optional[str] = None, parts: Sequence[str] = (), repetitions: int = 9
) -> dict:
    """Measures a config's model, prints a table for each part, and writes the measurements.

    Args:
      config: a config of `configs/`.
      output: a .json file.
      parts: names of `PARTS`; empty = all parts for the config.
      repetitions: calls of every function; the median counts.

    Returns:
      The content of the JSON file: "machine", "config", "repetitions", and the parts' records.

    Raises:
      UserError: an unknown part, a part that does not fit this config, or a wrong output.
    """
    parts = _check(config, output, parts, repetitions)
    results = {
        "machine": describe_machine(),
        "config": config.to_dict(),
        "repetitions": repetitions,
    }
    print(", ".join(f"{key} {value}" for key, value in results["machine"].items()))
    for part in parts:
        measure, table = PARTS[part]
        results[part] = measure(config, repetitions)
        print(f"\n{table(results[part])}", flush=True)
        if output:
            write_json(Path(output), results)  # after every part: the later ones take minutes
    return results


def _check(config, output, parts, repetitions):
    """Returns the parts to measure, in order; raises UserError, see `benchmark`."""
    for part in parts:
        if part not in PARTS:
            raise UserError(f"There is no benchmark part {part!r}; choose from {', '.join(PARTS)}.")
    known = {
        "disan": [*PARTS],
        "dsa": _OF_DSA,
        "drcn": _OF_DRCN,
    }
    reads_bilm = EMBEDDINGS[config.embedding.name].reads_bilm
    fitting = () if reads_bilm else known.get(config.encoder.name, ())
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
    if repetitions < 1:
        raise UserError(f"--repetitions={repetitions} must be at least 1.")
    if output and Path(output).suffix != ".json":
        raise UserError(f"--output={output} must end in .json.")
    parts = parts or [part for part in fitting if part not in _OF_PAIRS or is_pair(config)]
    return sorted(parts, key=lambda part: part != "memory")  # before this process grows
