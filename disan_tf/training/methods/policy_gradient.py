"""Trains models with hard attention by REINFORCE and back-propagation, in phases."""

import contextlib
import functools
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from absl import logging

from disan_tf.common.checks import (
    check_above_zero,
    check_at_least,
    check_between,
    check_choice,
    check_rate,
)
from disan_tf.runs.run_summary import FRACTIONS
from disan_tf.training.compilation import Compiler, make_compiler
from disan_tf.training.methods.back_propagation import BackPropagation
from disan_tf.training.methods.policy_steps import (
    POLICY,
    REWARDS,
    SOFT,
    Baseline,
    make_policy_step,
    split_weights,
)
from disan_tf.training.optimizers import averaged_weights
from disan_tf.training.options import EvaluationOptions, TrainingOptions
from disan_tf.training.steps import make_evaluation_step

# phase -> selection of tokens, trained weights
PHASES = {
    "pretrain": ("all", (SOFT,)),
    "policy": ("sample", (POLICY,)),
    "both": ("sample", (SOFT, POLICY)),
    "soft": ("sample", (SOFT,)),
}
SCHEDULES = ("sim", "sep")
SELECTIONS = ("sample", "greedy", "mean")
_MOST_SAMPLES = 1000  # of evaluate.samples; the step's graph has a forward pass for each
_COLLAPSED = 0.01  # a selected fraction nearer than this to 0 or 1 gives a warning


@dataclass(frozen=True)
class PolicyOptions:
    """The section `config.policy`, see `PolicyGradient`.

    Args:
      reward: a key of `REWARDS`; `penalty` is the weight of the selected fraction in it.
      schedule: a member of `SCHEDULES`.
      pretrain_steps, pretrain_patience: the steps and evaluations that end "pretrain".
      policy_steps, period: the lengths of the phases after it, in steps.
      learning_rate: of theta_r.
      baseline: the decay of the average reward that is subtracted from rewards.

    Raises:
      ValueError: an impossible value.
    """

    reward: str
    schedule: str
    pretrain_steps: int
    pretrain_patience: int
    policy_steps: int
    period: int
    penalty: float
    learning_rate: float
    baseline: float

    def __post_init__(self):
        check_choice("reward", self.reward, REWARDS)
        check_choice("schedule", self.schedule, SCHEDULES)
        check_at_least("pretrain_steps", self.pretrain_steps, 0)
        check_at_least("pretrain_patience", self.pretrain_patience, 0)
        check_at_least("policy_steps", self.policy_steps, 0)
        check_at_least("period", self.period, 1)
        check_at_least("penalty", self.penalty, 0)
        check_above_zero("learning_rate", self.learning_rate)
        check_rate("baseline", self.baseline)


@dataclass(frozen=True)
class SamplingOptions(EvaluationOptions):
    """The section `config.evaluate` for hard attention.

    `selection` is a member of `SELECTIONS`; "mean" averages over `samples` samples.
    """

    selection: str
    samples: int

    def __post_init__(self):
        super().__post_init__()
        check_choice("selection", self.selection, SELECTIONS)
        check_between("samples", self.samples, 1, _MOST_SAMPLES)


class PolicyGradient(BackPropagation):
    """ReSAN section 4: theta_s by back-propagation, the samplers' theta_r by REINFORCE.

    First all tokens are selected and theta_s is trained ("pretrain"), until the dev loss has not
    fallen for `policy.pretrain_patience` evaluations, or for `policy.pretrain_steps` steps. Then
    theta_r alone is trained for `policy.policy_steps` steps ("policy"). Then both are trained: at
    once ("both", schedule "sim"), or in turns of `policy.period` steps ("policy" and "soft",
    schedule "sep"). theta_s and theta_r have separate optimizers. Scores on dev choose a model only
    after "pretrain": until then, the samplers are untrained.

    Args and attributes: see `BackPropagation`. `evaluate.selection` is "sample", "greedy" or "mean"
    (over `evaluate.samples` samples).
    """

    train_options = TrainingOptions
    evaluation_options = SamplingOptions

    def __init__(self, model, config):
        train, policy, evaluate = config.train, config.policy, config.evaluate
        self._model, self._policy, self._plateau = model, policy, None
        soft, hard = split_weights(model)
        build = functools.partial(train.optimizer.build, train.averaging, config.dtype)
        self._optimizers = {SOFT: build(soft), POLICY: build(hard, policy.learning_rate)}
        self._weights = {SOFT: soft, POLICY: hard}
        self.baseline = Baseline(policy.baseline)
        reward = functools.partial(REWARDS[policy.reward], penalty=policy.penalty)
        self.compiler = make_compiler(train, model)
        self.steps, common = {}, (reward, self.baseline, train.optimizer.clip_norm, self.compiler)
        for phase, (how, trained) in PHASES.items():
            optimizers = {kind: self._optimizers[kind] for kind in trained}
            self.steps[phase] = make_policy_step(model, optimizers, how, *common)
        self._evaluations = evaluation_steps(model, evaluate.samples, self.compiler)
        self._selection = evaluate.selection
        self._evaluate_every = train.schedule.evaluate_every
        self.pretrained = tf.Variable(-1, dtype=tf.int64, trainable=False)  # the step; -1 = not yet
        self._lowest = tf.Variable(np.inf, dtype=tf.float64, trainable=False)  # dev loss
        self._lowest_step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._alarmed = set()
        self.saved = {
            "optimizer": self._optimizers[SOFT],
            "policy_optimizer": self._optimizers[POLICY],
            "baseline": self.baseline.sums,
            "pretrained": self.pretrained,
            "lowest_loss": self._lowest,
            "lowest_loss_step": self._lowest_step,
        }

    def phase(self, step: int) -> str:
        """Returns the phase, a key of `PHASES`, after `step` steps."""
        if not self.may_choose:
            return "pretrain"
        since = step - int(self.pretrained.numpy()) - self._policy.policy_steps
        if since < 0:
            return "policy"
        if self._policy.schedule == "sim":
            return "both"
        return ("soft", "policy")[since // self._policy.period % 2]

    def train(self, step, *batch):
        if not self.may_choose and step >= self._policy.pretrain_steps:
            self.pretrained.assign(step)
        phase = self.phase(step)
        measured = {name: float(value) for name, value in self.steps[phase](*batch).items()}
        return {**measured, "phase": list(PHASES).index(phase)}

    def extra_metrics(self, means):
        """Returns the phase's name, and the names of collapsed fractions, if any."""
        phase = list(PHASES)[int(means["phase"])]  # a line holds one phase
        collapsed = [
            name
            for name in FRACTIONS
            if phase != "pretrain" and not _COLLAPSED <= means[name] <= 1.0 - _COLLAPSED
        ]
        for name in set(collapsed) - self._alarmed:
            logging.warning(
                "The %s is %.3f: the choice has collapsed; try another seed, or another "
                "policy.penalty than %g.",
                name.replace("_", " "),
                means[name],
                self._policy.penalty,
            )
        self._alarmed = set(collapsed)
        return {"phase": phase, **({"collapsed": collapsed} if collapsed else {})}

    @property
    def evaluation_step(self):
        return self._evaluations[self._selection if self.may_choose else "all"]

    @property
    def extra_evaluations(self):
        if not self.may_choose:
            return {}
        names = {"sample", "greedy"} - {self._selection}
        return {name: self._evaluations[name] for name in sorted(names)}

    @property
    def may_choose(self):
        return self.pretrained.numpy() >= 0

    def evaluated(self, step, scores):
        if self.may_choose:
            return
        if scores["loss"] < self._lowest.numpy():
            self._lowest.assign(scores["loss"])
            self._lowest_step.assign(step)
        patience = self._policy.pretrain_patience * self._evaluate_every
        if patience and step - int(self._lowest_step.numpy()) >= patience:
            self.pretrained.assign(step)

    @contextlib.contextmanager
    def averaged_weights(self):
        with contextlib.ExitStack() as stack:
            for kind, optimizer in self._optimizers.items():
                stack.enter_context(averaged_weights(optimizer, self._weights[kind]))
            yield


def evaluation_steps(model, samples: int, compiler: Compiler) -> dict:
    """Returns the evaluation steps of a model with hard attention, by "all" or `SELECTIONS`."""
    return {
        "all": make_evaluation_step(model, "all", compiler=compiler),
        "sample": make_evaluation_step(model, "sample", compiler=compiler),
        "greedy": make_evaluation_step(model, "greedy", compiler=compiler),
        "mean": make_evaluation_step(model, "sample", samples, compiler),
    }
