"""Measures `fit` of DiSAN beside Keras' recurrent and attention layers.

    python -m tests.measurements.keras_fit [OUTPUT.json]

writes seconds of a step, of the clock and of all threads, for models that read vectors
<float32>[batch, length, 300]: medians over rounds, in which the models take turns. The models have
one to two million weights. keras-hub's block is measured where keras-hub is installed. The
output gets an entry for the Keras of DISAN_TF_KERAS, and keeps the entry of the other.
"""

import importlib.util
import json
import sys
import time
from pathlib import Path

import numpy as np
import tensorflow as tf

import disan_tf
from disan_tf.common.atomic import write_json
from disan_tf.common.keras_version import is_keras_3
from disan_tf.common.machine import describe_machine

DIM, CLASSES, STEPS, ROUNDS = 300, 3, 20, 7
SHAPES = [(64, 20), (64, 40), (16, 200)]  # batch, length
layers = tf.keras.layers


def attention_block(x):
    """A transformer's block: self-attention of six heads, a feed-forward layer, both normalised."""
    attended = layers.MultiHeadAttention(num_heads=6, key_dim=DIM // 6)(x, x)
    x = layers.LayerNormalization()(layers.Add()([x, attended]))
    hidden = layers.Dense(DIM)(layers.Dense(4 * DIM, "relu")(x))
    return mean(layers.LayerNormalization()(layers.Add()([x, hidden])))


def transformer_block(x):
    from keras_hub.layers import TransformerEncoder

    return mean(TransformerEncoder(4 * DIM, num_heads=6)(x))


def mean(x):
    return layers.GlobalAveragePooling1D()(x)


ENCODERS = {
    "DiSAN": lambda x: disan_tf.encoders.DiSAN(DIM)(x),
    "Bidirectional(LSTM)": lambda x: layers.Bidirectional(layers.LSTM(DIM))(x),
    "MultiHeadAttention": attention_block,
}
if is_keras_3() and importlib.util.find_spec("keras_hub"):
    ENCODERS["keras-hub's TransformerEncoder"] = transformer_block


def make(encode, length):
    """Makes a compiled classifier of sentences."""
    x = tf.keras.Input([length, DIM])
    model = tf.keras.Model(x, layers.Dense(CLASSES)(encode(x)))
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss)
    return model


def measure(models, batch, length):
    """Returns name -> medians of a step's seconds of the clock and of all threads."""
    draw = np.random.default_rng(1)
    x = draw.normal(size=[batch * STEPS, length, DIM]).astype(np.float32)
    y = draw.integers(0, CLASSES, len(x))
    seconds = {name: [] for name in models}
    for number in range(1 + ROUNDS):  # the first traces and compiles
        for name, model in models.items():
            start = time.perf_counter(), time.process_time()
            model.fit(x, y, batch, verbose=0)
            end = time.perf_counter(), time.process_time()
            if number:
                seconds[name].append([(b - a) / STEPS for a, b in zip(start, end)])
    return {name: np.median(times, axis=0).tolist() for name, times in seconds.items()}


def main(output=None):
    results = {}
    for batch, length in SHAPES:
        models = {name: make(encode, length) for name, encode in ENCODERS.items()}
        measured = measure(models, batch, length)
        results[f"{batch} x {length}"] = {
            name: {
                "parameters": model.count_params(),
                "seconds": round(measured[name][0], 5),
                "cpu_seconds": round(measured[name][1], 5),
            }
            for name, model in models.items()
        }
        print(json.dumps(results[f"{batch} x {length}"], indent=1), flush=True)
    if output:
        path, key = Path(output), f"keras {3 if is_keras_3() else 2}"
        recorded = json.loads(path.read_text()) if path.exists() else {}
        write_json(path, {**recorded, key: {"machine": describe_machine(), "steps": results}})


if __name__ == "__main__":
    main(*sys.argv[1:])
