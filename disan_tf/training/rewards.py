"""What a selection of tokens earns, and the loss whose gradient is the policy gradient."""

import tensorflow as tf


def product_reward(losses, selections, penalty: float) -> tf.Tensor:
    """-(loss + penalty * dependent fraction * head fraction), the authors' code.

    This differs from ReSAN Eq. 17 in its form: the loss itself in place of the probability, and
    the product of the fractions in place of their sum.

    Args:
      losses: <float32>[batch], of the examples, without weight decay.
      selections: `disan_tf.layers.hard_attention.selections.Selections` of one of their sentences.
      penalty: lambda of Eq. 17.

    Returns:
      <float32>[batch].
    """
    return -(losses + penalty * selections.dependent_fraction * selections.head_fraction)


def probability_reward(losses, selections, penalty: float) -> tf.Tensor:
    """exp(-loss) - penalty * the mean of both fractions, ReSAN Eq. 17.

    exp(-loss) is p(y*), where the loss is a cross-entropy. The penalty has the sign that the text
    around Eq. 17 intends; as printed, selecting would be rewarded.

    Args and returns: as `product_reward`.
    """
    fraction = 0.5 * (selections.dependent_fraction + selections.head_fraction)
    return tf.exp(-losses) - penalty * fraction


REWARDS = {"product": product_reward, "probability": probability_reward}


def policy_loss(rewards, selections, baseline=0.0) -> tf.Tensor:
    """-mean over the batch of sum_s (R_s - baseline) log pi(z_s), <float32>[].

    Its gradient is minus the policy gradient of ReSAN Eq. 20, each sentence s of an example with
    its own reward and selections.

    Args:
      rewards: <float32>[batch] of each sentence; no gradient flows through them.
      selections: a `Selections` of each sentence.
      baseline: what is subtracted from the rewards; it changes the variance of the gradient, not
        its mean.
    """
    terms = [
        tf.stop_gradient(reward - baseline) * each.log_probability
        for reward, each in zip(rewards, selections)
    ]
    return -tf.reduce_mean(tf.add_n(terms))
