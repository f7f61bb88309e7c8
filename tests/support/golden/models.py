"""The authors' models as models of ours, from their golden files."""

import contextlib
import functools
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from disan_tf.encoders import ENCODERS, DiSAN, ReSAN
from disan_tf.layers import Dropout, WordEmbedding
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.models import RelatednessModel, SentenceClassifier, SentencePairClassifier
from disan_tf.ops import portable
from disan_tf.ops.native import runtime
from disan_tf.training.methods.policy_steps import REWARDS, policy_loss
from disan_tf.training.steps import added_losses
from tests.support.golden import official


class LogitScorer(RelatednessModel):
    """The authors' option `mse_logits`: the output is a score, 2 * sigmoid(logit) + 3."""

    def call(self, *args, **options):
        return 2.0 * tf.sigmoid(super().call(*args, **options)[:, 0]) + 3.0

    def predictions(self, outputs):
        return outputs

    def example_losses(self, outputs, labels):
        return 0.5 * tf.square(outputs - labels)


def _resan(unselected, **options):
    return ReSAN(7, unselected, **options)


OURS, FAST = (functools.partial(_resan, kind) for kind in ("mean_of_others", "mean"))
SQUARED_ERROR = functools.partial(RelatednessModel, loss="squared_error")
RELU = {"activation": "relu"}
DISAN = {  # our attention -> the official name
    "forward_attention": "fw_attn",
    "forward_gate": "fw_attn_gate",
    "source2token": "attn",
    "backward_attention": "bw_attn",
    "backward_gate": "bw_attn_gate",
}
DIAGONAL = {
    "first_attention": "1_attn",
    "first_gate": "1_attn_gate",
    "source2token": "attn",
    "second_attention": "2_attn",
    "second_gate": "2_attn_gate",
}


class Network(NamedTuple):
    """What a golden file's network is: encoder, its options, the head's activation, the model."""

    encoder: type
    options: dict = {}
    activation: str = "elu"
    model: type = SentencePairClassifier
    attention: dict = {}


NETWORKS = {
    "snli_disan.npz": Network(DiSAN, attention=DISAN),
    "snli_exp_emb_dir_mul_attn.npz": Network(DiSAN, attention=DISAN),  # the same, renamed
    "snli_exp_emb_attn.npz": Network(ENCODERS["additive"], attention={"attention": "attn"}),
    "snli_exp_emb_mul_attn.npz": Network(
        ENCODERS["source2token"], attention={"source2token": "attn"}
    ),
    "snli_exp_bi_lstm_mul_attn.npz": Network(
        ENCODERS["bi_lstm"], {"units": 7, **RELU}, "relu", attention={"source2token": "attn"}
    ),
    "snli_exp_emb_self_mul_attn.npz": Network(
        DiSAN, {"directions": ("diagonal", "diagonal")}, attention=DIAGONAL
    ),
    "sst_disan.npz": Network(DiSAN, RELU, "relu", SentenceClassifier, DISAN),
    "sst_exp_emb_dir_mul_attn.npz": Network(DiSAN, RELU, "relu", SentenceClassifier, DISAN),
    "bib_sick_disa_kl.npz": Network(DiSAN, RELU, "relu", RelatednessModel),
}
BASES = {  # they have no samplers
    "snli_hw_resan_base_gs10.npz": Network(DiSAN, attention=DISAN),
    "sick_resan_base_mse_gs10.npz": Network(DiSAN, RELU, "relu", SQUARED_ERROR, DISAN),
}
SELECTING = {
    "snli_hw_resan_gs0.npz": Network(OURS),
    "snli_hw_resan_gs10.npz": Network(OURS),
    "snli_hw_resan_gs10_testmode.npz": Network(OURS),
    "snli_hw_resan_exp_gs0.npz": Network(FAST),
    "snli_hw_resan_exp_gs10.npz": Network(FAST),
    "sick_resan_mse_gs0.npz": Network(OURS, RELU, "relu", SQUARED_ERROR),
    "sick_resan_mse_gs10.npz": Network(OURS, RELU, "relu", SQUARED_ERROR),
    "sick_resan_kl_gs10.npz": Network(OURS, RELU, "relu", RelatednessModel),
    "sick_resan_mselogits_gs10.npz": Network(OURS, RELU, "relu", LogitScorer),
}


class Golden(NamedTuple):
    """A golden file as our model, its variables by official name, the file's arrays and meta."""

    model: tf.keras.Model
    variables: dict
    arrays: dict
    meta: dict

    @property
    def ids(self) -> list:
        """The ids of the sentence, or of both."""
        return ids_of(self.arrays)

    @property
    def labels(self) -> tf.Tensor:
        return tf.constant(self.arrays["in/gold_label" if len(self.ids) > 1 else "in/label"])

    def loss(self) -> tf.Tensor:
        """The loss plus weight decay, without dropout."""
        outputs = self.model(*self.ids, training=False)
        return self.model.batch_loss(outputs, self.labels) + tf.add_n(self.model.losses)

    def check_attention(self, theirs: dict) -> None:
        """Compares attention on real tokens; `theirs` has the official name of each tensor."""
        attended = self.model.attend(*self.ids)
        for number, (field, ids) in enumerate(zip(self.model.fields, self.ids), start=1):
            real = ids.numpy() != 0
            for our, their in theirs.items():
                # One of SST's networks carries a leading underscore in its tensors' names.
                names = [f"t/s{number}_{their}", f"t/_{their}", f"t/{their}"]
                expected = next(self.arrays[name] for name in names if name in self.arrays)[real]
                name = our if len(self.ids) == 1 else f"{field}_{our}"
                found = attended.pop(name).numpy()[real]
                official.assert_close(found.reshape(expected.shape), expected, our)
        assert not attended

    def check_dropout_sites(self, more: int = 0) -> None:
        """Compares how many masks a training pass draws, and at what rate."""
        sites = [part for part in self.model.submodules if isinstance(part, Dropout)]
        before = sum(int(site.calls) for site in sites)
        self.model(*self.ids, training=True, **self.selected("sample", training=True))
        drawn = sum(int(site.calls) for site in sites) - before
        assert drawn == len(self.meta["dropout_sites"]) + more
        assert {round(1 - site.rate, 6) for site in sites} == {self.meta["keep_prob"]}

    # Hard attention

    @property
    def how(self) -> str:
        """The authors' first steps of training select all tokens."""
        first = self.meta["global_step"] <= self.meta["start_only_rl"]
        return "all" if first and self.meta["mode"] == "train" else "sample"

    def selected(self, how: str = "", **options) -> dict:
        """The model's option with what the file's uniforms choose, or everything."""
        if not getattr(self.model, "samplers", ()):
            return {}
        return {"selections": self.model.select(*self.ids, how=how or self.how, **options)}

    def forward(self):
        """Outputs, losses of examples, and selections."""
        selected = self.selected()
        outputs = self.model(*self.ids, **selected)
        return outputs, self.model.example_losses(outputs, self.labels), selected.get("selections")

    def rewards(self, losses, selections) -> list:
        """Of each sentence."""
        reward = functools.partial(REWARDS["product"], penalty=self.meta["rl_sparsity"])
        return [reward(losses, each) for each in selections]

    def objectives(self) -> dict:
        """`loss_sl` and, where there are samplers, `loss_rl`, by "sl" and "rl"."""
        return self.objectives_of(*self.forward()[1:])

    def objectives_of(self, losses, selections) -> dict:
        """`objectives` of a pass that was made."""
        soft, hard = added_losses(self.model)
        objectives = {"sl": tf.reduce_mean(losses) + soft}
        if selections:
            rewards = self.rewards(losses, selections)
            if self.how == "all":
                selections = [_with_ones(each) for each in selections]
            objectives["rl"] = policy_loss(rewards, selections) + hard
        return objectives

    def variables_of(self, kind: str) -> dict:
        """The variables that this loss trains."""
        return {name: self.variables[name] for name in self.meta[f"{kind}_vars"]}


def _with_ones(selections):
    """The authors' log-probability of all tokens: 1 for each place of heads and dependents."""
    batch, length = selections.heads[0].shape
    return selections._replace(log_probability=tf.fill([batch], 2.0 * length))


def ids_of(arrays: dict) -> list:
    names = ("token",) if "in/token" in arrays else ("sent1_token", "sent2_token")
    return [tf.constant(arrays[f"in/{name}"]) for name in names]


@functools.cache
def _build(name: str, is_native: bool) -> Golden:
    arrays, meta = official.load(name)
    arrays = _join_hidden_maps(arrays)
    network = {**NETWORKS, **BASES, **SELECTING}[name]
    shared = {"l2": meta["wd"], "dropout": 1 - meta["keep_prob"]}
    weights = official.by_our_path(arrays)
    trained, fixed = weights["embedding.trained"], arrays["in/glove_fixed_mat"]
    hidden, classes = weights["head.logits.dense.kernel"].shape
    parts = {
        "highway": "head.highway.gate.dense.bias" in weights,
        "logit_bias": "head.logits.dense.bias" in weights,
    }
    model = network.model(
        WordEmbedding(len(trained), len(fixed), trained.shape[1]),
        network.encoder(**network.options, **shared),
        ClassificationHead(classes, hidden, network.activation, **parts, **shared),
    )
    model(*ids_of(arrays))
    model.embedding.set_vectors(np.concatenate([trained, fixed]))
    if name in SELECTING:
        use_uniforms(model, arrays)
    return Golden(model, official.variables_of(model, arrays), arrays, meta)


def golden_model(name: str) -> Golden:
    """The model of a file for native or portable operations, with the file's weights."""
    golden = _build(name, runtime.is_used())
    official.assign(golden.model, golden.arrays)
    return golden


def _join_hidden_maps(arrays: dict) -> dict:
    """W_x (a * b) + W_+ |a - b| of Tai et al. is one matrix and [a * b; |a - b|]."""
    joined = dict(arrays)
    for key in arrays:
        if key.endswith("/output/linear_h1/W"):
            second = joined.pop(key.replace("linear_h1", "linear_h2"))
            ours = key.replace("linear_h1/W", "pre_output/W")
            joined[ours] = np.concatenate([joined.pop(key), second])
        elif key.endswith("/output/linear_h2/bias"):
            joined[key.replace("linear_h2", "pre_output")] = joined.pop(key)
    return joined


def use_uniforms(model, arrays: dict) -> None:
    """Gives the model's samplers the random numbers of a golden file."""
    for sampler in model.encoder.samplers:
        kind = "dep" if "dependent" in sampler.name else "head"
        sampler.uniforms = functools.partial(_uniforms, arrays, kind)


def _uniforms(arrays, kind, shape):
    """The file's for the sentence of this shape: both sentences have other lengths."""
    both = [arrays[f"in/u_s{number}_{kind}"] for number in (1, 2)]
    (found,) = [each for each in both if each.shape == tuple(shape.numpy())]
    return tf.constant(found)


def golden_in_world(case: str):
    """Yields the golden model "<name>" natively, where that is possible, or "portable <name>"."""
    *world, name = case.split()
    with portable() if world else contextlib.nullcontext():
        yield golden_model(name)
