"""Chooses the training method that a model needs, and checks its options."""

import functools
from collections.abc import Iterator, Sequence

from disan_tf.common.errors import UserError
from disan_tf.models.factory import check_regularisation
from disan_tf.training.compilation import check_jit_compile, make_compiler
from disan_tf.training.distribution.cluster import check_distribution
from disan_tf.training.methods.back_propagation import BackPropagation
from disan_tf.training.methods.batch_statistics import check_batch_norm_batches
from disan_tf.training.methods.policy_gradient import PolicyGradient, evaluation_steps
from disan_tf.training.optimizers import check_options
from disan_tf.training.options import (
    check_batches,
    check_class_options,
    check_evaluation,
    check_steps,
)
from disan_tf.training.steps import make_evaluation_step


def training_sections(
    name: str, encoder: type, task: type, train, evaluate, policy, splits: Sequence[str]
) -> Iterator[tuple]:
    """Yields the arguments with which `check_section` checks the sections of a training.

    Args:
      name, encoder: name and class of the encoder; `PolicyGradient` trains hard attention.
      task: the class of the model.
      train, evaluate, policy: sections of the config; policy may be None, which is a UserError
      where
        it is needed, and must be None where it is of no use.
      splits: the names of the corpus' splits.
    """
    method = method_for(getattr(encoder, "samplers", ()))
    checks = method.checks(train.get("steps"))
    yield (
        "train",
        train,
        "a training",
        check_batches,
        check_steps,
        check_regularisation,
        check_batch_norm_batches,
        check_options,
        functools.partial(check_class_options, task=task, has_policy=method is PolicyGradient),
        check_jit_compile,
        check_distribution,
        *checks.get("train", ()),
    )
    evaluation = functools.partial(check_evaluation, known_splits=splits)
    yield "evaluate", evaluate, "an evaluation", evaluation, *checks.get("evaluate", ())
    if policy is None and "policy" in checks:
        raise UserError(
            f"--config.policy is missing: {name} chooses tokens, which policy gradient trains; "
            "take its values from configs/papers/resan.py."
        )
    if policy is not None and "policy" not in checks:
        raise UserError(f"--config.policy is not for {name}, which chooses no tokens; omit it.")
    if policy is not None:
        yield "policy", policy, "policy gradient", *checks["policy"]


def make_method(model, train, dtype: str, evaluate, policy=None) -> BackPropagation:
    """Makes the training method of a model, see `method_for` and `BackPropagation`."""
    return method_for(model.samplers)(model, train, dtype, evaluate, policy)


def method_for(samplers) -> type:
    """Returns `PolicyGradient` if there are samplers, else `BackPropagation`."""
    return PolicyGradient if samplers else BackPropagation


def final_evaluation_step(model, train, evaluate):
    """Returns the evaluation step of a trained model, according to `config.evaluate.selection`."""
    compiler = make_compiler(train, model)
    if not model.samplers:
        return make_evaluation_step(model, compiler=compiler, rows=evaluate.batch_size)
    return evaluation_steps(model, evaluate.samples, compiler)[evaluate.selection]
