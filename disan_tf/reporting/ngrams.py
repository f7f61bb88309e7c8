"""What n-grams know of a text: the perplexities to stand beside a biLM's.

    python -m disan_tf.reporting.ngrams --prepared=runs/bilm/prepared/text-...

prints those of a unigram and of a trigram model (interpolated Kneser-Ney with modified discounts,
Chen and Goodman 1999) on the dev and test lines, over the vocabulary of the prepared corpus: both
predict what the forward biLM predicts, each word, the unknown word where it stands, and the end of
the sentence.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Optional

import numpy as np

from disan_tf.errors import UserError, exit_status
from disan_tf.input_pipeline import PreparedCorpus, Split

BEGIN, END = 0, 1  # then the unknown word, 2, and the others; as in `disan_tf.models.LanguageModel`
ORDER = 3


def perplexities(corpus: PreparedCorpus, splits: Sequence[str] = ("dev", "test")) -> dict:
    """{"unigram": {split: perplexity}, "trigram": {...}} of a corpus of single sentences."""
    words = sum(corpus.words) + 3
    train = _stream(corpus.split("train"))
    held_out = {name: _stream(corpus.split(name)) for name in splits}
    return {
        "unigram": {name: _unigram(train, text, words) for name, text in held_out.items()},
        "trigram": {name: kneser_ney(train, text, words) for name, text in held_out.items()},
    }


def _stream(split: Split) -> np.ndarray:
    """All sentences as <int64>[tokens], each after two begins and before an end."""
    pieces = []
    ids, offsets = split.ids["sentence"], split.offsets["sentence"]
    for start, end in zip(offsets[:-1], offsets[1:]):
        pieces += [[BEGIN] * (ORDER - 1), np.asarray(ids[start:end]) + 1, [END]]
    return np.concatenate(pieces).astype(np.int64)


def _predicted(text: np.ndarray) -> np.ndarray:
    """The positions of what is predicted: all but the begins."""
    return np.flatnonzero(text != BEGIN)


def _unigram(train, text, words) -> float:
    """By relative frequency, with one added to each count."""
    counts = np.bincount(train[_predicted(train)], minlength=words) + 1.0
    counts[BEGIN] = 0.0
    return float(np.exp(-np.mean(np.log(counts[text[_predicted(text)]] / counts.sum()))))


def kneser_ney(train: np.ndarray, text: np.ndarray, words: int) -> float:
    """The perplexity of an interpolated trigram model.

    p_n(w | h) = max(c(hw) - D(c(hw)), 0) / c(h.) + (sum of the D's of h) / c(h.) * p_(n-1)(w | h'),

    where h' is h without its first word, c counts trigrams, and for shorter n-grams how many
    different words stand before them; p_0 is uniform. The discount D is D_1, D_2 or D_3+ by c, or
    half of c, at most 1.5, where no n-gram has a c of 1, 2 or 3.

    Args:
      train, text: see `_stream`.
      words: of the vocabulary, begin and end among them.
    """
    places = _predicted(text)
    probability = np.full(len(places), 1.0 / (words - 1))
    for grams, counts, size in _counts(train, words):
        discounts = _discounts(counts)
        reduced = discounts[np.minimum(counts, 3)]
        contexts, inverse = np.unique(grams // words, return_inverse=True)
        totals = np.bincount(inverse, counts)
        left = np.bincount(inverse, reduced)
        history = np.zeros(len(places), np.int64)
        for back in range(size - 1, 0, -1):
            history = history * words + text[places - back]
        found, where = _find(contexts, history)
        seen, which = _find(grams, history * words + text[places])
        own = np.where(seen, (counts - reduced)[which], 0.0)
        total = np.where(found, totals[where], 1.0)
        rest = np.where(found, left[where], 1.0)
        probability = own / total + rest / total * probability
    return float(np.exp(-np.mean(np.log(probability))))


def _counts(train, words) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Distinct n-grams as sorted numbers, their counts, and n, from 1 to `ORDER`."""
    places = _predicted(train)
    number, by_size = np.zeros(len(places), np.int64), {}
    for size in range(1, ORDER + 1):  # the n-gram that ends at each place, first word first
        number = number + train[places - (size - 1)] * words ** (size - 1)
        by_size[size] = number
    for size in range(1, ORDER):
        longer = np.unique(by_size[size + 1])  # each with another word before it
        yield (*np.unique(longer % words**size, return_counts=True), size)
    yield (*np.unique(by_size[ORDER], return_counts=True), ORDER)


def _discounts(counts) -> np.ndarray:
    """D by count, <float64>[4]; that of 3 is for all above."""
    n = np.array([np.sum(counts == k) for k in range(1, 5)], float)
    if not n[:3].all():  # too small a text for their estimates
        return np.array([0.0, 0.5, 1.0, 1.5])
    share = n[0] / (n[0] + 2 * n[1])
    found = [k - (k + 1) * share * n[k] / n[k - 1] for k in (1, 2, 3)]
    return np.clip([0.0, *found], 0.0, [0, 1, 2, 3])


def _find(table, keys):
    """Whether each key stands in a sorted table, and where (anywhere if not)."""
    where = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return table[where] == keys, where


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Prints the perplexities; returns the exit status."""
    parser = argparse.ArgumentParser(prog="disan_tf.reporting.ngrams", description=__doc__)
    parser.add_argument("--prepared", type=Path, required=True, help="a prepared corpus of text")
    options = parser.parse_args(arguments)
    return exit_status(lambda: _report(options.prepared))


def _report(directory):
    corpus = PreparedCorpus(directory)
    if corpus.fields != ("sentence",):
        raise UserError(f"{directory} holds pairs; name a prepared corpus of single sentences.")
    for name, found in perplexities(corpus).items():
        print(name, *(f"{split} {value:.2f}" for split, value in found.items()))


if __name__ == "__main__":
    sys.exit(main())
