"""What the samplers of a ReSAN can learn: the reward by the share selected, and REINFORCE's noise.

    python -m tests.measurements.policy_noise --workdir=runs/resan_snli/seed-1 --step=10000 \\
      --prepared=prepared/snli-... [--output=checkpoints/benchmarks/measurements/policy_noise.json]

reads a checkpoint of a training that has stopped, and prints as JSON, of the first batches of its
first epoch, with dropout, what follows. The two newest checkpoints are kept, so that a training of
one step more than `policy.pretrain_steps` has that of the end of the pretraining.

- "rewards": the mean cross-entropy, and the reward with the config's penalty (ReSAN Eq. 17 in the
  form of the config), when each token is selected at random with the same probability, in place of
  the samplers'; standard errors are of the difference to all tokens selected, example by example.
- "gradients": the policy gradient (Eq. 20) of each batch without a baseline, and with the mean
  reward as a constant one: the root mean square of its norm; the squared norm of its mean,
  estimated without bias, so that it may be below 0 where no signal was found; and the ratio of
  signal to noise, that is of this square to the variance. One over it is the number of batches
  whose mean gradient is as much signal as noise.
"""

import argparse
import functools
import json
from pathlib import Path

import numpy as np
import tensorflow as tf
from ml_collections import ConfigDict

from disan_tf.common.files import write_json
from disan_tf.input_pipeline import PreparedCorpus, make_dataset
from disan_tf.runs.work_directory import read_config
from disan_tf.training.experiment import Trainer
from disan_tf.training.methods.policy_steps import REWARDS, policy_loss, split_weights
from disan_tf.training.steps import batch_signature

RATES = (
    (1.0, 1.0),
    (0.9, 0.9),
    (0.75, 0.75),
    (0.5, 0.5),
    (0.25, 0.25),
    (0.1, 0.1),
    (0.0, 0.0),
    (0.0, 1.0),
    (0.5, 1.0),
)  # of heads, of dependents


def main() -> None:
    """Prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workdir", type=Path, required=True)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--step", type=int, required=True)
    parser.add_argument("--batches", type=int, default=300)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    config = ConfigDict(read_config(options.workdir))
    trainer = Trainer(config, PreparedCorpus(options.prepared), options.workdir)
    trainer.state.restore(f"step-{options.step}")
    reward = functools.partial(REWARDS[config.policy.reward], penalty=config.policy.penalty)
    batches = list(make_dataset(trainer.train, trainer.plan.batches(0)[: options.batches]))
    rewards = measure_rewards(trainer.model, batches, reward)
    found = {
        "config": config.to_dict(),
        "step": options.step,
        "batches": len(batches),
        "rewards": rewards,
        "gradients": measure_gradients(trainer.model, batches, reward),
    }
    print(json.dumps({name: found[name] for name in ("rewards", "gradients")}, indent=2))
    if options.output:
        write_json(options.output, found)


def measure_rewards(model, batches: list, reward) -> list[dict]:
    """Cross-entropies and rewards by `RATES`, whose first selects all tokens."""
    found, losses_of_all = [], None
    for rates in RATES:
        tf.keras.utils.set_random_seed(1)
        step = _fixed_rates(model, rates, reward)
        values = [step(*_arguments(model, batch)) for batch in batches]
        losses, rewards = (np.concatenate(column) for column in zip(*values))
        losses_of_all = losses if losses_of_all is None else losses_of_all
        over = losses - losses_of_all
        found.append(
            {
                "heads": rates[0],
                "dependents": rates[1],
                "cross_entropy": round(float(losses.mean()), 4),
                "over_all_selected": round(float(over.mean()), 4),
                "standard_error": round(float(over.std() / np.sqrt(len(over))), 4),
                "reward": round(float(rewards.mean()), 4),
            }
        )
    return found


def _fixed_rates(model, rates, reward):
    """A function of a batch -> losses and rewards <float32>[batch], tokens selected by `rates`."""

    @tf.function(input_signature=batch_signature(model), autograph=False)
    def step(*batch):
        *ids, label = batch
        chosen = [_draw(everything, rates) for everything in model.select(*ids, how="all")]
        losses = model.example_losses(model(*ids, selections=chosen, training=True), label)
        rewards = [reward(losses, each) for each in chosen]
        return losses, tf.add_n(rewards) / len(rewards)

    return step


def _draw(everything, rates):
    """`Selections` of all tokens -> of tokens drawn with the rates of heads and dependents."""
    mask = everything.heads[0]
    tokens = tf.reduce_sum(tf.cast(mask, tf.float32), axis=1)
    heads, dependents = (mask & (tf.random.uniform(tf.shape(mask)) < rate) for rate in rates)
    fractions = [
        tf.math.divide_no_nan(tf.reduce_sum(tf.cast(kind, tf.float32), axis=1), tokens)
        for kind in (heads, dependents)
    ]
    return everything._replace(
        heads=(heads, heads),
        dependents=(dependents, dependents),
        head_fraction=fractions[0],
        dependent_fraction=fractions[1],
    )


def measure_gradients(model, batches: list, reward) -> dict:
    """Norms of the policy gradient, and its ratio of signal to noise, by the baseline."""
    _, weights = split_weights(model)

    @tf.function(input_signature=[*batch_signature(model), tf.TensorSpec([])], autograph=False)
    def step(*batch):
        *ids, label, baseline = batch
        with tf.GradientTape() as tape:
            selections = model.select(*ids, how="sample", training=True)
            outputs = model(*ids, selections=selections, training=True)
            losses = model.example_losses(outputs, label)
            rewards = [reward(losses, chosen) for chosen in selections]
            loss = policy_loss(rewards, selections, baseline)
        gradients = tape.gradient(loss, weights)
        flat = tf.concat([tf.reshape(gradient, [-1]) for gradient in gradients], 0)
        return flat, tf.reduce_mean(rewards)

    found, baseline = {}, 0.0
    for name in ("without_baseline", "mean_reward"):
        total, squares, rewards = 0.0, 0.0, []
        for batch in batches:
            gradient, mean_reward = step(*_arguments(model, batch), baseline)
            gradient = gradient.numpy().astype(np.float64)
            total, squares = total + gradient, squares + gradient @ gradient
            rewards.append(float(mean_reward))
        number = len(batches)
        signal = (total @ total - squares) / (number * (number - 1))
        square = squares / number
        found[name] = {
            "baseline": round(float(baseline), 4),
            "norm": round(float(np.sqrt(square)), 4),
            "squared_norm_of_mean": round(float(signal), 4),
            "signal_to_noise": round(float(signal / (square - signal)), 5),
        }
        baseline = np.float32(np.mean(rewards))
    return found


def _arguments(model, batch):
    return [*(batch[name] for name in model.reads), batch["label"]]


if __name__ == "__main__":
    main()
