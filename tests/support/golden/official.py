"""Golden files of the authors' TensorFlow-1 code."""

import json
import os
from pathlib import Path

import numpy as np
import tensorflow as tf

from disan_tf.training.optimizers import adadelta
from tests.support.golden.official_variables import our_path, weight_of

GOLDEN = Path(os.environ.get("DISAN_TF_GOLDEN", Path(__file__).parents[2] / "golden" / "official"))


def golden_json(name: str):
    """The content of `<name>.json` of the golden files."""
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def load(name: str) -> tuple[dict, dict]:
    """The arrays of a golden file, and its `meta`."""
    with np.load(GOLDEN / name, allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files if key != "meta"}
        return arrays, json.loads(str(file["meta"]))


def names(pattern: str) -> list:
    """The golden files that match; an empty directory is an error, not an empty test."""
    found = sorted(path.name for path in GOLDEN.glob(pattern))
    assert found, f"no {pattern} in {GOLDEN}"
    return found


def by_our_path(arrays: dict) -> dict:
    """The arrays of all `var/` by our path."""
    return {our_path(key[len("var/") :]): arrays[key] for key in arrays if key.startswith("var/")}


def half(arrays: dict, kind: str) -> dict:
    """One training, "sl" or "rl", of a file that holds two, named as in a file that holds one."""
    chosen = {}
    for key, array in arrays.items():
        prefix, _, rest = key.partition("/")
        chosen[f"{prefix.replace(f'_{kind}_', '_')}/{rest}"] = array
    losses = arrays[f"out/ada_{kind}_losses_sl_rl"][:, ("sl", "rl").index(kind)]
    return {**chosen, "out/ada_loss_before_each_step": losses}


def variables_of(model, arrays: dict, lacking=()) -> dict:
    """Official name -> our variable, for every `var/` of a golden file; none may be left over.

    `lacking` are our layers whose weights the file does not have.
    """
    official = [key[len("var/") :] for key in arrays if key.startswith("var/")]
    variables = {name: weight_of(model, name) for name in official}
    found = {id(variable) for variable in variables.values()}
    found |= {id(weight) for layer in lacking for weight in layer.trainable_weights}
    assert found == {id(weight) for weight in model.trainable_weights}
    return variables


def assign(model, arrays: dict, lacking=()) -> dict:
    """Copies every `var/` of a golden file into `model`; returns `variables_of`."""
    variables = variables_of(model, arrays, lacking)
    for name, variable in variables.items():
        variable.assign(arrays[f"var/{name}"])
    return variables


def assert_close(actual, expected, what=""):
    """|a - b| <= 2e-5 max(1, |b|), the project's bound for float32 parity."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{what}: {actual.shape} is not {expected.shape}"
    excess = np.abs(actual - expected) - 2e-5 * np.maximum(1.0, np.abs(expected))
    worst = np.max(excess, initial=-1.0)
    assert worst <= 0.0, f"{what}: off by {np.abs(actual - expected).max()}"


def check_gradients(sources: dict, arrays: dict, loss, prefix="gloss_var") -> None:
    """Compares the gradients of `loss()` by variables or tensors; 0 where it has nothing of one."""
    with tf.GradientTape() as tape:
        tape.watch(sources)
        value = loss()
    check_taped(tape, value, sources, arrays, prefix)


def check_taped(tape, value, sources: dict, arrays: dict, prefix: str) -> None:
    """Compares the gradients of a value that a tape has seen, see `check_gradients`."""
    gradients = tape.gradient(value, sources, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    for name, gradient in gradients.items():
        gradient = tf.convert_to_tensor(gradient)
        assert_close(gradient, arrays[f"{prefix}/{name}"], f"gradient of {name}")


def check_three_steps(variables: dict, arrays: dict, loss, learning_rate: float) -> None:
    """Compares three steps of Adadelta on `loss()`: variables, losses, the optimizer's slots."""
    optimizer = check_steps(variables, arrays, loss, learning_rate)
    for ours, theirs in (("accum_grad", "accum"), ("accum_var", "accum_update")):
        for name, variable in variables.items():
            slot = optimizer.get_slot(variable, ours)
            assert_close(slot, arrays[f"ada_slot_{theirs}/{name}"], f"{ours} of {name}")


def check_steps(variables: dict, arrays: dict, loss, learning_rate: float):
    """Compares variables and losses of three steps of Adadelta; returns the optimizer."""
    optimizer = adadelta(learning_rate)
    losses = []
    for step in (1, 2, 3):
        with tf.GradientTape() as tape:
            losses.append(loss())
        gradients = tape.gradient(losses[-1], list(variables.values()))
        optimizer.apply_gradients(zip(gradients, variables.values()))
        if step != 2:
            for name, variable in variables.items():
                assert_close(variable, arrays[f"ada_step{step}_var/{name}"], f"step {step}: {name}")
    losses.append(loss())
    assert_close(tf.stack(losses), arrays["out/ada_loss_before_each_step"], "losses")
    return optimizer
