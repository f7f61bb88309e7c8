"""Compares training steps of every kind of model on two devices, such as a CPU and a GPU.

    CUDA_VISIBLE_DEVICES= python -m tests.measurements.device_steps --write=cpu.npz
    NVIDIA_TF32_OVERRIDE=0 python -m tests.measurements.device_steps --read=cpu.npz \
      --output=differences.json

Each model has the width of its config. Both processes train it for three steps on the same batch of
a small corpus, then evaluate it. A difference is relative: of the losses and outputs to their
size, and of the weights to how far the steps moved them.
"""

import argparse
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from ml_collections import ConfigDict

from disan_tf.benchmark.timing import describe_machine
from disan_tf.common.files import write_json
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.training.compilation import pad_tokens
from disan_tf.training.experiment import Trainer
from tests.support.corpora.elmo import elmo_config, elmo_corpus
from tests.support.corpora.pairs import make_feature_corpus, make_pair_corpus, make_score_corpus
from tests.support.runs.training import corpus_of, load_config

STEPS = 3
DIM = 16  # of the word vectors
# config:variant, see docs/how_to/gpu.md
MODELS = (
    "disan_sst:",
    "disan_sst:additive",
    "disan_sst:source2token",
    "disan_sst:multi_head",
    "disan_sst:bi_lstm",
    "disan_sick:",
    "resan_snli:",
    "resan_snli:without_dependency_restricted",
    "resan_sick:without_soft_attention",
    "resan_sick:bi_gru",
    "resan_sick:multi_window_cnn",
    "resan_sick:hierarchical_cnn",
    "dsa_sst:",
    "dsa_sst:bi_lstm",
    "dsa_snli:",
    "drcn_snli:",
    "elmo_disan_sst:tiny",
)


class Found(NamedTuple):
    """What a model's steps have led to.

    Attributes:
      losses: <float32>[STEPS].
      outputs: of the evaluation step.
      moved: <float32>[weights], by how much each weight differs from its first value.
    """

    losses: np.ndarray
    outputs: np.ndarray
    moved: np.ndarray


def find(model: str, dtype: str, jit_compile: bool) -> Found:
    """Trains a model for a few steps on TensorFlow's preferred device."""
    name, _, variant = model.partition(":")
    config = load_config(name, variant) if name != "elmo_disan_sst" else elmo_config()
    config.dtype, config.train.batch_size = dtype, 8
    config.train.jit_compile = str(jit_compile)
    if "policy" in config:
        config.policy.update({"pretrain_steps": 0, "policy_steps": 0})
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(config, _corpus(config, Path(folder)), Path(folder) / "run")
        batch = next(iter(trainer.batches(0)))
        batch = pad_tokens([batch[part] for part in (*trainer.model.reads, "label")])
        before = _flat(trainer.model.trainable_weights)
        losses = [trainer.method.train(step, *batch)["loss"] for step in range(STEPS)]
        outputs, _ = trainer.method.evaluation_step(*batch)
        moved = _flat(trainer.model.trainable_weights) - before
    return Found(np.float32(losses), tf.cast(outputs, tf.float32).numpy(), moved)


def _corpus(config: ConfigDict, folder: Path) -> PreparedCorpus:
    name = config.data.corpus
    if config.embedding.get("elmo", False) or config.data.get("bilm"):
        return elmo_corpus(folder, config)
    config.data.vectors, config.data.embedding_dim = "", DIM
    if name == "sst":
        return corpus_of(config, folder)
    if name == "sick":
        return make_score_corpus(folder / "pairs", DIM)
    if config.data.get("word_features"):
        return make_feature_corpus(folder / "pairs", config.data.word_length, dim=DIM)
    return make_pair_corpus(folder / "pairs", DIM)


def _flat(weights: list) -> np.ndarray:
    return np.concatenate([np.float32(weight.numpy()).ravel() for weight in weights])


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """Returns the distance of two arrays, in lengths of the second."""
    return float(np.linalg.norm(one - other) / np.linalg.norm(other))


def main() -> None:
    """Writes what the steps lead to here, or compares it with what they led to elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--jit_compile", action="store_true")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    found = {}
    for model in options.models:
        try:
            found[model] = find(model, options.dtype, options.jit_compile)
        except tf.errors.OpError as error:
            print(f"{model} failed: {error}")
    if options.write:
        arrays = {
            f"{model} {field}": array
            for model, its in found.items()
            for field, array in its._asdict().items()
        }
        np.savez(options.write, **arrays)
        return
    with np.load(options.read) as before:
        report = {
            model: {
                field: difference(array, before[f"{model} {field}"])
                for field, array in its._asdict().items()
            }
            for model, its in found.items()
        }
    for model, fields in report.items():
        print(f"{model:45}", *(f"{field} {value:.1e}" for field, value in fields.items()))
    if options.output:
        write_json(options.output, {"machine": describe_machine(), "models": report})


if __name__ == "__main__":
    main()
