"""Measurements as tables of text."""


def core_table(records: list[dict]) -> str:
    """Times of the attention core, a line for each length and form."""
    rows = [
        [
            length["length"], form, *_times(times), _number(times["elements_per_ns"], 2),
            _ratio(times, "dense_ratio"),
        ]
        for length in records
        for form, times in length["forms"].items()
    ]  # fmt: skip
    head = ["length", "form", "median ms", "min", "max", "elements/ns", "dense / it"]
    return _table("Attention core, forward and backward", head, rows)


def memory_table(records: dict) -> str:
    """Peak memory of processes that ran one form of the core, or of the training step."""
    rows = [["core", each["length"], each["form"], each["peak_gib"]] for each in records["core"]]
    rows += [["step", _lengths(each), each["form"], each["peak_gib"]] for each in records["step"]]
    rows = [[*row[:-1], _number(row[-1], 2)] for row in rows]
    return _table("Peak memory of a process", ["what", "length", "form", "GiB"], rows)


def threads_table(records: list[dict]) -> str:
    """Times of the attention core on one thread and on all."""
    rows = [
        [
            each["length"], each["form"], _number(each["one_ms"], 1), _number(each["all_ms"], 1),
            _number(each["speedup"], 2),
        ]
        for each in records
    ]  # fmt: skip
    head = ["length", "form", "one thread ms", "all ms", "speedup"]
    return _table("Threads, attention core", head, rows)


def step_table(records: list[dict]) -> str:
    """Times of whole steps and of their matrix products."""
    rows = [
        [
            each["kind"], _lengths(each), _number(each["gflop"], 1), form, *_times(times),
            _ratio(times, "products_ratio"), _ratio(times, "dense_ratio"),
            _ratio(times, "disan_ratio"),
        ]
        for each in records
        for form, times in each["forms"].items()
    ]  # fmt: skip
    head = ["step", "lengths", "GFLOP", "form", "median ms", "min", "max", "it / products"]
    return _table("Training step and inference", [*head, "dense / it", "DiSAN / it"], rows)


def epoch_table(record: dict) -> str:
    """Speed of an epoch."""
    rows = [
        [
            form, *(_number(each[key], 0) for key in ("pairs_per_second", "min", "max")),
            _number(each["epoch_minutes"], 1), _number(100 * each["padding_share"], 1),
            _ratio(each, "dense_ratio"), _ratio(each, "disan_ratio"),
        ]
        for form, each in record["forms"].items()
    ]  # fmt: skip
    head = ["form", "pairs/s", "min", "max", "epoch min", "padding %", "it / dense", "it / DiSAN"]
    title = f"SNLI-shaped epoch, from {record['sampled_batches']} batches of each form"
    return _table(title, head, rows)


def encoders_table(record: dict) -> str:
    """Speed of the rows of Table 1."""
    rows = [
        [
            name, f"{each['parameters']:,}",
            *(_number(each[key], 0) for key in ("pairs_per_second", "min", "max")),
            _number(each["epoch_seconds"], 0), _number(each["disan_ratio"], 2),
            _number(each["inference_pairs_per_second"], 0),
        ]
        for name, each in record["encoders"].items()
    ]  # fmt: skip
    head = ["encoder", "parameters", "pairs/s", "min", "max", "epoch s", "epoch / DiSAN's"]
    title = f"Encoders, {record['dtype']}, from {record['sampled_batches']} SNLI-shaped batches"
    return _table(title, [*head, "inference pairs/s"], rows)


def selection_table(record: dict) -> str:
    """Times by the share of selected heads and dependents."""
    rows = [
        [what, each["length"], form, rate, *_times(times), _ratio(times, "ratio")]
        for what in ("core", "layer")
        for each in record[what]
        for form, rates in each["forms"].items()
        for rate, times in rates.items()
    ]
    rows += [
        ["model", _lengths(each), kind, rate, *_times(times), _ratio(times, "ratio")]
        for each in record["model"]
        for kind in ("train", "inference")
        for rate, times in each[kind].items()
    ]
    head = ["what", "length", "form", "selected", "median ms", "min", "max", "it / all"]
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
    """Columns as wide as their widest cell, all but text to the right."""
    rows = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
    return "\n".join([title, *lines])
