"""Which method of learning a model needs."""

from disan_tf.training.back_propagation import BackPropagation
from disan_tf.training.policy_gradient import PolicyGradient, evaluation_steps
from disan_tf.training.steps import make_evaluation_step


def make_method(config, model) -> BackPropagation:
    """`PolicyGradient` for an encoder with samplers, `BackPropagation` for all others."""
    return method_of(model.encoder)(config, model)


def method_of(encoder) -> type:
    """The method that trains an encoder, which may be a class as well as a layer."""
    return PolicyGradient if encoder.samplers else BackPropagation


def final_evaluation_step(config, model):
    """The evaluation step of a trained model, as `evaluate.selection` says."""
    if not model.encoder.samplers:
        return make_evaluation_step(model)
    return evaluation_steps(config, model)[config.evaluate.selection]
