"""The rewards of hard attention, and the loss whose gradient is the policy gradient."""

import tensorflow as tf


def product_reward(losses, selections, penalty: float) -> tf.Tensor:
    """Computes R = -(loss + penalty * dependent fraction * head fraction), as the authors' code.

    ReSAN Eq. 17 differs: it has the probability instead of the loss and the fractions' sum instead
    of their product.

    Args:
      losses: the examples' losses, without weight decay, <float32>[batch].
      selections: `disan_tf.layers.hard_attention.sampler.Selections` for one sentence of each
        example.
      penalty: lambda of Eq. 17.

    Returns:
      R, <float32>[batch].
    """
    return -(losses + penalty * selections.dependent_fraction * selections.head_fraction)


def probability_reward(losses, selections, penalty: float) -> tf.Tensor:
    """Computes R = exp(-loss) - penalty * the mean of both fractions, ReSAN Eq. 17.

    If the loss is a cross-entropy, exp(-loss) is p(y = y*). The penalty has the sign that the text
    around Eq. 17 describes; with the printed sign, selecting tokens would be rewarded.

    Arguments and result: see `product_reward`.
    """
    fraction = 0.5 * (selections.dependent_fraction + selections.head_fraction)
    return tf.exp(-losses) - penalty * fraction


REWARDS = {"product": product_reward, "probability": probability_reward}


def policy_loss(rewards, selections, baseline=0.0) -> tf.Tensor:
    """Computes -mean_batch sum_s (R_s - baseline) log pi(z_s).

    The gradient is minus the policy gradient of ReSAN Eq. 20. Every sentence s of an example has
    its own reward and selections.

    Args:
      rewards: R_s for every sentence, <float32>[batch]; no gradient flows through them.
      selections: the `Selections` for every sentence.
      baseline: subtracted from the rewards; it changes the variance of the gradient, not its mean.

    Returns:
      <float32>[].
    """
    terms = [
        tf.stop_gradient(reward - baseline) * selected.log_probability
        for reward, selected in zip(rewards, selections)
    ]
    return -tf.reduce_mean(tf.add_n(terms))
