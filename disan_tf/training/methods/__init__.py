"""Chooses the training method that a model needs."""

from disan_tf.training.methods.back_propagation import BackPropagation
from disan_tf.training.methods.policy_gradient import PolicyGradient


def make_method(model, config) -> BackPropagation:
    """Makes the training method of a model by a `Config`, see `method_for`."""
    return method_for(model.samplers)(model, config)


def method_for(samplers) -> type[BackPropagation]:
    """Returns `PolicyGradient` if there are samplers, else `BackPropagation`."""
    return PolicyGradient if samplers else BackPropagation
