"""Speed of an epoch shaped like SNLI's, input pipeline included, from a sample of its batches."""

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Optional

import numpy as np

from disan_tf.benchmark.step import (
    CHARACTERS,
    WORDS,
    form_config,
    form_names,
    inputs_of,
    make_steps,
)
from disan_tf.benchmark.timing import WARM_UPS, measure
from disan_tf.input_pipeline import BatchPlan, Split, WordFeatures, make_dataset, padding_share

TRAINING_PAIRS = 549_367  # labelled training pairs of SNLI 1.0
_PAIRS = 1280  # pairs in a repetition
_FIELDS = ("premise", "hypothesis")
_LENGTHS = Path(__file__).with_name("snli_lengths.json")


def measure_epoch(config, repetitions: int, batches: Optional[int] = None) -> dict:
    """Measures pairs per second of training: ours in batches planned as in training, the authors'.

    The authors shuffle, and pad every batch to its longest premise and hypothesis. Ids are random,
    lengths as in SNLI; both forms use our input pipeline. The estimate is a ratio of sums over a
    sample of an epoch's batches: every n-th batch by padded size, in every repetition (sorted
    batches differ so much that a random sample was a tenth off).

    Returns:
      {"pairs", "sampled_batches", "forms"}; a form has "pairs_per_second", their "min" and "max"
      over the repetitions, "epoch_minutes" for all pairs of SNLI, "padding_share" of its whole
      plan and, if it is ours, "dense_ratio". DSA is compared with DiSAN, both in batches as their
      own configs plan them; "disan_ratio" is DSA's speedup over DiSAN.
    """
    split = snli_shaped_split(config.seed, config.data.get("word_length", 0))
    arguments = [spec.name for spec in inputs_of(config)] + ["label"]
    batches = batches or default_batches(config)
    samples = {
        name: Sample(
            _unsorted_plan(config, split)
            if name == "dense"
            else plan_of(form_config(name, config), split),
            split,
            make_steps(name, config)["train"],
            arguments,
            batches,
            repetitions + WARM_UPS,
        )
        for name in form_names(config)
    }
    forms = measure_samples(samples, repetitions)
    for name, form in forms.items():
        form["epoch_minutes"] = TRAINING_PAIRS / form["pairs_per_second"] / 60
        form["padding_share"] = samples[name].padding
        for ratio, other in (("dense_ratio", "dense"), ("disan_ratio", f"disan {name}")):
            if other in forms and name != other:
                form[ratio] = form["pairs_per_second"] / forms[other]["pairs_per_second"]
    return {"pairs": len(split), "sampled_batches": repetitions * batches, "forms": forms}


def default_batches(config) -> int:
    """Returns a repetition's number of batches: about equally many pairs for any batch size."""
    return max(1, _PAIRS // config.train.batch_size)


def snli_shaped_split(seed: int, word_length: int = 0) -> Split:
    """Draws pairs of random ids, with the (premise, hypothesis) lengths of `snli_lengths.json`.

    Unless `word_length` is 0, words have `word_length` random characters, and random flags.
    """
    table = np.array(json.loads(_LENGTHS.read_text(encoding="utf-8"))["counts"])
    lengths = np.repeat(table[:, :2], table[:, 2], axis=0)
    generator = np.random.default_rng(seed)
    ids, offsets = {}, {}
    for field, counts in zip(_FIELDS, lengths.T):
        ids[field] = generator.integers(2, WORDS + 2, counts.sum(), np.int32)
        offsets[field] = np.concatenate([[0], np.cumsum(counts)])
    labels = generator.integers(0, 3, len(lengths), np.int32)
    features = _random_features(generator, ids, word_length) if word_length else None
    example_ids = np.array([b""] * len(lengths))
    return Split(_FIELDS, ids, offsets, labels, example_ids, features=features)


def _random_features(generator, ids, word_length):
    spellings = generator.integers(1, CHARACTERS, [WORDS + 2, word_length], np.uint8)
    spellings[0] = 0
    match = {field: generator.integers(0, 2, len(row), np.uint8) for field, row in ids.items()}
    return WordFeatures(spellings, ids, match)


class Sample:
    """A sample of a plan's batches, of which every run uses the next few.

    Args:
      plan: all batches of an epoch, see `disan_tf.input_pipeline.plan_batches`.
      split: the pairs.
      step: a function of `arguments`.
      arguments: names of a batch's arrays.
      batches: number of batches in a run.
      runs: number of runs.
    """

    def __init__(self, plan, split, step, arguments: Sequence[str], batches: int, runs: int):
        self.padding = padding_share(split.field_lengths, plan)
        self.pairs = []  # by run
        self._step, self._count, self._arguments = step, batches, arguments
        by_size = plan[np.argsort(_positions(plan, split), kind="stable")]
        chosen = np.linspace(0, len(plan) - 1, batches * runs).astype(int)
        chosen = chosen.reshape(batches, runs).T.reshape(-1)  # every `runs`-th for a run
        self._batches = iter(make_dataset(split, by_size[chosen]))

    def run(self) -> None:
        """Calls the step on the next batches."""
        pairs = 0
        for batch in islice(self._batches, self._count):
            self._step(*(batch[name] for name in self._arguments))
            pairs += len(batch["label"])
        self.pairs.append(pairs)

    def speeds(self, timing) -> dict:
        """Returns {"pairs_per_second", "min", "max"} of all runs after the warm-up."""
        pairs = self.pairs[WARM_UPS:]
        assert len(pairs) == len(timing.seconds)
        speeds = [count / seconds for count, seconds in zip(pairs, timing.seconds)]
        speed = sum(pairs) / sum(timing.seconds)
        return {"pairs_per_second": speed, "min": min(speeds), "max": max(speeds)}


def _positions(plan, split):
    """Counts the positions of every batch, padding included."""
    lengths = np.where((plan >= 0)[..., None], split.field_lengths[plan], 0)
    return np.sum(plan >= 0, axis=1) * lengths.max(axis=1).sum(axis=1)


def plan_of(config, split: Split) -> np.ndarray:
    """Returns all batches of an epoch, planned as in training."""
    train = config.train
    return BatchPlan(
        split.field_lengths, train.batch_size, train.window, config.seed, train.batch_tokens
    ).batches(0)


def _unsorted_plan(config, split):
    """Returns all batches of an epoch as the authors draw them, without a smaller last batch."""
    size = config.train.batch_size
    order = np.random.default_rng(config.seed).permutation(len(split))
    return order[: len(order) // size * size].reshape(-1, size)


def measure_samples(samples: dict, repetitions: int) -> dict:
    """Times samples in turns; returns the `Sample.speeds` of each."""
    runs = {name: sample.run for name, sample in samples.items()}
    timings = measure(runs, repetitions, settle=False)  # a run is many batches
    return {name: sample.speeds(timings[name]) for name, sample in samples.items()}
