"""Scores as text for people: a headline and tables."""

_SHOWN = {  # the scores of a headline: the key of one -> its words
    "accuracy": "accuracy {accuracy:.4f}, Cohen's kappa {cohen_kappa:.4f}, macro F1 {macro_f1:.4f}",
    "pearson": "Pearson's r {pearson:.4f}, Spearman's rho {spearman:.4f}, MSE {mse:.4f}",
    "perplexity": "perplexity {perplexity:.2f} (forward {forward_perplexity:.2f}, "
    "backward {backward_perplexity:.2f}) over {predictions:,} words, {unknown_words:.2%} unknown",
}
_TABLES = {  # the key of scores by name -> the heads of their table
    "classes": ("class", "precision", "recall", "f1", "support"),
    "confusion": None,
    "by_length": ("tokens", "examples", "accuracy"),
    "by_genre": ("genre", "examples", "accuracy"),
    "by_score": ("gold score", "examples", "mean gold", "mean prediction", "mse"),
}


def render_scores(scores: dict) -> str:
    """What `disan_tf.training.evaluation.evaluate` returns, as a headline and tables."""
    shown = next(text for key, text in _SHOWN.items() if key in scores)
    headline = (
        f"{scores['config']}, step {scores['step']:,}, on {scores['split']}: "
        f"{scores['examples']:,} examples\n{shown.format(**scores)}, loss {scores['loss']:.4f}"
    )
    tables = [text_table(_rows(key, scores[key])) for key in _TABLES if key in scores]
    return "\n\n".join([headline, *tables])


def _rows(key, scores):
    if key == "confusion":
        names = scores["classes"]
        rows = ([name, *row] for name, row in zip(names, scores["matrix"]))
        return [["gold \\ predicted", *names], *rows]
    return rows_by_name(_TABLES[key], scores)


def rows_by_name(heads, scores: dict[str, dict]) -> list[list]:
    """Rows of {name: {column: value}} under the heads."""
    return [list(heads), *([name, *values.values()] for name, values in scores.items())]


def text_table(rows: list[list]) -> str:
    """Rows of equal length as text, the first column to the left and the others to the right."""
    texts = [[_text(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(text.rjust(w) for text, w in zip(row[1:], widths[1:]))]
        ).rstrip()
        for row in texts
    )


def _text(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
