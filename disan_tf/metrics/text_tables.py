"""Tables as text."""


def table(rows: list[list]) -> str:
    """Rows of equal length as text, the first column to the left and the others to the right."""
    texts = [[_text(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(text.rjust(w) for text, w in zip(row[1:], widths[1:]))]
        ).rstrip()
        for row in texts
    )


def by_name(title: str, columns: list[str], scores: dict[str, dict]) -> list[list]:
    """Rows of {name: {column: value}}, under a row of headings."""
    return [[title, *columns], *([name, *values.values()] for name, values in scores.items())]


def _text(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
