"""A bundle -> two SavedModels: one for text and one for ids."""

import os
from pathlib import Path
from typing import Callable

import tensorflow as tf

from disan_tf.bundle import Bundle, load_bundle
from disan_tf.evaluation.predict import IDS
from disan_tf.files import scratch_folder, write_json
from disan_tf.ops import portable
from disan_tf.text import TextToIds

_TEXT = [tf.TensorSpec([None], tf.string, name="text")]


def export_saved_model(bundle_directory, output_dir) -> tuple[Path, Path]:
    """Exports a trained model; the answers equal those of the bundle, but for rounding.

    `saved_model/` takes raw text; its process needs `import tensorflow_text`, whose ops
    TensorFlow Serving has built in. An empty string is one unknown token. Signatures:

        serving_default: text <string>[batch] -> class <string>[batch],
            class_names <string>[batch, classes], probabilities <float32>[batch, classes]
        encode: text -> vectors <float32>[batch, dim]
        attend: text -> tokens <string>[batch, length], and the encoder's attention tensors,
            averaged over the features: <float32>[batch, head, dependent] or [batch, length];
            "" and 0 after a sentence's end

    `saved_model_ids/` takes ids <int32>[batch, length] (0 = padding, 1 = unknown, the k-th word
    of the vocabulary, from 0, is k + 2) and needs TensorFlow alone. It has serving_default and
    encode. `metadata.json` beside them names the classes, the config, the step.

    Args:
      bundle_directory: see `disan_tf.bundle`.
      output_dir: where the two directories go. Older exports are replaced when the new ones are
        whole.

    Returns:
      The paths of `saved_model/` and `saved_model_ids/`.

    Raises:
      UserError: the bundle is damaged or of a pair model, or `output_dir` cannot be written.
    """
    bundle = load_bundle(bundle_directory, attention_form="plain")  # no loop, no custom gradient
    bundle.require_single_sentences("export")
    output_dir, text_to_ids = Path(output_dir), bundle.text_to_ids()
    paths = output_dir / "saved_model", output_dir / "saved_model_ids"
    with scratch_folder(output_dir / "saved_model") as scratch:
        new = scratch / "text", scratch / "ids"
        _save(new[0], _text_functions(bundle, text_to_ids), _TEXT, text_to_ids)
        _save(new[1], _ids_functions(bundle), [IDS])
        for path, target in zip(new, paths):
            _replace(path, target, scratch / f"old_{path.name}")
    write_json(output_dir / "metadata.json", _metadata(bundle))
    return paths


def _save(folder: Path, functions: dict[str, Callable], inputs, text_to_ids=None) -> None:
    """Saves `functions` as signatures, with what they refer to: weights and vocabulary.

    The Keras model stays outside: as an attribute it would be traced and saved a second time,
    layer by layer, in Keras' own form.
    """
    with portable():  # the native operations are this machine's alone
        signatures = {
            name: tf.function(function, input_signature=inputs).get_concrete_function()
            for name, function in functions.items()
        }
    module = tf.Module()
    # Only what is read: the counters of dropout are not.
    module.weights = [each for traced in signatures.values() for each in traced.graph.variables]
    module.text_to_ids = text_to_ids
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    tf.saved_model.save(module, str(folder), signatures, options)


def _ids_functions(bundle: Bundle) -> dict[str, Callable]:
    """Functions of ids <int32>[batch, length], as `export_saved_model` describes them."""
    model, names = bundle.model, tf.constant(bundle.classes, tf.string)

    def classify(ids):
        probabilities = tf.nn.softmax(model(ids, training=False))
        return {
            "class": tf.gather(names, tf.argmax(probabilities, axis=-1)),
            "class_names": tf.tile(names[None], [tf.shape(ids)[0], 1]),
            "probabilities": probabilities,
        }

    def encode(ids):
        return {"vectors": tf.cast(model.encode(ids, training=False), tf.float32)}

    return {"serving_default": classify, "encode": encode}


def _text_functions(bundle: Bundle, text_to_ids: TextToIds) -> dict[str, Callable]:
    """Functions of text <string>[batch], as `export_saved_model` describes them."""
    classify, encode = _ids_functions(bundle).values()
    return {
        "serving_default": lambda text: classify(text_to_ids(text)),
        "encode": lambda text: encode(text_to_ids(text)),
        "attend": lambda text: _attend(bundle.model, text_to_ids, text),
    }


def _attend(model, text_to_ids, text):
    """Tokens and feature means of the attention tensors, 0 for heads and tokens that are padding.

    A mean over the features keeps the answer small: the tensors themselves have
    [batch, length, length, dim] numbers.
    """
    tokens = text_to_ids.tokens(text)
    ids = text_to_ids.from_tokens(tokens)
    answer = {"tokens": tokens.to_tensor("", shape=tf.shape(ids, tf.int64))}
    for name, tensor in model.attend(ids).items():
        mean = tf.reduce_mean(tensor, axis=-1)
        mask = ids != 0 if mean.shape.rank == 2 else (ids != 0)[:, :, None]
        answer[name] = tf.where(mask, mean, 0.0)
    return answer


def _replace(new: Path, target: Path, outdated: Path) -> None:
    """Two renames: a directory that holds something cannot be replaced by one."""
    if target.exists():
        os.replace(target, outdated)
    os.replace(new, target)


def _metadata(bundle: Bundle) -> dict:
    return {
        "config": bundle.config.name,
        "classes": bundle.classes,
        "vocabulary_size": len(bundle.vocabulary),
        "lowercase": bundle.info["tokenizer"]["lowercase"],
        "dtype": bundle.config.dtype,
        "step": bundle.info["scores"]["step"],
        "parameters": bundle.info["parameters"],
    }
