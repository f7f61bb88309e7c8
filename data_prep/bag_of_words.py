"""A baseline without word order: a logistic regression on word counts.

    python -m data_prep.bag_of_words --data_dir=demo/data

prints the baseline's accuracy on a sentiment treebank's test sentences, with two classes. It is
trained on the same phrases as the demo's model, which sees the order.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Optional

import numpy as np

from data_prep.corpora import sst
from disan_tf.common.errors import UserError, exit_status

PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)  # of the squared weights, in the mean loss
_MOST_STEPS = 5000  # of L-BFGS, which needs some hundreds

Examples = Sequence[tuple[Sequence[str], int]]


def bag_of_words_accuracy(train: Examples, test: Examples) -> float:
    """Computes the test accuracy (0 to 1) of a logistic regression on word counts.

    Every tenth training example is held out to select the penalty. The model is then fitted to all
    training examples.

    Args:
      train, test: pairs of (tokens, label); words that `train` lacks are ignored.

    Raises:
      UserError: scikit-learn is not installed.
    """
    try:
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV, PredefinedSplit
    except ImportError:
        raise UserError(
            "a bag of words needs scikit-learn; install it with pip install '.[transfer]', or "
            "pip install scikit-learn."
        ) from None
    (words, labels), (test_words, test_labels) = zip(*train), zip(*test)
    counter = CountVectorizer(analyzer=list)
    counts = counter.fit_transform(words)
    held_out = PredefinedSplit(np.where(np.arange(len(train)) % 10 == 0, 0, -1))
    strengths = {"C": [1.0 / (penalty * len(train)) for penalty in PENALTIES]}
    search = GridSearchCV(LogisticRegression(max_iter=_MOST_STEPS), strengths, cv=held_out)
    return search.fit(counts, labels).score(counter.transform(test_words), test_labels)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Prints the accuracy; returns the exit status."""
    parser = argparse.ArgumentParser(prog="data_prep.bag_of_words", description=__doc__)
    parser.add_argument("--data_dir", type=Path, required=True)
    options = parser.parse_args(arguments)
    return exit_status(lambda: _print_accuracy(options.data_dir))


def _print_accuracy(data_dir):
    reading = SimpleNamespace(
        level="phrase", classes=2, repetitions=False, rebalance=False, tokenizer="whitespace"
    )
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
