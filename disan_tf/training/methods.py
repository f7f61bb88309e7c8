"""Which method of training a model needs."""

from disan_tf.training.back_propagation import BackPropagation
from disan_tf.training.policy_gradient import PolicyGradient, evaluation_steps
from disan_tf.training.steps import make_evaluation_step


def make_method(config, model) -> BackPropagation:
    """`PolicyGradient` for an encoder with samplers, `BackPropagation` for all others."""
    return (PolicyGradient if model.samplers else BackPropagation)(config, model)


def final_evaluation_step(config, model):
    """The evaluation step of a trained model, as `evaluate.selection` says."""
    if not model.samplers:
        return make_evaluation_step(model)
    return evaluation_steps(config, model)[config.evaluate.selection]
