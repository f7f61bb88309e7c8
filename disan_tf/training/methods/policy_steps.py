"""Hard attention's compiled training step, its rewards, and the loss of the policy gradient."""

from typing import Optional

import tensorflow as tf

from disan_tf.ops.batch_share import part_of_all, part_of_mean
from disan_tf.training.compilation import Compiler
from disan_tf.training.distribution.strategy import compiled_step, summed
from disan_tf.training.steps import added_losses, apply_gradients, batch_signature, scaled

SOFT, POLICY = "soft", "policy"  # weights trained by back-propagation, by REINFORCE


class Baseline:
    """A moving average of the rewards, which REINFORCE may subtract from them.

    Args:
      decay: the average's decay, in [0, 1); 0 = no baseline.
    """

    def __init__(self, decay: float):
        self._decay = decay
        self.sums = tf.Variable(  # of rewards and of weights, equal on all replicas
            [0.0, 0.0], trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
        )

    def value(self) -> tf.Tensor:
        """Returns the average, <float32>[]; 0 before the first reward."""
        return tf.math.divide_no_nan(self.sums[0], self.sums[1])

    def add(self, reward: tf.Tensor) -> None:
        """Adds the mean reward of a batch, <float32>[]."""
        if self._decay:
            new = tf.stack([reward, 1.0])
            self.sums.assign(self._decay * self.sums + (1.0 - self._decay) * new)


def make_policy_step(
    model,
    optimizers: dict,
    how: str,
    reward,
    baseline: Baseline,
    clip_norm: float = 0.0,
    compiler: Optional[Compiler] = None,
):
    """Returns the training step of a model with hard attention.

    Args:
      model: a `SentenceModel`.
      optimizers: the optimizers of the trained weights: SOFT, POLICY or both. SOFT's weights have
        the gradient of the loss (ReSAN Eq. 16), POLICY's weights the policy gradient (Eq. 20);
        both include their own weight decay. Both come from one forward pass.
      how: the selection, see `disan_tf.layers.hard_attention.samplers.Sampler.select`.
      reward, baseline: a function of `REWARDS`, and what is subtracted from them.
      clip_norm, compiler: see `apply_gradients` and `compiled_step`.

    Returns:
      A `compiled_step` with the arguments of the step by `make_train_step` -> a dictionary of
      <float32>[]: also "reward", "head_fraction" and "dependent_fraction" (of the real tokens), all
      means over the sentences, "policy_loss", "gradient_norm" and "policy_gradient_norm" (0 for
      weights that this step does not train), and "skipped_steps", summed over the optimizers.
    """

    def policy_step(*batch):
        *ids, label = batch
        with tf.GradientTape(persistent=True) as tape:
            selections = model.select(*ids, how=how, training=True)
            outputs = model(*ids, selections=selections, training=True)
            losses = model.example_losses(outputs, label)
            rewards = [reward(losses, chosen) for chosen in selections]
            decay, policy_decay = added_losses(model)
            loss = policy_loss(rewards, selections, baseline.value())
            objectives = {
                SOFT: part_of_mean(tf.reduce_mean(losses)) + part_of_all(decay),
                POLICY: part_of_mean(loss) + part_of_all(policy_decay),
            }
            targets = {kind: scaled(optimizers[kind], objectives[kind]) for kind in optimizers}
        head_fractions = tf.reduce_mean([chosen.head_fraction for chosen in selections])
        dependent_fractions = tf.reduce_mean([chosen.dependent_fraction for chosen in selections])
        measured = {
            "loss": objectives[SOFT],
            model.batch_score_name: part_of_mean(model.batch_score(outputs, label)),
            "reward": part_of_mean(tf.reduce_mean(rewards)),
            "head_fraction": part_of_mean(head_fractions),
            "dependent_fraction": part_of_mean(dependent_fractions),
            "policy_loss": objectives[POLICY],
        }
        weights = dict(zip((SOFT, POLICY), split_weights(model)))
        gradients = {kind: tape.gradient(targets[kind], weights[kind]) for kind in optimizers}
        flat, measured = summed(sum(gradients.values(), []), measured)
        norms = {SOFT: tf.constant(0.0), POLICY: tf.constant(0.0)}
        skipped = tf.constant(0.0)
        for kind, optimizer in optimizers.items():
            part, flat = flat[: len(weights[kind])], flat[len(weights[kind]) :]
            norms[kind], was_skipped = apply_gradients(optimizer, part, weights[kind], clip_norm)
            skipped += was_skipped
        baseline.add(measured["reward"])
        return {
            **measured,
            "gradient_norm": norms[SOFT],
            "policy_gradient_norm": norms[POLICY],
            "skipped_steps": skipped,
        }

    return compiled_step(policy_step, batch_signature(model), compiler)


def split_weights(model) -> tuple[list, list]:
    """Returns ReSAN's theta_s (all other weights) and theta_r (the samplers' weights), Sec. 4."""
    samplers = [w for sampler in model.samplers for w in sampler.trainable_weights]
    known = {id(weight) for weight in samplers}
    return [w for w in model.trainable_weights if id(w) not in known], samplers


def product_reward(losses, selections, penalty: float) -> tf.Tensor:
    """Computes R = -(loss + penalty * dependent fraction * head fraction), as the authors' code.

    ReSAN Eq. 17 differs: it has the probability instead of the loss and a sum over the selected
    tokens instead of a product of fractions. `losses` are the examples' losses without weight
    decay, <float32>[batch], as is R; `selections` belong to one sentence of each example; `penalty`
    is lambda of Eq. 17.
    """
    return -(losses + penalty * selections.dependent_fraction * selections.head_fraction)


def probability_reward(losses, selections, penalty: float) -> tf.Tensor:
    """Computes R = exp(-loss) - penalty * the mean of both fractions, ReSAN Eq. 17.

    If the loss is a cross-entropy, exp(-loss) is p(y = y*). The penalty has the sign that the text
    around Eq. 17 describes; with the printed sign, selecting tokens would be rewarded.
    """
    fraction = 0.5 * (selections.dependent_fraction + selections.head_fraction)
    return tf.exp(-losses) - penalty * fraction


REWARDS = {"product": product_reward, "probability": probability_reward}


def policy_loss(rewards, selections, baseline=0.0) -> tf.Tensor:
    """Computes -mean_batch sum_s (R_s - baseline) log pi(z_s), <float32>[].

    The gradient is minus the policy gradient of ReSAN Eq. 20. Every sentence s of an example has
    its own reward R_s, <float32>[batch], through which no gradient flows, and its own selections.
    The baseline changes the variance of the gradient, not its mean.
    """
    terms = [
        tf.stop_gradient(reward - baseline) * selected.log_probability
        for reward, selected in zip(rewards, selections)
    ]
    return -tf.reduce_mean(tf.add_n(terms))
