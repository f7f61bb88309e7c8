"""The config of a training as an object, whose sections are checked once, when they are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Optional

from ml_collections import ConfigDict

from disan_tf.common.checks import check_at_least, check_choice, suggestion
from disan_tf.common.errors import UserError
from disan_tf.common.options import DTYPES, flag, read_section
from disan_tf.layers.heads.batch_norm import BatchNormHead
from disan_tf.models.embeddings import EMBEDDINGS
from disan_tf.models.factory import HEADS, TASKS, encoder_class, read_model
from disan_tf.runs.bundle import NAME, Bundle
from disan_tf.training.compilation import obstacles
from disan_tf.training.methods import PolicyGradient, method_for
from disan_tf.training.methods.policy_gradient import PolicyOptions
from disan_tf.training.options import WITH_CURVES, EvaluationOptions, TrainingOptions


@dataclass(frozen=True)
class Data:
    """The section `config.data`, which the corpus reader has checked.

    Attributes:
      options: the section, from which `data_prep.prepare.prepare` makes the prepared corpus.
      fields, splits: the names of the sentences of an example, and of the splits.
    """

    options: ConfigDict
    fields: Sequence[str]
    splits: Sequence[str]


@dataclass(frozen=True)
class Config:
    """A config whose sections are objects, made by `from_dict`.

    `embedding`, `encoder` and `task` stay mappings; the classes that they name have checked them.

    Attributes:
      tree: the same config in the form of `config.json`.
      data: None if no corpus is prepared, as in the evaluation of a bundle.
      policy: None without hard attention.

    Raises:
      UserError: sections that contradict each other.
    """

    tree: ConfigDict
    data: Optional[Data]
    embedding: ConfigDict
    encoder: ConfigDict
    task: ConfigDict
    train: TrainingOptions
    evaluate: EvaluationOptions
    policy: Optional[PolicyOptions] = None

    def __post_init__(self):
        try:
            self._check_train()
        except ValueError as error:
            raise UserError(flag("train", str(error))) from None
        steps = self.train.schedule.steps
        if self.policy and steps and self.policy.pretrain_steps >= steps:  # 0 = not known yet
            raise UserError(
                f"{flag('policy', 'pretrain_steps')}={self.policy.pretrain_steps} must be below "
                f"--config.train.steps={steps}."
            )
        known, splits = self.data and self.data.splits, self.evaluate.splits
        unknown = [split for split in splits if known and split not in known]
        if unknown:
            others = [name for name in known if name not in WITH_CURVES]
            raise UserError(
                f"{flag('evaluate', 'splits')}={splits} must be of {', '.join(others)}"
                f"{suggestion(unknown[0], others)}"
            )
        if str(self.train.jit_compile) != "True":
            return
        parts = self.train, self.encoder, self.task.name, self.dtype
        for setting, reason, remedy in obstacles(*parts):
            raise UserError(
                f"--config.train.jit_compile=True does not go with --config.{setting}, {reason}; "
                f"{remedy}, or leave jit_compile at False."
            )

    @property
    def name(self) -> str:
        return self.tree.name

    @property
    def seed(self) -> int:
        return self.tree.seed

    @property
    def dtype(self) -> str:
        return self.tree.dtype

    def to_dict(self) -> dict:
        """Returns the config as nested dictionaries."""
        return self.tree.to_dict()

    def resolved(self, epoch_steps: int) -> "Config":
        """Returns the config with its epochs converted to steps."""
        schedule = self.train.schedule.resolved(epoch_steps)
        tree = self.tree.copy_and_resolve_references()
        with tree.unlocked():
            for name in ("steps", "evaluate_every", "checkpoint_every"):
                tree.train[name] = getattr(schedule, name)
        return replace(self, tree=tree, train=replace(self.train, schedule=schedule))

    def _check_train(self) -> None:
        """Raises ValueError about an option of `train` that another section contradicts."""
        train, embedding, head = self.train, self.embedding.name, self.task.head
        train.check_task(TASKS[self.task.name], self.policy is not None)
        if train.batch_norm_batches and not issubclass(HEADS[head], BatchNormHead):
            raise ValueError(
                f"batch_norm_batches={train.batch_norm_batches} is for batch normalisation, which "
                f"--config.task.head={head} does not have; leave it at 0."
            )
        # A config without data belongs to a bundle: models of older trainings can still be scored.
        if self.data and self.policy and train.batch_norm_batches:
            raise ValueError(
                f"batch_norm_batches={train.batch_norm_batches} is not supported with hard "
                "attention: the statistics would be computed with greedy selections, but dev is "
                "scored with --config.evaluate.selection; leave it at 0."
            )
        if train.distribution != "none" and not EMBEDDINGS[embedding].distributes:
            raise ValueError(
                f"distribution={train.distribution} cannot train with the embedding {embedding} "
                "yet; leave it out."
            )


def from_dict(tree: ConfigDict, read_data: Optional[Callable[[ConfigDict], Data]] = None) -> Config:
    """Checks all sections of a config and makes them objects.

    Args:
      tree: a config of `configs/`, of `config.json` or of a bundle.
      read_data: checks the section `data`; None = no corpus is prepared, and the model is
        built already, as in a bundle, so the sections of data and model are not checked.

    Raises:
      UserError: a wrong option or value; the message names the flag.
    """
    read_section("", tree, "a config", _Sections)
    data = read_data and read_data(tree.data)
    task, embedding, encoder = tree.task, tree.embedding, tree.encoder
    if data:
        kind = read_model(task, embedding, encoder, data.options, data.fields)
    else:
        kind = encoder_class(encoder.name)
    method = method_for(getattr(kind, "samplers", ()))
    (train,) = read_section("train", tree.train, "a training", method.train_options)
    (evaluate,) = read_section(
        "evaluate", tree.evaluate, "an evaluation", method.evaluation_options
    )
    policy = tree.get("policy")
    if policy is None and method is PolicyGradient:
        raise UserError(
            f"--config.policy is missing: {encoder.name} chooses tokens, which policy gradient "
            "trains; take its values from configs/papers/resan.py."
        )
    if policy is not None and method is not PolicyGradient:
        raise UserError(
            f"--config.policy is not for {encoder.name}, which chooses no tokens; omit it."
        )
    if policy is not None:
        (policy,) = read_section("policy", policy, "policy gradient", PolicyOptions)
    return Config(tree, data, embedding, encoder, task, train, evaluate, policy)


def of_bundle(bundle: Bundle) -> Config:
    """Returns the config with which a bundle's model was trained; errors name `model.json`."""
    try:
        return from_dict(bundle.config)
    except UserError as error:
        raise UserError(f"{bundle.directory / 'model.json'}: {error}") from None


@dataclass(frozen=True)
class _Sections:
    """The values and the sections of a config."""

    name: str
    seed: int
    dtype: str
    data: Mapping
    embedding: Mapping
    encoder: Mapping
    task: Mapping
    train: Mapping
    evaluate: Mapping
    policy: Optional[Mapping] = None

    def __post_init__(self):
        if not NAME.fullmatch(self.name):
            raise ValueError(f"name={self.name} may contain only ASCII letters, digits, - and _.")
        check_at_least("seed", self.seed, 0)
        check_choice("dtype", self.dtype, DTYPES)
