"""Speed of an epoch with SNLI's lengths, input pipeline included, from a sample of its batches."""

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Optional

import numpy as np

from disan_tf.input_pipeline import Batches, Split, WordFeatures, make_dataset, padding_share
from disan_tf.models.factory import count_parameters
from disan_tf.study.benchmark import step as steps
from disan_tf.study.benchmark.timing import WARM_UPS, add_ratios, measure

TRAINING_PAIRS = 549_367  # labelled training pairs of SNLI 1.0
_PAIRS = 1280  # pairs in a repetition
_FIELDS = ("premise", "hypothesis")
_LENGTHS = Path(__file__).with_name("snli_lengths.json")


def measure_epoch(config, repetitions: int, forms: Mapping, batches: Optional[int] = None) -> dict:
    """Measures pairs per second of training: ours in batches planned as in training, the authors'.

    The authors shuffle, and pad every batch to its longest premise and hypothesis. Ids are random,
    lengths as in SNLI; both forms use our input pipeline. The estimate is a ratio of sums over a
    sample of an epoch's batches: every n-th batch by padded size, in every repetition (sorted
    batches differ so much that a random sample was a tenth off). DSA and DiSAN have batches as
    their own configs plan them. Besides pairs per second, a form has "epoch_minutes" for all pairs
    of SNLI, "padding_share" of its whole plan and its ratios, see `add_ratios`.
    """
    split = snli_shaped_split(config.seed, config.data.get("word_length", 0))
    names = [*(spec.name for spec in steps.inputs_of(config)), "label"]
    plans, functions = {}, {}
    for name, form in forms.items():
        plans[name] = _plan(form, split, is_shuffled=name == "dense")
        functions[name] = _on_batches(steps.make_steps(name, form)["train"], names)
    speeds, measured = _measure(config, split, plans, functions, repetitions, batches)
    for name, speed in speeds.items():
        speed["epoch_minutes"] = TRAINING_PAIRS / speed["pairs_per_second"] / 60
        speed["padding_share"] = padding_share(split.field_lengths, plans[name])
    add_ratios(speeds, {name: 1.0 / speed["pairs_per_second"] for name, speed in speeds.items()})
    return {**measured, "forms": speeds}


def measure_encoders(
    config, repetitions: int, encoders: Mapping, batches: Optional[int] = None
) -> dict:
    """Measures encoders of DiSAN's or ReSAN's Table 1 in training and inference, in turns.

    `encoders` has their configs, "disan" too. All read the same batches, planned as in training,
    and compute in `config.dtype`. "disan_ratio" is the time of an encoder's epoch over DiSAN's.
    """
    split = snli_shaped_split(config.seed)
    functions = {
        (name, kind): _on_batches(step, [*_FIELDS, "label"][: 3 if kind == "train" else 2])
        for name, variant in encoders.items()
        for kind, step in steps.make_steps(config.dtype, variant).items()
    }
    plans = dict.fromkeys(functions, _plan(config, split))
    speeds, measured = _measure(config, split, plans, functions, repetitions, batches)
    whole, records = speeds["disan", "train"]["pairs_per_second"], {}
    for name, variant in encoders.items():
        speed = speeds[name, "train"]["pairs_per_second"]
        records[name] = {
            "parameters": count_parameters(steps.build(variant)),
            **speeds[name, "train"],
            "epoch_seconds": TRAINING_PAIRS / speed,
            "inference_pairs_per_second": speeds[name, "inference"]["pairs_per_second"],
            "disan_ratio": whole / speed,
        }
    return {**measured, "dtype": config.dtype, "encoders": records}


def snli_shaped_split(seed: int, word_length: int = 0) -> Split:
    """Draws pairs of random ids, with the (premise, hypothesis) lengths of `snli_lengths.json`.

    Unless `word_length` is 0, words have `word_length` random characters, and random flags.
    """
    table = np.array(json.loads(_LENGTHS.read_text(encoding="utf-8"))["counts"])
    lengths = np.repeat(table[:, :2], table[:, 2], axis=0)
    generator = np.random.default_rng(seed)
    ids, offsets = {}, {}
    for field, counts in zip(_FIELDS, lengths.T):
        ids[field] = generator.integers(2, steps.WORDS + 2, counts.sum(), np.int32)
        offsets[field] = np.concatenate([[0], np.cumsum(counts)])
    labels = generator.integers(0, 3, len(lengths), np.int32)
    features = None
    if word_length:
        shape = [steps.WORDS + 2, word_length]
        spellings = generator.integers(1, steps.CHARACTERS, shape, np.uint8)
        spellings[0] = 0
        match = {field: generator.integers(0, 2, len(row), np.uint8) for field, row in ids.items()}
        features = WordFeatures(spellings, ids, match)
    example_ids = np.array([b""] * len(lengths))
    return Split(_FIELDS, ids, offsets, labels, example_ids, features=features)


def _plan(config, split: Split, is_shuffled: bool = False) -> np.ndarray:
    """Returns all batches of an epoch, planned as in training or shuffled as by the authors."""
    train = config.train
    if is_shuffled:
        order = np.random.default_rng(config.seed).permutation(len(split))
        count = len(order) // train.batch_size
        return order[: count * train.batch_size].reshape(count, train.batch_size)
    options = Batches(train.batch_size, train.window, train.batch_tokens, examples=0)
    return options.plan(split.field_lengths, config.seed).batches(0)


def _on_batches(step, names):
    """Returns a function of a batch that gives a step the tensors of these names."""
    return lambda batch: step(*(batch[name] for name in names))


def _measure(config, split, plans, functions, repetitions, batches) -> tuple[dict, dict]:
    """Times functions of a batch in turns, each on a sample of its plan's batches.

    Returns {"pairs_per_second", "min", "max"} of each, and {"pairs", "sampled_batches"}.
    """
    batches = batches or max(1, _PAIRS // config.train.batch_size)  # for any batch size
    counts = {name: [] for name in functions}  # pairs by run

    def run_of(name, function):
        sample = iter(_sample(split, plans[name], batches, repetitions + WARM_UPS))

        def run():
            pairs = 0
            for batch in islice(sample, batches):
                function(batch)
                pairs += len(batch["label"])
            counts[name].append(pairs)

        return run

    runs = {name: run_of(name, function) for name, function in functions.items()}
    speeds = {}
    for name, timing in measure(runs, repetitions, settle=False).items():  # a run is many batches
        pairs, seconds = counts[name][WARM_UPS:], timing.seconds
        each = [count / time for count, time in zip(pairs, seconds)]
        speed = sum(pairs) / sum(seconds)
        speeds[name] = {"pairs_per_second": speed, "min": min(each), "max": max(each)}
    return speeds, {"pairs": len(split), "sampled_batches": repetitions * batches}


def _sample(split, plan, batches: int, runs: int):
    """Returns a dataset of every n-th batch of a plan by padded size, the batches run by run."""
    lengths = np.where((plan >= 0)[..., None], split.field_lengths[plan], 0)
    positions = np.sum(plan >= 0, axis=1) * lengths.max(axis=1).sum(axis=1)
    chosen = np.linspace(0, len(plan) - 1, batches * runs).astype(int)
    chosen = chosen.reshape(batches, runs).T.reshape(-1)  # every `runs`-th for a run
    return make_dataset(split, plan[np.argsort(positions, kind="stable")][chosen])
