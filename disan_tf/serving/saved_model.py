"""A bundle -> two SavedModels: one for text and one for ids."""

import os
import shutil
from pathlib import Path
from typing import Optional

import tensorflow as tf

from disan_tf.files import scratch_folder, write_json
from disan_tf.ops import portable
from disan_tf.serving.predict import served_specs
from disan_tf.serving.records import SENTENCE, text_name
from disan_tf.text import TextToIds
from disan_tf.training.bundle import Bundle, load_bundle

METADATA = "assets.extra/metadata.json"  # in the folder that TensorFlow leaves to its users
_SIGNATURES = {"call": "serving_default", "encode": "encode"}  # method of a model -> its signature


def export_saved_model(bundle_directory, output_dir) -> tuple[Path, Path]:
    """Exports a trained model; what they predict equals what the bundle does, but for rounding.

    `saved_model/1/` takes raw text; its process needs `import tensorflow_text`, whose ops
    TensorFlow Serving has built in. An empty string is one unknown token. Signatures:

        serving_default: text <string>[batch] -> class <string>[batch],
            class_names <string>[batch, classes], probabilities <float32>[batch, classes]
        encode: text -> vectors <float32>[batch, dim]; not where the encoder never reads one
            sentence without the other (DRCN)
        attend: text -> tokens <string>[batch, length], and the encoder's attention tensors,
            averaged over the features: <float32>[batch, head, dependent] or [batch, length];
            "" and 0 after a sentence's end

    Models of pairs take `premise` and `hypothesis`, or `sentence_a` and `sentence_b`, in place of
    `text`, and their `attend` has these names before those of its tensors ("premise_tokens"); but
    `encode` takes `text`: one encoder serves both sentences. Models of relatedness answer score
    <float32>[batch], the expected point, and probabilities of the points.

    `saved_model_ids/1/` takes ids <int32>[batch, length] (0 = padding, 1 = unknown, the k-th word
    of the vocabulary, from 0, is k + 2), or for pairs `<field>_ids`, and what else the model reads
    of their words (of DRCN `<field>_characters` and `<field>_match`, which
    `disan_tf.text.TextToPairFeatures` makes of text; of ELMo-fed models `characters`, made by
    `disan_tf.text.TextToCharacters`), and needs TensorFlow alone. It has
    serving_default and encode. `assets.extra/metadata.json` of each names the task, its inputs in
    their order, the classes or the range of the score, the config, the step.

    Args:
      bundle_directory: see `disan_tf.training.bundle`.
      output_dir: where the two models go. 1 is the number of the version, as TensorFlow Serving
        reads it: an export takes the next one, in one renaming, and then removes the older.

    Returns:
      The paths of the versions in `saved_model/` and `saved_model_ids/`.

    Raises:
      UserError: the bundle is damaged, or `output_dir` cannot be written.
    """
    bundle = load_bundle(bundle_directory, attention_form="plain")  # no loop, no custom gradient
    output_dir, text_to_ids = Path(output_dir), bundle.text_to_ids()
    functions = {
        "saved_model": (_text_functions(bundle, text_to_ids), text_to_ids),
        "saved_model_ids": (_ids_functions(bundle), None),
    }
    paths = []
    for name, (signatures, look_up) in functions.items():
        with scratch_folder(output_dir / name) as scratch:
            _save(scratch / "new", signatures, look_up)
            write_json(scratch / "new" / METADATA, _metadata(bundle))
            paths.append(_add_version(scratch / "new", output_dir / name))
    return tuple(paths)


def newest_version(folder: Path) -> Optional[Path]:
    """The version of the largest number in a folder of exports, or None if it has none."""
    versions = [path for path in folder.glob("*") if path.name.isdecimal() and path.is_dir()]
    return max(versions, key=lambda path: int(path.name), default=None)


def _add_version(new: Path, folder: Path) -> Path:
    """Puts an export in its place as the newest version, and removes the older ones."""
    folder.mkdir(exist_ok=True)
    older = newest_version(folder)
    version = folder / str(int(older.name) + 1 if older else 1)
    os.replace(new, version)
    for path in folder.glob("*"):
        if path.name.isdecimal() and path != version:
            shutil.rmtree(path, ignore_errors=True)
    return version


def _save(folder: Path, functions: dict[str, tuple], text_to_ids=None) -> None:
    """Saves functions as signatures, with what they refer to: weights and vocabulary.

    The Keras model stays outside: as an attribute it would be traced and saved a second time,
    layer by layer, in Keras' own form.

    Args:
      functions: signature -> (function, its inputs).
    """
    with portable():  # the native operations are this machine's alone
        signatures = {
            name: tf.function(
                function, input_signature=inputs, autograph=False
            ).get_concrete_function()
            for name, (function, inputs) in functions.items()
        }
    module = tf.Module()
    # Only what is read: the counters of dropout are not.
    module.weights = [weight for traced in signatures.values() for weight in traced.graph.variables]
    module.text_to_ids = text_to_ids
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    tf.saved_model.save(module, str(folder), signatures, options)


def _ids_functions(bundle: Bundle) -> dict[str, tuple]:
    """Functions of ids <int32>[batch, length], as `export_saved_model` describes them."""
    model = bundle.model

    def encode(*inputs):
        return {"vectors": tf.cast(model.encode(*inputs, training=False), tf.float32)}

    def predict(*inputs):
        return _describe(model(*inputs, training=False), bundle)

    functions, offered = {"call": predict, "encode": encode}, model.signatures()
    return {
        _SIGNATURES[name]: (function, served_specs(offered[name]))
        for name, function in functions.items()
        if name in offered
    }


def _describe(outputs, bundle):
    """What `serving_default` gives for logits <float32>[batch, classes]."""
    predictions, probabilities = bundle.model.predictions(outputs), tf.nn.softmax(outputs)
    if bundle.model.label_dtype.is_floating:
        return {"score": predictions, "probabilities": probabilities}
    names = tf.constant(bundle.classes, tf.string)
    return {
        "class": tf.gather(names, predictions),
        "class_names": tf.tile(names[None], [tf.shape(outputs)[0], 1]),
        "probabilities": probabilities,
    }


def _text_functions(bundle: Bundle, text_to_ids: TextToIds) -> dict[str, tuple]:
    """Functions of text <string>[batch], as `export_saved_model` describes them."""
    of_ids, texts = _ids_functions(bundle), _text_specs(bundle.model.fields)
    predict, _ = of_ids["serving_default"]

    def predict_texts(*texts):
        return predict(*text_to_ids.inputs(*map(text_to_ids.tokens, texts)))

    functions = {
        "serving_default": (predict_texts, texts),
        "attend": (lambda *texts: _attend(bundle.model, text_to_ids, texts), texts),
    }
    if "encode" in of_ids:
        encode, _ = of_ids["encode"]
        functions["encode"] = (
            lambda text: encode(*text_to_ids.inputs(text_to_ids.tokens(text))),
            _text_specs(SENTENCE),
        )
    return functions


def _text_specs(fields):
    return [tf.TensorSpec([None], tf.string, name=text_name(field)) for field in fields]


def _attend(model, text_to_ids, texts):
    """Tokens of each sentence, and feature means of the attention tensors.

    The tensors are 0 for heads and tokens that are padding. A mean over the features keeps the
    result small: the tensors themselves have [batch, length, length, dim] numbers.
    """
    tokens = [text_to_ids.tokens(text) for text in texts]
    inputs = text_to_ids.inputs(*tokens)
    attended, result = model.attend(*inputs), {}
    for field, words, ids in zip(model.fields, tokens, inputs):
        prefix = "" if len(texts) == 1 else f"{field}_"
        result[f"{prefix}tokens"] = words.to_tensor("", shape=tf.shape(ids, tf.int64))
        for name, tensor in attended.items():
            if name.startswith(prefix):
                mean = tf.reduce_mean(tensor, axis=-1)
                mask = ids != 0 if mean.shape.rank == 2 else (ids != 0)[:, :, None]
                result[name] = tf.where(mask, mean, 0.0)
    return result


def _metadata(bundle: Bundle) -> dict:
    classes, about = bundle.classes, {}
    if bundle.model.label_dtype.is_floating:
        about["score_range"] = [float(classes[0]), float(classes[-1])]
    return {
        "config": bundle.config.name,
        "task": bundle.config.task.name,
        "inputs": [text_name(field) for field in bundle.model.fields],
        "classes": classes,
        **about,
        "vocabulary_size": len(bundle.vocabulary),
        "lowercase": bundle.info["tokenizer"]["lowercase"],
        "dtype": bundle.config.dtype,
        "step": bundle.info["scores"]["step"],
        "parameters": bundle.info["parameters"],
    }
