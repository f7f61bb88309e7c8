"""Formats scores as a headline and tables."""

_HEADLINES = {  # key of a score -> template of its headline
    "accuracy": "accuracy {accuracy:.4f}, Cohen's kappa {cohen_kappa:.4f}, macro F1 {macro_f1:.4f}",
    "pearson": "Pearson's r {pearson:.4f}, Spearman's rho {spearman:.4f}, MSE {mse:.4f}",
    "perplexity": "perplexity {perplexity:.2f} (forward {forward_perplexity:.2f}, "
    "backward {backward_perplexity:.2f}) over {predictions:,} words, {unknown_words:.2%} unknown",
}
_TABLES = {  # key of scores by name -> the heads of their table
    "classes": ("class", "precision", "recall", "f1", "support"),
    "confusion": None,
    "by_length": ("tokens", "examples", "accuracy"),
    "by_genre": ("genre", "examples", "accuracy"),
    "by_score": ("gold score", "examples", "mean gold", "mean prediction", "mse"),
}


def render_scores(scores: dict) -> str:
    """Formats the scores of `disan_tf.training.evaluation.evaluate` as a headline and tables."""
    template = next(text for key, text in _HEADLINES.items() if key in scores)
    headline = (
        f"{scores['config']}, step {scores['step']:,}, on {scores['split']}: "
        f"{scores['examples']:,} examples\n{template.format(**scores)}, loss {scores['loss']:.4f}"
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
    """Returns {name: {column: value}} as rows under the heads."""
    return [list(heads), *([name, *values.values()] for name, values in scores.items())]


def text_table(rows: list[list]) -> str:
    """Formats rows of equal length; aligns the first column left and the others right."""
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
