"""Compares an exported model with `disan_tf.load(...).predict` on the development set."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.checks import count
from disan_tf.input_pipeline import Split, draw_examples, evaluation_batches, make_dataset
from disan_tf.runs.bundle import Bundle, load_bundle
from disan_tf.serving.inference.batches import BATCH_SIZE
from disan_tf.serving.inference.predict import make_prediction_step

COMPARED = "compared_with_predict"  # in `metadata.json`
MAX_EXAMPLES = 1000  # of the development set, the same in every export
Run = Callable[[Mapping[str, np.ndarray]], Mapping]  # inputs -> outputs, by name


def compare_with_predict(bundle: Bundle, run: Run, dev: Optional[Split]) -> dict:
    """Returns the entry of `metadata.json` on the difference between an export and `predict`.

    It has "split", "examples", "largest_difference" between probabilities, or between scores, and
    for classes "different_labels", the number of examples with another label.

    Args:
      bundle: the exported model.
      run: the written model, as its runtime runs it.
      dev: the development set, with the model's word ids; None gives {}.
    """
    if dev is None:
        return {}
    dev = dev.take(draw_examples(len(dev), MAX_EXAMPLES))
    model = load_bundle(bundle.directory).model  # as `load` loads it
    step, specs = make_prediction_step(model), model.signatures()["call"]
    is_score, largest, different = model.label_dtype.is_floating, 0.0, 0
    for batch in make_dataset(dev, evaluation_batches(dev.field_lengths, BATCH_SIZE)):
        inputs = [batch[name] for name in model.reads]
        probabilities, predictions, _ = (tensor.numpy() for tensor in step(*inputs))
        outputs = run({spec.name: tensor.numpy() for spec, tensor in zip(specs, inputs)})
        found = np.asarray(outputs["score" if is_score else "probabilities"])
        expected = predictions if is_score else probabilities
        largest = float(np.maximum(largest, np.abs(found - expected).max()))  # keeps NaN
        if not is_score:
            different += int(np.sum(found.argmax(axis=1) != predictions))
    compared = {"split": "dev", "examples": len(dev), "largest_difference": largest}
    return {COMPARED: {**compared, **({} if is_score else {"different_labels": different})}}


def describe_comparison(export: Path) -> str:
    """Returns a sentence about the comparison in an export's metadata; "" without metadata."""
    paths = [export / folder / "metadata.json" for folder in ("", "assets.extra")]
    found = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.is_file()]
    if not found:
        return ""
    if COMPARED not in found[0]:
        return (
            "not compared with predict: no prepared development set has the model's words and "
            "classes; name the folder of prepared corpora with --prepared_dir."
        )
    compared, labels = found[0][COMPARED], ""
    if "different_labels" in compared:
        labels = f", and {compared['different_labels']:,} labels differ"
    return (
        f"compared with predict on {count(compared['examples'], 'example')} of the development "
        f"set: outputs differ by up to {compared['largest_difference']:.2g}{labels}."
    )


def saved_model_runner(folder) -> Run:
    """Returns a function that runs the signature `serving_default` of a SavedModel."""
    signature = tf.saved_model.load(str(folder)).signatures["serving_default"]
    return lambda arrays: signature(**{name: tf.constant(x) for name, x in arrays.items()})
