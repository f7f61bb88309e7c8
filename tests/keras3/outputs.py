"""Outputs and gradients of every layer with weights from a file, for a comparison of two Kerases.

    python -m tests.keras3.outputs FOLDER

writes, with the Keras of the process, random weights of every layer and its outputs.
"""

import inspect
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

import disan_tf  # before TensorFlow: it chooses the Keras
from disan_tf import encoders, layers
from disan_tf.models import SentencePairClassifier
from tests.layers.test_keras import DIM, OF_TOKENS
from tests.support.layers.weights import draw_weights

POLICIES = ("float32", "mixed_bfloat16")
SHARED = {"dropout": 0.25, "l2": 0.5, "seed": 3}
HEADS = {
    "ClassificationHead": lambda: layers.ClassificationHead(3, 4, highway=True),
    "DRCNHead": lambda: layers.DRCNHead(3, 4),
    "DSAHead": lambda: layers.DSAHead(3, 4),
}
PAIRS = {
    "DRCN": lambda **shared: encoders.DRCN(4, layers=3, bottleneck_units=3, **shared),
    "DiSAN": lambda **shared: encoders.DiSAN(4, **shared),
}
NAMES = [*OF_TOKENS, *HEADS, *(f"{name} pair" for name in PAIRS)]
CASES = [f"{name}/{policy}" for name in NAMES for policy in POLICIES]
RELEASED = [preset.name for preset in disan_tf.presets()]
SENTENCES = ["A warm, funny film.", "", "It is not dull at all, but it is long."]


class Holder(tf.keras.Model):
    """A model of one layer, whose weights a file can hold."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.supports_masking = True

    def build(self, input_shape=None):
        self.built = True

    def call(self, *inputs, training=None, **masks):
        return self.layer(*inputs, **masks, training=training)


def make(case: str):
    """Returns a model of random weights, and the arguments of its call."""
    name, policy = case.split("/")
    generator = np.random.default_rng(1)
    dtype = {"dtype": tf.keras.mixed_precision.Policy(policy)}
    if name.endswith(" pair"):
        options = {**SHARED, **dtype, "name": "encoder"}
        model = SentencePairClassifier(
            layers.WordEmbedding(9, 3, DIM, name="word_embedding", **dtype),
            PAIRS[name.split()[0]](**options),
            layers.ClassificationHead(3, 4, **{**options, "name": "head"}),
        )
        ids = [tf.constant(generator.integers(1, 14, [3, length]), tf.int32) for length in (5, 7)]
        return model, [tf.pad(each, [[0, 0], [0, 2]]) for each in ids], {}
    layer = {**OF_TOKENS, **HEADS}[name]()
    config = layer.get_config()
    shared = (
        SHARED if "l2" in config else {name: SHARED[name] for name in ("seed",) if name in config}
    )
    layer = type(layer).from_config({**config, **shared, **dtype, "name": "it"})
    x = tf.constant(generator.normal(size=[4, 5, DIM]), tf.float32)
    if name in HEADS:
        return Holder(layer), [x[:, 0]], {}
    masks = {"mask": tf.sequence_mask([5, 3, 1, 0], 5)} if "mask" in _arguments(layer) else {}
    return Holder(layer), [x], masks


def compute(model, inputs, masks) -> dict[str, np.ndarray]:
    """Computes outputs, losses and gradients by name, first in training, then without."""
    found = {}
    for training in (True, False):
        with tf.GradientTape() as tape:
            outputs = tf.nest.flatten(model(*inputs, **masks, training=training))
            floats = [tf.cast(each, tf.float32) for each in outputs]
            noise = [np.random.default_rng(7).normal(size=each.shape) for each in floats]
            products = [a * tf.cast(b, tf.float32) for a, b in zip(floats, noise)]
            total = tf.add_n([tf.reduce_sum(product) for product in products])
            losses = [tf.cast(loss, tf.float32) for loss in model.losses]
            total += tf.add_n([tf.zeros([]), *losses])
        weights = {weight_name(weight): weight for weight in model.trainable_weights}
        gradients = tape.gradient(total, list(weights.values()))
        kind = "training" if training else "inference"
        found.update({f"{kind} output {n}": each.numpy() for n, each in enumerate(floats)})
        found[f"{kind} losses"] = np.sort([loss.numpy() for loss in losses])
        for name, gradient in zip(weights, gradients):
            if gradient is not None:
                found[f"{kind} gradient of {name}"] = tf.convert_to_tensor(gradient).numpy()
    return found


def weight_name(weight) -> str:
    """Returns a weight's name after the names of its layers, the same for both Kerases."""
    path = getattr(weight, "path", weight.name).split(":")[0]
    for top in ("it/", "encoder/", "head/", "word_embedding"):
        if (place := f"/{path}".find(f"/{top}")) >= 0:
            return path[place:]
    return path


def loaded_outputs(name: str) -> np.ndarray:
    """Returns the logits of a released model."""
    model = disan_tf.load(name)
    texts = SENTENCES if len(model.fields) == 1 else list(zip(SENTENCES, reversed(SENTENCES)))
    return model.keras_model(model.preprocess(texts)).numpy()


def _arguments(layer):
    return inspect.signature(type(layer).call).parameters


def main(folder: Path) -> None:
    for number, case in enumerate(CASES):
        model, inputs, masks = make(case)
        model(*inputs, **masks)
        draw_weights(model.trainable_weights, seed=4, size=0.4)
        model.save_weights(folder / f"{number}.weights.h5")
        np.savez(folder / f"{number}.npz", **compute(model, inputs, masks))
    released = {name: loaded_outputs(name) for name in RELEASED}
    np.savez(folder / "released.npz", **released)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
