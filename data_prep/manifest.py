"""What the manifest of a prepared corpus tells before anything is counted."""

from data_prep.corpora import Corpus
from disan_tf.text.tokenizer import VERSIONS

FORMAT = 1


def describe(options, corpus: Corpus) -> dict:
    """The options of a preparation, and what its corpus has: classes, fields, counts, warnings."""
    return {
        "format": FORMAT,
        "corpus": corpus.name,
        "options": options.to_dict(),
        "tokenizer": {
            "name": options.tokenizer,
            "version": VERSIONS[options.tokenizer],
            "lowercase": options.lowercase,
            "split_words": options.get("split_words", False),
            "empty_tokens": options.get("empty_tokens", False),
        },
        "classes": list(corpus.classes),
        "fields": list(corpus.fields),
        "genres": corpus.genres,
        "embedding_dim": options.embedding_dim,
        "scores": corpus.scores,
        "unit": corpus.unit,
        "counts": corpus.counts,
        "warnings": corpus.warnings,
    }
