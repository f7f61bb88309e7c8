"""Measurements as text tables."""


def core_table(records: list[dict]) -> str:
    """Formats the attention core's times by length and form."""
    rows = [
        [
            length["length"],
            form,
            *_times(times),
            _number(times["elements_per_ns"], 2),
            _ratio(times, "dense_ratio"),
        ]
        for length in records
        for form, times in length["forms"].items()
    ]
    head = ["length", "form", "median ms", "min", "max", "elements/ns", "times faster than dense"]
    return _table("Attention core, forward and backward", head, rows)


def memory_table(records: dict) -> str:
    """Formats the peak memory of processes that ran one form of the core or training step."""
    rows = [["core", row["length"], row["form"], row["peak_gib"]] for row in records["core"]]
    rows += [["step", _lengths(row), row["form"], row["peak_gib"]] for row in records["step"]]
    rows = [[*row[:-1], _number(row[-1], 2)] for row in rows]
    return _table("Peak memory of a process", ["what", "length", "form", "GiB"], rows)


def threads_table(records: list[dict]) -> str:
    """Formats the attention core's times on one thread and on all."""
    rows = [
        [
            row["length"],
            row["form"],
            _number(row["one_ms"], 1),
            _number(row["all_ms"], 1),
            _number(row["speedup"], 2),
        ]
        for row in records
    ]
    head = ["length", "form", "one thread ms", "all ms", "speedup"]
    return _table("Threads, attention core", head, rows)


def step_table(records: list[dict]) -> str:
    """Formats the times of whole steps and of their matrix products."""
    rows = [
        [
            row["kind"],
            _lengths(row),
            _number(row["gflop"], 1),
            form,
            *_times(times),
            _ratio(times, "products_ratio"),
            _ratio(times, "dense_ratio"),
            _ratio(times, "disan_ratio"),
        ]
        for row in records
        for form, times in row["forms"].items()
    ]
    head = ["step", "lengths", "GFLOP", "form", "median ms", "min", "max", "times the products"]
    head += ["times faster than dense", "than DiSAN"]
    return _table("Training step and inference", head, rows)


def epoch_table(record: dict) -> str:
    """Formats an epoch's speed."""
    rows = [
        [
            form,
            *(_number(row[key], 0) for key in ("pairs_per_second", "min", "max")),
            _number(row["epoch_minutes"], 1),
            _number(100 * row["padding_share"], 1),
            _ratio(row, "dense_ratio"),
            _ratio(row, "disan_ratio"),
        ]
        for form, row in record["forms"].items()
    ]
    head = ["form", "pairs/s", "min", "max", "epoch min", "padding %", "times dense", "times DiSAN"]
    title = f"SNLI-shaped epoch, from {record['sampled_batches']} batches a form"
    return _table(title, head, rows)


def encoders_table(record: dict) -> str:
    """Formats the speed of Table 1's rows."""
    rows = [
        [
            name,
            f"{row['parameters']:,}",
            *(_number(row[key], 0) for key in ("pairs_per_second", "min", "max")),
            _number(row["epoch_seconds"], 0),
            _number(row["disan_ratio"], 2),
            _number(row["inference_pairs_per_second"], 0),
        ]
        for name, row in record["encoders"].items()
    ]
    head = ["encoder", "parameters", "pairs/s", "min", "max", "epoch s", "in DiSAN's epochs"]
    title = f"Encoders, {record['dtype']}, from {record['sampled_batches']} SNLI-shaped batches"
    return _table(title, [*head, "inference pairs/s"], rows)


def selection_table(record: dict) -> str:
    """Formats times by the share of selected heads and dependents."""
    rows = [
        [what, row["length"], form, rate, *_times(times), _ratio(times, "ratio")]
        for what in ("core", "layer")
        for row in record[what]
        for form, rates in row["forms"].items()
        for rate, times in rates.items()
    ]
    rows += [
        ["model", _lengths(row), kind, rate, *_times(times), _ratio(times, "ratio")]
        for row in record["model"]
        for kind in ("train", "inference")
        for rate, times in row[kind].items()
    ]
    head = ["what", "length", "form", "selected", "median ms", "min", "max", "share of all"]
    return _table("Share of selected tokens", head, rows)


def _times(times):
    return [_number(times[key], 1) for key in ("median_ms", "min_ms", "max_ms")]


def _ratio(times, key):
    return _number(times[key], 2) if key in times else ""


def _lengths(record):
    return "/".join(map(str, record["lengths"]))


def _number(value, digits):
    return f"{value:,.{digits}f}"


def _table(title, head, rows):
    """Formats columns as wide as their widest cell, aligned to the right."""
    rows = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
    return "\n".join([title, *lines])
