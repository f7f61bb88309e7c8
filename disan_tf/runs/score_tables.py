"""Formats scores as a headline and tables."""

from disan_tf.common.tables import text_table

_HEADLINES = {  # key of a score -> template of its headline
    "accuracy": "accuracy {accuracy:.4f}, Cohen's kappa {cohen_kappa:.4f}, macro F1 {macro_f1:.4f}",
    "pearson": "Pearson's r {pearson:.4f}, Spearman's rho {spearman:.4f}, MSE {mse:.4f}",
    "perplexity": "perplexity {perplexity:.2f} (forward {forward_perplexity:.2f}, "
    "backward {backward_perplexity:.2f}) over {predictions:,} words, {unknown_words:.2%} unknown",
}
_TABLES = {  # key of scores by name -> the titles of their table
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
    tables = [text_table(_lines(key, scores[key])) for key in _TABLES if key in scores]
    return "\n\n".join([headline, *tables])


def _lines(key, scores):
    if key == "confusion":
        titles = ("gold \\ predicted", *scores["classes"])
        rows = zip(scores["classes"], scores["matrix"])
    else:
        titles = _TABLES[key]
        rows = ((name, values.values()) for name, values in scores.items())
    return [dict(zip(titles, (name, *cells))) for name, cells in rows]
