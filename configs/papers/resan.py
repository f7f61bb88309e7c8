"""The experiments of the ReSAN paper: its ablations and baselines."""

from typing import Callable

from ml_collections import ConfigDict

from configs.common import glove_100d, settings, tiny
from configs.papers.disan import BASELINES, disan, shape


def resan(name: str, corpus: str, task: str) -> ConfigDict:
    """Returns the training setup of the ReSAN paper, section 4.

    Each experiment also sets the lengths of the phases; see `disan` for the other options.
    """
    config = disan(name, corpus, task)
    config.encoder = ConfigDict()
    config.encoder.name = "resan"
    config.encoder.units = 300  # Sec. 4
    config.encoder.activation = "relu"  # Sec. 4
    config.encoder.unselected = "mean"  # Sec. 3.2; or "mean_of_others", "drop"
    config.encoder.shared = False  # one sampler for heads and dependents
    config.encoder.sampling = "parallel"  # or "iterative", appendix A
    config.task.activation = "relu"  # Sec. 4
    config.task.highway = False
    config.train.batch_size = 128  # authors' code

    config.policy = ConfigDict()
    config.policy.pretrain_steps = 0  # maximum steps of pretraining, with all tokens selected
    config.policy.pretrain_patience = 0  # evaluations without a lower dev loss that end it; 0 = off
    config.policy.policy_steps = 0  # then steps that train only the samplers
    config.policy.schedule = "sim"  # then all at once; or "sep", in turns
    config.policy.period = 1000  # authors' code: steps of a turn
    config.policy.reward = "product"  # authors' code; or "probability", Eq. 17
    config.policy.penalty = 0.02  # lambda of Eq. 17; Sec. 4: 0.005, 0.01 or 0.02
    config.policy.learning_rate = 0.5  # authors' code
    config.policy.baseline = 0.0  # decay of a moving average of the rewards; 0 = none, Eq. 20

    config.evaluate.selection = "sample"  # authors' code; or "greedy", or "mean" of samples
    config.evaluate.samples = 10  # authors' code
    return config


def _without_hard_attention(config):
    """Changes ReSAN to DiSAN with ReSAN's head."""
    _without_policy(config)
    config.encoder = ConfigDict({"name": "disan", **shape(config)})


def _without_soft_attention(config):
    config.encoder = ConfigDict({"name": "selected_source2token", **shape(config)})


def _without_attention(config):
    """Removes all attention; the paper's 0.5 million parameters include no highway layer."""
    _without_hard_attention(config)
    config.task.highway = False
    BASELINES["source2token"](config)


def _without_policy(config):
    del config.policy, config.evaluate.selection, config.evaluate.samples


def _baseline(change: Callable[[ConfigDict], None]) -> Callable[[ConfigDict], None]:
    """Returns a variant for a baseline of ReSAN's Table 1: no hard attention or highway layer."""

    def variant(config):
        _without_hard_attention(config)
        config.task.highway = False
        change(config)

    return variant


def _bi_gru(config):
    config.encoder = ConfigDict({"name": "bi_gru", **shape(config)})


def _multi_window_cnn(config):
    """Sets Sec. 5's 200 feature maps for each window of 3, 4 and 5 words."""
    activation = config.encoder.activation
    config.encoder = ConfigDict(
        {"name": "multi_window_cnn", "windows": (3, 4, 5), "units": 200, "activation": activation}
    )


def _hierarchical_cnn(config):
    """Sets Sec. 5's three layers with kernels of length 5."""
    config.encoder = ConfigDict(
        {"name": "hierarchical_cnn", "layers": 3, "width": 5, **shape(config)}
    )


def tiny_resan(config: ConfigDict) -> None:
    """Changes a config as `tiny` does, with a few steps in every phase."""
    tiny(config)
    if "policy" in config:
        config.policy.pretrain_steps = 20
        config.policy.policy_steps = 10


# The ablations of Tables 2 and 4 and the baselines of Table 1 as variants of a ReSAN config.
RESAN_VARIANTS: dict[str, Callable[[ConfigDict], None]] = {
    "without_unselected": settings({"encoder.unselected": "drop"}),
    "without_dependency_restricted": settings(
        {"encoder.unselected": "drop", "encoder.shared": True}
    ),
    "without_hard_attention": _without_hard_attention,
    "without_soft_attention": _without_soft_attention,
    "without_attention": _without_attention,
    "iterative": settings({"encoder.sampling": "iterative"}),
    "paper_reward": settings({"policy.reward": "probability"}),
    "bi_lstm": _baseline(BASELINES["bi_lstm"]),
    "bi_gru": _baseline(_bi_gru),
    "multi_window_cnn": _baseline(_multi_window_cnn),
    "hierarchical_cnn": _baseline(_hierarchical_cnn),
    "multi_head": _baseline(BASELINES["multi_head"]),
    "disan": _baseline(settings({})),
    "glove_100d": glove_100d,
    "tiny": tiny_resan,
}
