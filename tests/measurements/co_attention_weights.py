"""How evenly a trained DRCN's words read the other sentence, and what equal weights would cost.

    python -m tests.measurements.co_attention_weights --workdir=runs/drcn_snli \\
      --prepared=prepared/snli-... \\
      [--output=checkpoints/benchmarks/measurements/co_attention_weights_B_Ca_Cs_M.json]

prints as JSON, of the best model of a training, for each layer "saturated", the share of the states
h_i beyond -0.9 or 0.9, and by attention function the mean over the words i of

    -sum_j alpha_ij log alpha_ij / log n    (1 = all n words alike, 0 = one word alone)

in all dev pairs, in both directions, where the other sentence has n > 1 words; and the dev scores:
as they are ("none"), with alpha_ij = 1 / n in each function, and in all of them.
"""

import contextlib
import json
from collections import defaultdict
from unittest import mock

import numpy as np
import tensorflow as tf

from disan_tf.common.files import write_json
from disan_tf.input_pipeline import PreparedCorpus, evaluation_batches, make_dataset
from disan_tf.layers.attention.multiway import FUNCTIONS, MultiwayCoAttention, split_letters
from disan_tf.runs.bundle import load_bundle
from tests.measurements.best_model import dev_scores, parse_options

SATURATED = 0.9


def measure_layers(model, split) -> list[dict[str, float]]:
    """Saturation and entropies of each layer."""
    calls, found = [], defaultdict(list)
    attend = MultiwayCoAttention.attend

    def attend_and_note(co_attention, *pair):
        calls.append((pair, attend(co_attention, *pair)))
        return calls[-1][1]

    with mock.patch.object(MultiwayCoAttention, "attend", attend_and_note):
        for batch in make_dataset(split, evaluation_batches(split.field_lengths, 64)):
            model.attend(*(batch[name] for name in model.reads))
            for layer, (pair, weights) in enumerate(calls):
                for name, values in _of_layer(pair, weights):
                    found[layer, name].append(values)
            calls.clear()
    layers = 1 + max(layer for layer, _ in found)
    return [
        {name: _mean(values) for (number, name), values in found.items() if number == layer}
        for layer in range(layers)
    ]


def _of_layer(pair, weights):
    """Names and values of a batch: `pair` is what a co-attention is called with."""
    first, second, *masks = (np.asarray(tensor) for tensor in pair)
    for states, mask in zip((first, second), masks):
        yield "saturated", np.abs(states[mask].astype(np.float32)) > SATURATED
    for name, both in weights.items():
        for alpha, mask, other in zip(both, masks, reversed(masks)):
            yield name, _entropies(np.asarray(alpha), mask, np.sum(other, axis=1))


def _entropies(alpha, mask, words):
    """<float>[words that read], of alpha [batch, length, other length]."""
    mask = mask & (words > 1)[:, None]
    nats = -np.sum(alpha * np.log(np.where(alpha > 0, alpha, 1)), axis=2)
    return (nats / np.log(np.maximum(words, 2))[:, None])[mask]


def _mean(parts):
    return round(float(np.mean(np.concatenate([np.ravel(part) for part in parts]))), 4)


def measure_equal_weights(bundle, corpus) -> dict[str, dict[str, float]]:
    """Dev scores by the functions whose weights are equal."""
    functions = bundle.config.encoder.functions
    trials = dict.fromkeys(["none", *split_letters(functions), functions])  # each once
    return {trial: _scores(bundle, corpus, trial) for trial in trials}


def _scores(bundle, corpus, functions):
    letters = [] if functions == "none" else split_letters(functions)
    with contextlib.ExitStack() as stack:
        for letter in letters:
            patch = mock.patch.object(FUNCTIONS[letter], "mutual_scores", _equal_scores)
            stack.enter_context(patch)
        return dev_scores(bundle, corpus)


def _equal_scores(attention, first, second, masks=None):
    batch, length, other = tf.shape(first)[0], tf.shape(first)[1], tf.shape(second)[1]
    return tf.zeros([batch, length, other]), tf.zeros([batch, other, length])


def main() -> None:
    """Prints what was measured."""
    options = parse_options(__doc__)
    bundle, corpus = load_bundle(options.workdir / "best"), PreparedCorpus(options.prepared)
    found = {
        "step": bundle.info["scores"]["step"],
        "layers": measure_layers(bundle.model, corpus.split("dev")),
        "equal_weights": measure_equal_weights(bundle, corpus),
    }
    print(json.dumps(found, indent=2))
    if options.output:
        write_json(options.output, {"config": bundle.config.to_dict(), **found})


if __name__ == "__main__":
    main()
