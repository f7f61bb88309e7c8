"""Chooses the training method that a model needs."""

from disan_tf.training.compilation import make_compiler
from disan_tf.training.methods.back_propagation import BackPropagation
from disan_tf.training.methods.policy_gradient import PolicyGradient, evaluation_steps
from disan_tf.training.steps import make_evaluation_step


def make_method(config, model) -> BackPropagation:
    """Makes the training method of a model, see `method_for`."""
    return method_for(model.samplers)(config, model)


def method_for(samplers) -> type:
    """Returns `PolicyGradient` if there are samplers, else `BackPropagation`."""
    return PolicyGradient if samplers else BackPropagation


def final_evaluation_step(config, model):
    """Returns the evaluation step of a trained model, according to `evaluate.selection`."""
    if not model.samplers:
        return make_evaluation_step(model, compiler=make_compiler(config))
    return evaluation_steps(config, model, make_compiler(config))[config.evaluate.selection]
