"""The authors' ReSAN models as models of ours, from their golden files."""

import functools
from typing import NamedTuple

import tensorflow as tf

from disan_tf.encoders import DiSAN, ReSAN
from disan_tf.models import RelatednessModel, SentencePairClassifier
from disan_tf.ops.native import runtime
from disan_tf.training.methods.policy_steps import REWARDS, policy_loss
from disan_tf.training.steps import added_losses
from tests.support.golden import official
from tests.support.golden.pairs import pair_ids, pair_model


class LogitScorer(RelatednessModel):
    """The authors' option `mse_logits`: the output is a score, 2 * sigmoid(logit) + 3."""

    def call(self, *args, **options):
        return 2.0 * tf.sigmoid(super().call(*args, **options)[:, 0]) + 3.0

    def predictions(self, outputs):
        return outputs

    def example_losses(self, outputs, labels):
        return 0.5 * tf.square(outputs - labels)


OURS = functools.partial(ReSAN, 7, "mean_of_others")
FAST = functools.partial(ReSAN, 7, "mean")
SQUARED_ERROR = functools.partial(RelatednessModel, loss="squared_error")
# file -> our encoder and our model; the base models have no samplers
BASES = {
    "snli_hw_resan_base_gs10.npz": (DiSAN, SentencePairClassifier),
    "sick_resan_base_mse_gs10.npz": (DiSAN, SQUARED_ERROR),
}
MODELS = {
    "snli_hw_resan_gs0.npz": (OURS, SentencePairClassifier),
    "snli_hw_resan_gs10.npz": (OURS, SentencePairClassifier),
    "snli_hw_resan_gs10_testmode.npz": (OURS, SentencePairClassifier),
    "snli_hw_resan_exp_gs0.npz": (FAST, SentencePairClassifier),
    "snli_hw_resan_exp_gs10.npz": (FAST, SentencePairClassifier),
    "sick_resan_mse_gs0.npz": (OURS, SQUARED_ERROR),
    "sick_resan_mse_gs10.npz": (OURS, SQUARED_ERROR),
    "sick_resan_kl_gs10.npz": (OURS, RelatednessModel),
    "sick_resan_mselogits_gs10.npz": (OURS, LogitScorer),
}
FILES = {**BASES, **MODELS}


class Golden(NamedTuple):
    """A golden file as our model."""

    model: tf.keras.Model
    variables: dict
    arrays: dict
    meta: dict

    @property
    def how(self):
        """The authors' first steps of training select all tokens."""
        first = self.meta["global_step"] <= self.meta["start_only_rl"]
        return "all" if first and self.meta["mode"] == "train" else "sample"

    def select(self):
        """For each sentence what the file's uniforms choose, or everything; None of base models."""
        if not self.model.encoder.samplers:
            return (None, None)
        return self.model.select(*pair_ids(self.arrays), how=self.how)

    def forward(self):
        """Outputs, losses of examples, and selections."""
        selections = self.select()
        outputs = self.model(*pair_ids(self.arrays), selections=selections)
        labels = tf.constant(self.arrays["in/gold_label"])
        return outputs, self.model.example_losses(outputs, labels), selections

    def rewards(self, losses, selections):
        """Of each sentence."""
        reward = functools.partial(REWARDS["product"], penalty=self.meta["rl_sparsity"])
        return [reward(losses, each) for each in selections]

    def objectives(self):
        """`loss_sl` and, where there are samplers, `loss_rl`, by "sl" and "rl"."""
        _, losses, selections = self.forward()
        soft, hard = added_losses(self.model)
        objectives = {"sl": tf.reduce_mean(losses) + soft}
        if self.model.encoder.samplers:
            rewards = self.rewards(losses, selections)
            if self.how == "all":
                selections = [_with_ones(each) for each in selections]
            objectives["rl"] = policy_loss(rewards, selections) + hard
        return objectives

    def variables_of(self, kind):
        """The variables that this loss trains."""
        return {name: self.variables[name] for name in self.meta[f"{kind}_vars"]}


def _with_ones(selections):
    """The authors' log-probability of all tokens: 1 for each place of heads and dependents."""
    batch, length = selections.heads[0].shape
    return selections._replace(log_probability=tf.fill([batch], 2.0 * length))


def golden_model(name) -> Golden:
    """The model of a file in this world, with the file's weights."""
    golden = _build(name, runtime.is_used())
    official.assign(golden.model, golden.arrays)
    return golden


@functools.cache
def _build(name, _):
    arrays, meta = official.load(name)
    make_encoder, make = FILES[name]
    activation = "relu" if name.startswith("sick") else "elu"
    make_encoder = functools.partial(make_encoder, activation=activation)
    model, variables = pair_model(arrays, meta, make_encoder, activation, make)
    use_uniforms(model, arrays)
    return Golden(model, variables, arrays, meta)


def use_uniforms(model, arrays):
    """Gives the model's samplers the random numbers of a golden file."""
    for sampler in model.encoder.samplers:
        kind = "dep" if "dependent" in sampler.name else "head"
        sampler.uniforms = functools.partial(_uniforms, arrays, kind)


def _uniforms(arrays, kind, shape):
    """The file's for the sentence of this shape: both sentences have other lengths."""
    both = [arrays[f"in/u_s{number}_{kind}"] for number in (1, 2)]
    (found,) = [each for each in both if each.shape == tuple(shape.numpy())]
    return tf.constant(found)
