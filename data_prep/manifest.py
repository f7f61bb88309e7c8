"""A prepared corpus' manifest entries, and their summary for people."""

from data_prep.corpora import Corpus
from disan_tf.common.checks import count
from disan_tf.common.errors import escape
from disan_tf.input_pipeline.corpus_format import FORMAT, Keys
from disan_tf.text.word_vectors import few_known

_MOST = 60  # classes in a line


def describe(options, corpus: Corpus, version: int) -> dict:
    """Returns the entries that are known before the words are counted.

    `version` is the version of the tokenizer.
    """
    return {
        Keys.FORMAT: FORMAT,
        Keys.CORPUS: corpus.name,
        Keys.OPTIONS: options.to_dict(),
        Keys.TOKENIZER: {
            "name": options.tokenizer,
            "version": version,
            "lowercase": options.lowercase,
            "split_words": options.get("split_words", False),
            "empty_tokens": options.get("empty_tokens", False),
        },
        Keys.CLASSES: list(corpus.classes),
        Keys.FIELDS: list(corpus.fields),
        Keys.GENRES: corpus.genres,
        Keys.SCORES: corpus.scores,
        Keys.UNIT: corpus.unit,
        Keys.COUNTS: corpus.counts,
        Keys.WARNINGS: corpus.warnings,
    }


def coverage_warnings(manifest: dict) -> list[str]:
    """Returns a warning if few training tokens have a vector in the file."""
    vectors = manifest[Keys.VECTORS]
    share = vectors["training_tokens_covered"]
    if not vectors["file"] or not few_known(share):
        return []
    return [
        f"{vectors['file']} has vectors for only {share:.1%} of the training tokens; choose "
        "vectors of the texts' language (--config.data.vectors), and divide texts without spaces "
        "into words."
    ]


def describe_counts(manifest: dict) -> str:
    """Describes counts read, kept and dropped, classes, the vectors' coverage, and warnings."""
    lines = [f"{manifest[Keys.CORPUS]}: {_join(manifest[Keys.CLASSES])}"]
    lines += [
        _count_line(split, counts, manifest[Keys.UNIT])
        for split, counts in manifest[Keys.COUNTS].items()
    ]
    lines += _class_lines(manifest)
    trainable, fixed = manifest[Keys.TRAINABLE_WORDS], manifest[Keys.FIXED_WORDS]
    vectors = manifest[Keys.VECTORS]
    coverage = (
        f"vectors ({vectors['file']}) cover {vectors['training_words_found']:,} training words, "
        f"{vectors['training_tokens_covered']:.1%} of the training tokens"
        if vectors["file"]
        else "no file of word vectors"
    )
    if blank := vectors.get("blank_lines"):
        coverage += f"; {count(blank, 'blank line')} skipped"
    if skipped := vectors.get("not_utf8"):
        numbers = ", ".join(f"{number:,}" for number in skipped["lines"])
        more = ", ..." * (skipped["count"] > len(skipped["lines"]))
        coverage += f"; {count(skipped['count'], 'line')} not in UTF-8 skipped ({numbers}{more})"
    lines.append(f"  words: {trainable:,} of the training part, {fixed:,} others; {coverage}")
    if without := vectors.get("without"):
        share = 1 - vectors["training_tokens_covered"]
        words = ", ".join(f"{escape(word)} ({number:,})" for word, number in without.items())
        lines.append(f"  without a vector: {share:.1%} of the training tokens; first {words}")
    return "\n".join(lines + [f"  warning: {warning}" for warning in manifest[Keys.WARNINGS]])


def describe_briefly(manifest: dict) -> str:
    """Describes the splits of a prepared corpus in one line, with the number of its warnings."""
    splits = ", ".join(
        f"{split} {entry['examples']:,}" for split, entry in manifest[Keys.SPLITS].items()
    )
    warnings = len(manifest[Keys.WARNINGS])
    warned = f"; {count(warnings, 'warning')}, see --mode=prepare" if warnings else ""
    return f"{manifest[Keys.CORPUS]}: {splits} examples{warned}"


def _count_line(split: str, counts: dict, unit: str) -> str:
    known = (unit, "expected", "dropped", "kept")
    others = [f"{number:,} {name}, " for name, number in counts.items() if name not in known]
    dropped = [f"{number:,} {reason}" for reason, number in counts["dropped"].items() if number]
    official = ""
    if counts["expected"] is not None:
        difference = counts[unit] - counts["expected"]
        official = f" (official count {counts['expected']:,}, difference {difference:+,})"
    return (
        f"  {split}: {count(counts[unit], unit[:-1])}{official}, {''.join(others)}"
        f"dropped {', '.join(dropped) or 'none'}, kept {counts['kept']:,}"
    )


def _class_lines(manifest: dict) -> list[str]:
    """Describes the classes' shares in training; [] for scores and for older manifests."""
    split = manifest[Keys.SPLITS]["train"]
    numbers = zip(manifest[Keys.CLASSES], split.get("class_counts", []))
    shares = [f"{name} {number / split['examples']:.1%}" for name, number in numbers]
    return [f"  classes of train: {_join(shares)}"] if shares else []


def _join(parts: list[str]) -> str:
    """Joins the parts of a list, of which the first `_MOST` are shown."""
    rest = f", and {len(parts) - _MOST:,} more" if len(parts) > _MOST else ""
    return f"{', '.join(parts[:_MOST])}{rest}"
