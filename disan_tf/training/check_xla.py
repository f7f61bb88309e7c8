"""Checks that XLA can compile the steps of a config."""

from disan_tf.common.errors import UserError
from disan_tf.training.distribution.cluster import distribution_of


def check_jit_compile(jit_compile: bool = False) -> None:
    """Checks `config.train.jit_compile`, any truth value; see `check_xla` for its conditions."""


def check_xla(config) -> None:
    """Raises UserError if `train.jit_compile` is set and XLA cannot compile the steps.

    XLA compiles a function for fixed shapes. Rows or batches that depend on the data would have a
    shape of their own in nearly every step.
    """
    if not config.train.get("jit_compile", False):
        return
    for setting, reason, remedy in _obstacles(config):
        raise UserError(
            f"--config.train.jit_compile=True does not go with --config.{setting}, {reason}; "
            f"{remedy}, or leave jit_compile at False."
        )


def _obstacles(config):
    """Yields the setting, the reason and the remedy for each obstacle to XLA."""
    if config.task.name == "language_model":
        reason = "whose softmax reads as many rows as a batch has words"
        yield "task.name=language_model", reason, "train a model of sentences"
    distribution = distribution_of(config)
    if distribution != "none":
        reason = "whose steps run on several devices"
        yield f"train.distribution={distribution}", reason, "set train.distribution to none"
    if config.train.batch_tokens:
        reason = "which gives nearly every batch a size of its own"
        yield f"train.batch_tokens={config.train.batch_tokens}", reason, "set it to 0"
    if config.encoder.get("unselected") == "drop":
        reason = "whose sentences become as short as the selection"
        yield "encoder.unselected=drop", reason, "set it to mean"
    if config.dtype == "mixed_float16":
        reason = "whose loss scale was not tried under XLA"
        yield "dtype=mixed_float16", reason, "set it to mixed_bfloat16"
    options = config.train.get("optimizer_options", {})
    if config.train.get("optimizer") == "adagrad" and options.get("start") == 0:
        reason = "which divides by 0 for rows outside the batch"
        yield "train.optimizer_options.start=0.0", reason, "set it above 0"
