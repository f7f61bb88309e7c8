"""How well words without their order predict a synthetic corpus' labels."""

from collections.abc import Sequence

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

Examples = Sequence[tuple[Sequence[str], int]]


def bag_of_words_accuracy(train: Examples, test: Examples) -> float:
    """The test accuracy of a logistic regression on word counts, from (tokens, label)."""
    (words, labels), (test_words, test_labels) = zip(*train), zip(*test)
    counter = CountVectorizer(analyzer=list)
    regression = LogisticRegression(max_iter=1000).fit(counter.fit_transform(words), labels)
    return regression.score(counter.transform(test_words), test_labels)
