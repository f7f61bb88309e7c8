"""A prepared corpus' manifest entries, and their summary for people."""

from data_prep.corpora import Corpus
from disan_tf.input_pipeline.format import FORMAT, Keys
from disan_tf.text.tokenizer import VERSIONS


def describe(options, corpus: Corpus) -> dict:
    """Returns the entries that are known before the words are counted."""
    return {
        Keys.FORMAT: FORMAT,
        Keys.CORPUS: corpus.name,
        Keys.OPTIONS: options.to_dict(),
        Keys.TOKENIZER: {
            "name": options.tokenizer,
            "version": VERSIONS[options.tokenizer],
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


def describe_counts(manifest: dict) -> str:
    """Describes counts read, kept and dropped, classes, the vectors' coverage, and warnings."""
    lines = [f"{manifest[Keys.CORPUS]}: {', '.join(manifest[Keys.CLASSES])}"]
    lines += [
        _count_line(split, counts, manifest[Keys.UNIT])
        for split, counts in manifest[Keys.COUNTS].items()
    ]
    lines += _class_lines(manifest)
    trainable, fixed = manifest[Keys.TRAINABLE_WORDS], manifest[Keys.FIXED_WORDS]
    vectors = manifest[Keys.VECTORS]
    lines.append(
        f"  words: {trainable:,} trainable, {fixed:,} fixed; vectors "
        f"({vectors['file'] or 'none'}) cover {vectors['training_words_found']:,} training words, "
        f"{vectors['training_tokens_covered']:.1%} of the training tokens"
    )
    return "\n".join(lines + [f"  warning: {warning}" for warning in manifest[Keys.WARNINGS]])


def describe_briefly(manifest: dict) -> str:
    """Describes the splits of a prepared corpus in one line, with the number of its warnings."""
    splits = ", ".join(
        f"{split} {entry['examples']:,}" for split, entry in manifest[Keys.SPLITS].items()
    )
    count = len(manifest[Keys.WARNINGS])
    warned = f"; {count} warning{'s' * (count > 1)}, see --mode=prepare" if count else ""
    return f"{manifest[Keys.CORPUS]}: {splits} examples{warned}"


def _count_line(split: str, counts: dict, unit: str) -> str:
    known = (unit, "expected", "dropped", "kept")
    others = [f"{count:,} {name}, " for name, count in counts.items() if name not in known]
    dropped = [f"{count:,} {reason}" for reason, count in counts["dropped"].items() if count]
    official = ""
    if counts["expected"] is not None:
        difference = counts[unit] - counts["expected"]
        official = f" (official count {counts['expected']:,}, difference {difference:+,})"
    return (
        f"  {split}: {counts[unit]:,} {unit}{official}, {''.join(others)}"
        f"dropped {', '.join(dropped) or 'none'}, kept {counts['kept']:,}"
    )


def _class_lines(manifest: dict) -> list[str]:
    """Describes the classes' shares in training; [] for scores and for older manifests."""
    split = manifest[Keys.SPLITS]["train"]
    counts = zip(manifest[Keys.CLASSES], split.get("class_counts", []))
    shares = [f"{name} {count / split['examples']:.1%}" for name, count in counts]
    return [f"  classes of train: {', '.join(shares)}"] if shares else []
