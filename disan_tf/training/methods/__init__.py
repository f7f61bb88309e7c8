"""Chooses the training method that a model needs."""

from disan_tf.training.compilation import make_compiler
from disan_tf.training.methods.back_propagation import BackPropagation
from disan_tf.training.methods.policy_gradient import PolicyGradient, evaluation_steps
from disan_tf.training.steps import make_evaluation_step


def make_method(model, config) -> BackPropagation:
    """Makes the training method of a model by a `Config`, see `method_for`."""
    return method_for(model.samplers)(model, config)


def method_for(samplers) -> type[BackPropagation]:
    """Returns `PolicyGradient` if there are samplers, else `BackPropagation`."""
    return PolicyGradient if samplers else BackPropagation


def final_evaluation_step(model, config):
    """Returns the evaluation step of a trained model, according to `evaluate.selection`."""
    compiler, evaluate = make_compiler(config.train, model), config.evaluate
    if not model.samplers:
        return make_evaluation_step(model, compiler=compiler, rows=evaluate.batch_size)
    return evaluation_steps(model, evaluate.samples, compiler)[evaluate.selection]
