"""Calls of an exported model with inputs that nobody would send on purpose."""

import random
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401 (registers the tokenizer's operations)

WORDS = ["film", "good", "\0", "é" * 50, "x" * 5000, "😀", "\u2028", "(", "-LRB-<pad>", "\\", " "]
REFUSALS = (tf.errors.OpError, TypeError, ValueError)


def run_calls(folder: Path, seed: int, cases: int) -> list[str]:
    """What went wrong in `cases` calls, one line each.

    Args:
      folder: has `saved_model/1` and `saved_model_ids/1`.
      seed: of the cases.
      cases: their number.
    """
    models = [tf.saved_model.load(str(folder / f"saved_model{end}/1")) for end in ("", "_ids")]
    return [wrong for number in range(cases) if (wrong := _call(models, seed, number))]


def _call(models, seed: int, number: int) -> str:
    draw = random.Random(f"{seed} {number}")
    is_text = draw.random() < 0.5
    signatures = models[0 if is_text else 1].signatures
    name = draw.choice(sorted(signatures))
    try:
        (argument,) = signatures[name].structured_input_signature[1]
        value = _texts(draw) if is_text else _ids(draw)
        answers = signatures[name](**{argument: value})
    except REFUSALS:
        return ""
    except Exception as error:
        return f"call {number} of {name}: {type(error).__name__}: {str(error)[:300]}"
    for key, answer in answers.items():
        if answer.shape[0] != value.shape[0]:
            return f"call {number} of {name}: {key} has {answer.shape[0]} rows"
        if answer.dtype.is_floating and not np.isfinite(answer).all():
            return f"call {number} of {name}: {key} is not finite"
    sums = answers["probabilities"].numpy().sum(axis=1) if "probabilities" in answers else 1.0
    return "" if np.allclose(sums, 1.0, atol=1e-4) else f"call {number} of {name}: sums {sums}"


def _texts(draw: random.Random) -> tf.Tensor:
    rows = draw.choice((0, 1, 1, 2, 7))
    texts = [" ".join(draw.choices(WORDS, k=draw.choice((0, 1, 9, 300)))) for _ in range(rows)]
    choice = draw.randrange(8)
    if choice == 0:
        return tf.zeros([rows], draw.choice((tf.int32, tf.float32)))
    if choice == 1:
        return tf.constant([[text] for text in texts], tf.string, [rows, 1])
    if choice == 2:
        return tf.constant([draw.randbytes(60) for _ in texts], tf.string, [rows])
    return tf.constant(texts, tf.string, [rows])


def _ids(draw: random.Random) -> tf.Tensor:
    shape = [draw.choice((0, 1, 3)), draw.choice((0, 1, 5, 400))]
    highest = draw.choice((2, 60, 60, 10**6, 2**31 - 1))
    lowest = draw.choice((0, 0, -1, -(2**31)))
    ids = np.random.default_rng(draw.randrange(2**32)).integers(lowest, highest, shape)
    choice = draw.randrange(6)
    if choice == 0:
        return tf.constant(np.full(shape, np.nan), tf.float32)
    return tf.constant(ids, tf.int64 if choice == 1 else tf.int32)
