"""Warnings about examples in two splits, whose scores say nothing about new text."""

from itertools import combinations

from data_prep.corpora.corpus import Corpus


def overlap_warnings(corpus: Corpus) -> list[str]:
    """Returns a sentence for every two splits that share examples, i.e. equal tokens in all fields.

    E.g. "train and test share 12 examples (9 with the same label)." Examples with equal tokens
    count once.
    """
    contents = {
        split: {example.sentences for example in examples}
        for split, examples in corpus.splits.items()
    }
    warnings = []
    for splits in combinations(corpus.splits, 2):
        shared = contents[splits[0]] & contents[splits[1]]
        if shared:
            number = f"{len(shared):,} example{'s' if len(shared) > 1 else ''}"
            same = _count_same_label(corpus, splits, shared)
            warnings.append(
                f"{' and '.join(splits)} share {number} ({same:,} with the same label)."
            )
    return warnings


def _count_same_label(corpus: Corpus, splits: tuple[str, str], shared: set) -> int:
    """Counts the shared contents that have a common label in both splits."""
    first, second = (
        {(e.sentences, e.label) for e in corpus.splits[split] if e.sentences in shared}
        for split in splits
    )
    return len({sentences for sentences, _ in first & second})
