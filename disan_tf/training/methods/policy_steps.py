"""The compiled training step of models with hard attention."""

import tensorflow as tf

from disan_tf.ops.batch_share import part_of_all, part_of_mean
from disan_tf.training.distribution.replicas import compiled_step, summed
from disan_tf.training.methods.rewards import policy_loss
from disan_tf.training.steps import added_losses, apply_gradients, batch_signature, scaled

SOFT, POLICY = "soft", "policy"  # trained by back-propagation, by REINFORCE


class Baseline:
    """A moving average of the rewards, which REINFORCE may subtract from them.

    Args:
      decay: of the average, in [0, 1); 0 = no baseline.
    """

    def __init__(self, decay: float):
        self._decay = decay
        self.sums = tf.Variable(  # of rewards, and of their weights; on all replicas alike
            [0.0, 0.0], trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
        )

    def value(self) -> tf.Tensor:
        """<float32>[]; 0 before the first reward."""
        return tf.math.divide_no_nan(self.sums[0], self.sums[1])

    def add(self, reward: tf.Tensor) -> None:
        """Takes in the mean reward of a batch, <float32>[]."""
        if self._decay:
            new = tf.stack([reward, 1.0])
            self.sums.assign(self._decay * self.sums + (1.0 - self._decay) * new)


def make_policy_step(
    model, optimizers: dict, how: str, reward, baseline: Baseline, clip_norm: float = 0.0
):
    """One step of a model whose encoder has hard attention.

    Args:
      model: a `SentenceModel`.
      optimizers: of what is trained, SOFT or POLICY or both. The weights of SOFT have
        the gradient of the loss (ReSAN Eq. 16), those of POLICY the policy gradient (Eq. 20);
        either with the weight decay of its own matrices. Both come from one forward pass.
      how: tokens are chosen, see `disan_tf.layers.hard_attention.sampler.Sampler.select`.
      reward: a function of (losses <float32>[batch], `Selections`) -> <float32>[batch].
      baseline: of the rewards.
      clip_norm: of the gradients of each optimizer, see `apply_gradients`.

    Returns:
      A `compiled_step` of the arguments of `make_train_step`'s, -> a dictionary of
      <float32>[]: "loss" and `model.batch_score_name`, "reward" (mean over the sentences),
      "head_fraction" and "dependent_fraction" (of the real tokens, mean over the sentences),
      "policy_loss", "gradient_norm" and "policy_gradient_norm" (0 of what is not trained now), and
      "skipped_steps", of either optimizer.
    """

    def policy_step(*batch):
        *ids, label = batch
        with tf.GradientTape(persistent=True) as tape:
            selections = model.select(*ids, how=how, training=True)
            outputs = model(*ids, selections=selections, training=True)
            losses = model.example_losses(outputs, label)
            rewards = [reward(losses, chosen) for chosen in selections]
            decays = dict(zip((SOFT, POLICY), added_losses(model)))
            objectives = {
                SOFT: part_of_mean(tf.reduce_mean(losses)),
                POLICY: part_of_mean(policy_loss(rewards, selections, baseline.value())),
            }
            for kind in objectives:
                objectives[kind] += part_of_all(decays[kind])
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
        flat, measured = summed(sum(gradients.values(), []), measured, by_row=False)
        norms = {SOFT: tf.constant(0.0), POLICY: tf.constant(0.0)}
        skipped = tf.constant(0.0)
        for kind, optimizer in optimizers.items():
            own, flat = flat[: len(weights[kind])], flat[len(weights[kind]) :]
            norms[kind], was_skipped = apply_gradients(optimizer, own, weights[kind], clip_norm)
            skipped += was_skipped
        baseline.add(measured["reward"])
        return {
            **measured,
            "gradient_norm": norms[SOFT],
            "policy_gradient_norm": norms[POLICY],
            "skipped_steps": skipped,
        }

    return compiled_step(policy_step, batch_signature(model))


def split_weights(model) -> tuple[list, list]:
    """theta_s and theta_r of ReSAN section 4: all other weights, and the samplers' weights."""
    samplers = [w for sampler in model.samplers for w in sampler.trainable_weights]
    known = {id(weight) for weight in samplers}
    return [w for w in model.trainable_weights if id(w) not in known], samplers
