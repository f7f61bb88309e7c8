"""Measurements as text tables."""

from disan_tf.common.tables import text_table

_COLUMNS = {  # key of a measurement -> its column and format
    "median_ms": ("median ms", ",.1f"),
    "min_ms": ("min ms", ",.1f"),
    "max_ms": ("max ms", ",.1f"),
    "one_ms": ("one thread ms", ",.1f"),
    "all_ms": ("all ms", ",.1f"),
    "pairs_per_second": ("pairs/s", ",.0f"),
    "min": ("min", ",.0f"),
    "max": ("max", ",.0f"),
    "epoch_seconds": ("epoch s", ",.0f"),
    "epoch_minutes": ("epoch min", ",.1f"),
    "inference_pairs_per_second": ("inference pairs/s", ",.0f"),
    "padding_share": ("padding", ".1%"),
    "peak_gib": ("GiB", ",.2f"),
    "elements_per_ns": ("elements/ns", ",.2f"),
    "speedup": ("speedup", ",.2f"),
    "ratio": ("share of all", ",.2f"),
    "dense_ratio": ("times faster than dense", ",.2f"),
    "disan_ratio": ("than DiSAN", ",.2f"),
}


def core_table(records: list[dict]) -> str:
    """Formats the attention core's times by length and form."""
    lines = [
        {"length": record["length"], "form": form, **_numbers(times)}
        for record in records
        for form, times in record["forms"].items()
    ]
    return f"Attention core, forward and backward\n{text_table(lines)}"


def memory_table(records: dict) -> str:
    """Formats the peak memory of processes that ran one form of the core or training step."""
    lines = [
        {"what": what, "length": _lengths(row), "form": row["form"], **_numbers(row)}
        for what in ("core", "step")
        for row in records[what]
    ]
    return f"Peak memory of a process\n{text_table(lines)}"


def step_table(records: list[dict]) -> str:
    """Formats the times of whole steps."""
    lines = [
        {
            "step": record["kind"],
            "lengths": _lengths(record),
            "form": form,
            **_numbers({**record, **times}),
        }
        for record in records
        for form, times in record["forms"].items()
    ]
    return f"Training step and inference\n{text_table(lines)}"


def epoch_table(record: dict) -> str:
    """Formats an epoch's speed."""
    lines = [{"form": form, **_numbers(row)} for form, row in record["forms"].items()]
    title = f"SNLI-shaped epoch, from {record['sampled_batches']} batches a form"
    return f"{title}\n{text_table(lines)}"


def encoders_table(record: dict) -> str:
    """Formats the speed of Table 1's rows."""
    lines = [
        {
            "encoder": name,
            "parameters": row["parameters"],
            **_numbers(row, disan_ratio="in DiSAN's epochs"),
        }
        for name, row in record["encoders"].items()
    ]
    title = f"Encoders, {record['dtype']}, from {record['sampled_batches']} SNLI-shaped batches"
    return f"{title}\n{text_table(lines)}"


def _numbers(record: dict, **titles) -> dict:
    """Returns the columns of a record's measurements; some may have other titles."""
    return {
        titles.get(key, column): f"{record[key]:{form}}"
        for key, (column, form) in _COLUMNS.items()
        if key in record
    }


def _lengths(record):
    return "/".join(map(str, record.get("lengths") or [record["length"]]))
