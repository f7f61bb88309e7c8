"""A baseline without word order: a logistic regression on word counts.

    python -m data_prep.bag_of_words --data_dir=demo/data

prints the baseline's accuracy on a sentiment treebank's test sentences, with two classes. It is
trained on the same phrases as the demo's model, which sees the order.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Optional

import numpy as np
import scipy.optimize
import scipy.sparse
import scipy.special

from data_prep.corpora import sst
from disan_tf.common.errors import exit_status

Examples = Sequence[tuple[Sequence[str], int]]


def bag_of_words_accuracy(train: Examples, test: Examples) -> float:
    """Computes the test accuracy (0 to 1) of a logistic regression on word counts.

    Every tenth training example is held out to select the penalty. The model is then fitted to all
    training examples.

    Args:
      train, test: pairs of (tokens, label); words that `train` lacks are ignored.
    """
    index = {word: i for i, word in enumerate(sorted({w for words, _ in train for w in words}))}
    classes = sorted({label for _, label in train})
    counts, labels = _word_counts(train, index), [classes.index(label) for _, label in train]
    targets = np.eye(len(classes))[labels]
    held_out = np.arange(len(train)) % 10 == 0

    def score(penalty: float) -> float:
        weights = _fit(counts[~held_out], targets[~held_out], penalty)
        return float(_hits(counts[held_out] @ weights, targets[held_out]).mean())

    weights = _fit(counts, targets, max((1e-5, 1e-4, 1e-3, 1e-2, 1e-1), key=score))
    predicted = np.argmax(_word_counts(test, index) @ weights, axis=-1)
    return float(np.mean([classes[i] == label for i, (_, label) in zip(predicted, test)]))


def _word_counts(examples: Examples, index: Mapping[str, int]) -> scipy.sparse.csr_matrix:
    """Counts `<float64>[examples, words + 1]`; the last column is 1, for the bias."""
    cells = [(row, index[w]) for row, (ws, _) in enumerate(examples) for w in ws if w in index]
    cells += [(row, len(index)) for row in range(len(examples))]
    rows, columns = zip(*cells)
    shape = (len(examples), len(index) + 1)
    return scipy.sparse.csr_matrix((np.ones(len(cells)), (rows, columns)), shape)


def _fit(counts, targets: np.ndarray, penalty: float) -> np.ndarray:
    """Minimises mean cross-entropy + penalty / 2 |W|^2 (without the bias) by L-BFGS."""
    shape = (counts.shape[1], targets.shape[1])
    penalties = np.full((shape[0], 1), penalty)
    penalties[-1] = 0.0

    def loss_and_gradient(flat: np.ndarray):
        weights = flat.reshape(shape)
        log_probabilities = scipy.special.log_softmax(counts @ weights, axis=-1)
        loss = -np.sum(targets * log_probabilities) / len(targets)
        gradient = counts.T @ (np.exp(log_probabilities) - targets) / len(targets)
        gradient += penalties * weights
        return loss + np.sum(penalties * weights**2) / 2, gradient.ravel()

    start = np.zeros(shape[0] * shape[1])
    solution = scipy.optimize.minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B")
    return solution.x.reshape(shape)


def _hits(scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
    return np.argmax(scores, axis=-1) == np.argmax(targets, axis=-1)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Prints the accuracy; returns the exit status."""
    parser = argparse.ArgumentParser(prog="data_prep.bag_of_words", description=__doc__)
    parser.add_argument("--data_dir", type=Path, required=True)
    options = parser.parse_args(arguments)
    return exit_status(lambda: _print_accuracy(options.data_dir))


def _print_accuracy(data_dir):
    reading = SimpleNamespace(level="phrase", classes=2, repetitions=False, rebalance=False)
    corpus = sst.read(data_dir, reading)
    train, test = (
        [(example.sentences[0], example.label) for example in corpus.splits[split]]
        for split in ("train", "test")
    )
    print(
        f"bag-of-words logistic regression: test accuracy {bag_of_words_accuracy(train, test):.4f}"
    )


if __name__ == "__main__":
    sys.exit(main())
