"""The choice of the trained model with which a training begins (`--init_from=auto`)."""

import functools
import warnings
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.checks import join_choices
from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus, Split
from disan_tf.input_pipeline.batch_plan import evaluation_batches
from disan_tf.input_pipeline.batches import make_dataset
from disan_tf.models.base import SentenceModel
from disan_tf.runs.bundle import Bundle
from disan_tf.runs.work_directory import AUTO
from disan_tf.study.baseline import fit_features, texts_of
from disan_tf.text.lookup import FIRST_WORD_ID, UNKNOWN_ID
from disan_tf.text.tokenizer import lowercase
from disan_tf.training.initial_model import InitialModel

CANDIDATES = ("disan_sst2", "disan_snli")
_TFIDF = "TF-IDF of words"
_EXAMPLES, _PARTS, _BATCH = 1000, 4, 64
_WORDS, _VECTORS = 10.0, 0.003  # C of the regressions, the inverse weight of the penalty


class AutomaticStart:
    """Chooses the trained model with which a training begins; replaces an `InitialModel`.

    Logistic regressions are cross-validated on up to 1,000 examples of the training part: on the
    sentence vectors of each model, and on TF-IDF weights of words. The training begins with the
    model whose vectors give the highest accuracy. If the accuracy of TF-IDF is at least as high,
    the vectors distinguish the classes no better than the words, and it begins with random weights.

    Args:
      models: the models to choose from.
    """

    name = AUTO

    def __init__(self, models: list[InitialModel]):
        self._models = models
        self._chosen: Optional[InitialModel] = None

    @property
    def record(self) -> Optional[dict]:
        """The record of the chosen model, see `InitialModel`; None for random weights."""
        return self._chosen and self._chosen.record

    def check_fits(self, config) -> None:
        """Drops the models that do not fit a `Config`.

        Raises UserError if none fits, or if the task has no classes.
        """
        if config.task.name not in ("classification", "nli"):
            names = join_choices(model.name for model in self._models)
            raise UserError(
                f"--init_from={AUTO} chooses by accuracy, but the config's task is "
                f"{config.task.name}; name a model ({names}), or leave the flag out."
            )
        fitting, reasons = [], []
        for model in self._models:
            try:
                model.check_fits(config)
                fitting.append(model)
            except UserError as reason:
                reasons.append(str(reason))
        if not fitting:
            raise UserError(f"--init_from={AUTO} finds no model that fits the config: {reasons[0]}")
        self._models = fitting

    def apply(self, model: SentenceModel, corpus: PreparedCorpus) -> None:
        """Chooses a model or none, applies it, and prints the accuracies."""
        self._chosen = None  # a member of a series may have chosen before
        part = _sample(corpus.split("train"))
        accuracies = self._accuracies(corpus, part)
        best = max(self._models, key=lambda one: accuracies[one.name])
        if accuracies[best.name] > accuracies[_TFIDF]:
            self._chosen = best
            best.apply(model, corpus)
        shown = ", ".join(f"{name} {accuracy:.3f}" for name, accuracy in accuracies.items())
        print(
            f"--init_from={AUTO}: accuracies of logistic regressions, cross-validated on "
            f"{len(part):,} training examples: {shown}; begins with "
            f"{self._chosen.name if self._chosen else 'random weights'}"
        )

    def _accuracies(self, corpus: PreparedCorpus, part: Split) -> dict[str, float]:
        """Returns the accuracies of the models by name, and of TF-IDF."""
        by_name = {one.name: _accuracy_of_vectors(one.bundle, corpus, part) for one in self._models}
        return {**by_name, _TFIDF: _accuracy_of_words(corpus, part)}


def _sample(split: Split) -> Split:
    """Returns up to `_EXAMPLES` examples of a split, which a fixed seed draws."""
    rows = np.random.default_rng(1).permutation(len(split))[:_EXAMPLES]
    return split.take(np.sort(rows))


def _accuracy_of_words(corpus: PreparedCorpus, part: Split) -> float:
    features = fit_features("words", texts_of(part, corpus.vocabulary))
    return _cross_validate(features[0], part.labels, _WORDS) if features else 0.0


def _accuracy_of_vectors(bundle: Bundle, corpus: PreparedCorpus, part: Split) -> float:
    """Cross-validates on the sentence vector u; for pairs on u, v, |u - v| and u * v."""
    ids = dict(zip(bundle.vocabulary, range(FIRST_WORD_ID, FIRST_WORD_ID + len(bundle.vocabulary))))
    words = corpus.vocabulary
    if bundle.info["tokenizer"]["lowercase"]:
        words = lowercase(words)
    table = [0, UNKNOWN_ID, *(ids.get(word, UNKNOWN_ID) for word in words)]
    encode = tf.function(
        functools.partial(bundle.model.encode, training=False), reduce_retracing=True
    )
    features = None
    for batch in make_dataset(part, evaluation_batches(part.field_lengths, _BATCH)):
        vectors = [
            encode(tf.gather(tf.constant(table), batch[field])).numpy() for field in part.fields
        ]
        if len(vectors) == 2:
            first, second = vectors
            vectors += [abs(first - second), first * second]
        rows = np.concatenate(vectors, axis=1)
        if features is None:
            features = np.empty([len(part), rows.shape[1]], np.float32)
        features[batch["index"].numpy()] = rows
    deviation = features.std(axis=0)
    features = (features - features.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return _cross_validate(features, part.labels, _VECTORS)


def _cross_validate(features, labels: np.ndarray, strength: float) -> float:
    """Returns the mean accuracy over the held-out parts; 0 unless two classes are in each part."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    if np.sum(np.bincount(labels) >= _PARTS) < 2:
        return 0.0
    parts = StratifiedKFold(_PARTS, shuffle=True, random_state=1)
    regression = LogisticRegression(C=strength, max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rare classes, and of regressions that stop early
        return float(np.mean(cross_val_score(regression, features, labels, cv=parts)))
