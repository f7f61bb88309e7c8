"""Perplexities of n-gram models, for comparison with a biLM's.

    python -m disan_tf.reporting.ngrams --prepared=runs/bilm/prepared/text-...

prints the perplexities of a unigram and a trigram model (interpolated Kneser-Ney with modified
discounts, Chen and Goodman 1999) on the dev and test lines, over the prepared corpus' vocabulary.
Both predict what the forward biLM predicts: every word, unknown words as one, and the end of the
sentence.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Optional

import numpy as np

from disan_tf.common.errors import UserError, exit_status
from disan_tf.input_pipeline import PreparedCorpus, Split

BEGIN, END = 0, 1  # unknown word = 2, other words above; as in `disan_tf.models.LanguageModel`
ORDER = 3


def perplexities(corpus: PreparedCorpus, splits: Sequence[str] = ("dev", "test")) -> dict:
    """Returns {"unigram": {split: perplexity}, "trigram": {...}} for single sentences."""
    words = sum(corpus.words) + 3
    train = _stream(corpus.split("train"))
    held_out = {name: _stream(corpus.split(name)) for name in splits}
    return {
        "unigram": {name: _unigram(train, text, words) for name, text in held_out.items()},
        "trigram": {name: kneser_ney(train, text, words) for name, text in held_out.items()},
    }


def _stream(split: Split) -> np.ndarray:
    """Returns all sentences as <int64>[tokens], each after two begins and before an end."""
    pieces = []
    ids, offsets = split.ids["sentence"], split.offsets["sentence"]
    for start, end in zip(offsets[:-1], offsets[1:]):
        pieces += [[BEGIN] * (ORDER - 1), np.asarray(ids[start:end]) + 1, [END]]
    return np.concatenate(pieces).astype(np.int64)


def _predicted(text: np.ndarray) -> np.ndarray:
    """Returns the predicted positions: all but the begins."""
    return np.flatnonzero(text != BEGIN)


def _unigram(train, text, words) -> float:
    """Returns a unigram model's perplexity: relative frequencies, one added to each count."""
    counts = np.bincount(train[_predicted(train)], minlength=words) + 1.0
    counts[BEGIN] = 0.0
    return float(np.exp(-np.mean(np.log(counts[text[_predicted(text)]] / counts.sum()))))


def kneser_ney(train: np.ndarray, text: np.ndarray, words: int) -> float:
    """Returns the perplexity of an interpolated trigram model.

    p_n(w | h) = max(c(hw) - D(c(hw)), 0) / c(h.) + (sum of the D's of h) / c(h.) * p_(n-1)(w | h'),

    where h' is h without its first word, c counts trigrams, and for shorter n-grams the distinct
    words before them; p_0 is uniform. The discount D is D_1, D_2 or D_3+ by c. Where one of the
    counts 1, 2 and 3 does not occur, it is c / 2, at most 1.5.

    Args:
      train, text: see `_stream`.
      words: size of the vocabulary, begin and end included.
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
        known_context, context = _find(contexts, history)
        known_gram, gram = _find(grams, history * words + text[places])
        own = np.where(known_gram, (counts - reduced)[gram], 0.0)
        total = np.where(known_context, totals[context], 1.0)
        rest = np.where(known_context, left[context], 1.0)
        probability = own / total + rest / total * probability
    return float(np.exp(-np.mean(np.log(probability))))


def _counts(train, words) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Yields distinct n-grams as sorted numbers, their counts, and n, from 1 to `ORDER`."""
    places = _predicted(train)
    number, by_size = np.zeros(len(places), np.int64), {}
    for size in range(1, ORDER + 1):  # the n-gram that ends at each place, first word first
        number = number + train[places - (size - 1)] * words ** (size - 1)
        by_size[size] = number
    for size in range(1, ORDER):
        longer = np.unique(by_size[size + 1])  # one for each word before
        yield (*np.unique(longer % words**size, return_counts=True), size)
    yield (*np.unique(by_size[ORDER], return_counts=True), ORDER)


def _discounts(counts) -> np.ndarray:
    """Returns D by count, <float64>[4]; the last holds for counts of 3 and more."""
    n = np.array([np.sum(counts == k) for k in range(1, 5)], float)
    if not n[:3].all():  # too small a text for their estimates
        return np.array([0.0, 0.5, 1.0, 1.5])
    share = n[0] / (n[0] + 2 * n[1])
    discounts = [k - (k + 1) * share * n[k] / n[k - 1] for k in (1, 2, 3)]
    return np.clip([0.0, *discounts], 0.0, [0, 1, 2, 3])


def _find(table, keys):
    """Returns whether keys stand in a sorted table, and where (anywhere if not)."""
    where = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return table[where] == keys, where


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Prints the perplexities; returns the exit status."""
    parser = argparse.ArgumentParser(prog="disan_tf.reporting.ngrams", description=__doc__)
    parser.add_argument("--prepared", type=Path, required=True, help="a prepared corpus of text")
    options = parser.parse_args(arguments)
    return exit_status(lambda: _print_perplexities(options.prepared))


def _print_perplexities(directory):
    corpus = PreparedCorpus(directory)
    if corpus.fields != ("sentence",):
        raise UserError(f"{directory} holds pairs; name a prepared corpus of single sentences.")
    for name, by_split in perplexities(corpus).items():
        print(name, *(f"{split} {value:.2f}" for split, value in by_split.items()))


if __name__ == "__main__":
    sys.exit(main())
