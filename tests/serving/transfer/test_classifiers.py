"""disan_tf/serving/transfer/classifiers.py: who is trained on what, and what is scored."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from threadpoolctl import threadpool_info

from disan_tf.serving.transfer import classifiers
from disan_tf.serving.transfer.classifiers import Part, RelatednessRegression, score_vectors


def blobs(examples, seed, spread=1.0):
    """Two classes whose means are 2 apart in the first of three features."""
    generator = np.random.default_rng(seed)
    y = np.arange(examples) % 2
    x = generator.normal(0.0, spread, [examples, 3])
    x[:, 0] += 2 * y - 1
    return x.astype(np.float32), y


def test_folds_are_scored_by_classifiers_of_the_others_and_chosen_within_them(monkeypatch):
    """With a single strength both are plain cross-validation."""
    monkeypatch.setattr(classifiers, "STRENGTHS", (0.5,))
    x, y = blobs(60, seed=1)
    scores = score_vectors({"all": x}, {"all": y})
    folds = StratifiedKFold(10, shuffle=True, random_state=1111)
    expected = cross_val_score(LogisticRegression(C=0.5), x, y, cv=folds)
    assert scores["test"]["accuracy"] == pytest.approx(expected.mean())
    assert scores["test"]["standard_deviation"] == pytest.approx(expected.std(ddof=1))
    assert scores["strengths"] == [0.5] * 10
    inner = [
        cross_val_score(LogisticRegression(C=0.5), x[train], y[train], cv=folds).mean()
        for train, _ in folds.split(x, y)
    ]
    assert scores["dev"]["accuracy"] == pytest.approx(np.mean(inner))


def use_few_folds(monkeypatch):
    """Two strengths and three folds, which take a tenth of the time."""
    monkeypatch.setattr(classifiers, "STRENGTHS", (1.0, 4.0))
    monkeypatch.setattr(classifiers, "FOLDS", 3)


def test_the_strength_is_chosen_without_the_fold_that_is_scored(monkeypatch):
    """Trained on turned labels at the end, the choices stay, and the accuracy falls to 0."""
    use_few_folds(monkeypatch)
    x, y = blobs(60, seed=2, spread=0.1)
    plain = score_vectors({"all": x}, {"all": y})
    assert plain["test"]["accuracy"] == plain["dev"]["accuracy"] == 1.0
    fit = classifiers.fit
    monkeypatch.setattr(
        classifiers, "fit", lambda train, strength: fit(Part(train.x, 1 - train.y), strength)
    )
    turned = score_vectors({"all": x}, {"all": y})
    assert turned["strengths"] == plain["strengths"]
    assert (turned["dev"]["accuracy"], turned["test"]["accuracy"]) == (1.0, 0.0)


@pytest.mark.parametrize(
    "version, classes, is_limited", [("2.0.0", 3, True), ("2.0.0", 2, False), ("1.26.4", 3, False)]
)
def test_numpy_2_trains_more_than_two_classes_on_one_thread(
    monkeypatch, version, classes, is_limited
):
    """Two classes have another solver, whose products are wide."""

    def fit(model, x, y):
        seen.update(pool["num_threads"] for pool in _blas())
        return train(model, x, y)

    seen, train, before = set(), LogisticRegression.fit, {it["num_threads"] for it in _blas()}
    monkeypatch.setattr(LogisticRegression, "fit", fit)
    monkeypatch.setattr(np, "__version__", version)
    x, _ = blobs(30, seed=1)
    classifiers.fit(Part(x, np.arange(30) % classes), 1.0)
    assert seen == ({1} if is_limited else before)
    assert {pool["num_threads"] for pool in _blas()} == before


def _blas():
    return [pool for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_without_a_dev_split_folds_of_train_choose():
    x, y = blobs(80, seed=3)
    other_x, other_y = blobs(40, seed=4)
    scores = score_vectors({"train": x, "test": other_x}, {"train": y, "test": other_y})
    folds = StratifiedKFold(10, shuffle=True, random_state=1111)
    means = {
        strength: cross_val_score(LogisticRegression(C=strength), x, y, cv=folds).mean()
        for strength in (0.5, 1, 2, 4, 8, 16, 32)
    }
    best = max(means, key=means.get)
    expected = LogisticRegression(C=best).fit(x, y).score(other_x, other_y)
    assert scores["strengths"] == [best]
    assert scores["dev"]["accuracy"] == pytest.approx(means[best])
    assert scores["test"]["accuracy"] == pytest.approx(expected)


def test_dev_chooses_and_is_never_trained_on():
    splits = {name: blobs(40, seed) for name, seed in (("train", 5), ("dev", 6), ("test", 7))}
    x, y = ({name: split[part] for name, split in splits.items()} for part in (0, 1))
    models = {
        strength: LogisticRegression(C=strength).fit(x["train"], y["train"])
        for strength in (0.25, 0.5, 1, 2, 4, 8)
    }
    dev = {strength: model.score(x["dev"], y["dev"]) for strength, model in models.items()}
    best = max(dev, key=dev.get)
    scores = score_vectors(x, y)
    assert scores["strengths"] == [best] and scores["dev"]["accuracy"] == pytest.approx(dev[best])
    assert scores["test"]["accuracy"] == pytest.approx(models[best].score(x["test"], y["test"]))


def related(examples, seed):
    """Scores from 1 to 5 that are the mean of a softmax of the features."""
    generator = np.random.default_rng(seed)
    x = generator.normal(0.0, 1.0, [examples, 2])
    return x, 1.0 + 4.0 / (1.0 + np.exp(-2.0 * x[:, 0]))


def test_relatedness_is_learnt_from_the_distribution_on_two_points():
    x, y = related(400, seed=8)
    predictions = RelatednessRegression(C=8.0).fit(x, y).predict(x)
    assert np.abs(predictions - y).mean() < 0.15


def test_a_score_between_two_points_is_predicted_as_their_mean():
    """Without features that tell, the regression predicts the mean score."""
    y = np.array([1.0, 2.5, 3.25, 4.75, 5.0])
    predictions = RelatednessRegression().fit(np.zeros([5, 1]), y).predict(np.zeros([1, 1]))
    assert predictions[0] == pytest.approx(y.mean(), abs=1e-3)


def test_relatedness_has_correlations_and_the_error():
    splits = {name: related(200, seed) for name, seed in (("train", 1), ("dev", 2), ("test", 3))}
    x, y = ({name: split[part] for name, split in splits.items()} for part in (0, 1))
    scores = score_vectors(x, y)
    assert scores["dev"]["pearson"] > 0.95 and scores["test"]["pearson"] > 0.95
    assert scores["test"]["spearman"] > 0.95 and scores["test"]["mse"] < 0.1


def test_the_same_data_give_the_same_scores(monkeypatch):
    use_few_folds(monkeypatch)
    x, y = blobs(60, seed=9, spread=2.0)
    assert score_vectors({"all": x}, {"all": y}) == score_vectors({"all": x}, {"all": y})
