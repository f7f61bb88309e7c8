"""A classifier's files: presets, SavedModels and `.keras` files."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, Union

import tensorflow as tf

from disan_tf.common.atomic import replace_folder, scratch_folder, write_atomically, write_json
from disan_tf.common.errors import UserError
from disan_tf.encoders.base import PairEncoder, SentenceEncoder
from disan_tf.layers.keras_layer import sublayers
from disan_tf.models.classification import SentenceClassifier
from disan_tf.models.factory import TASKS, count_parameters
from disan_tf.models.pairs import SentencePairClassifier
from disan_tf.ops import portable
from disan_tf.runs.bundle import Bundle, read_info, write_bundle
from disan_tf.serving.export.saved_model import METADATA
from disan_tf.serving.inference.model import load_reader
from disan_tf.serving.presets import describe_task
from disan_tf.text.lookup import VOCABULARY

_CARD = "README.md"
_GRAPH = "saved_model.pb"
_BESIDE_GRAPH = "assets", "assets.extra", "fingerprint.pb", "keras_metadata.pb", "variables"


def read_preset(
    preset: Union[str, Path], names: Sequence[str], pairs: bool, dtype: Any, load_weights: bool
) -> tuple[Bundle, SentenceClassifier, dict]:
    """Returns a preset's bundle, its model for the classes `names`, and the model's config.

    Without names the model has the preset's own classes and head; see `TextClassifier.from_preset`.
    """
    bundle = load_reader(preset, dtype, load_weights, multi_label=True)
    model, config = bundle.model, bundle.config.to_dict()
    if config["embedding"]["name"] != "words":
        raise ValueError(f"{preset} reads more than word ids; choose another preset.")
    if not names:
        if model.criterion != "accuracy":
            raise ValueError(f"{preset} predicts scores; name the new classes with classes=.")
        return bundle, model, config
    if not isinstance(model.encoder, PairEncoder if pairs else SentenceEncoder):
        raise ValueError(f"the encoder of {preset} reads only pairs; set pairs=True.")
    options: Sequence[str] = TASKS[config["task"]["name"]].options  # type: ignore[attr-defined]
    kept = {name: value for name, value in config["task"].items() if name not in options}
    kept["name"], task = "classification", SentenceClassifier
    if pairs:
        kept["name"], task = "nli", SentencePairClassifier
    head = type(model.head).from_config({**model.head.get_config(), "classes": len(names)})
    new = task(model.embedding, model.encoder, head, name=model.name)
    new(*new.zeros())
    return bundle, new, {**config, "task": kept}


def write_preset(
    folder: Path, model: SentenceClassifier, config: dict, words: Sequence[str], about: dict
) -> None:
    """Writes a classifier as a folder that `disan_tf.load` and `from_preset` read, with its card.

    An older preset in the folder is replaced. `about` has "classes", "tokenizer" and "scores", and
    "multi_label" if that is true.
    ValueError: a file that is not part of a preset would be overwritten, or the folder is a work
    directory, whose best model would be loaded instead.
    """
    if (folder / "best" / "model.json").is_file():
        raise ValueError(
            f"{folder} is a work directory, whose best model would be loaded instead of the "
            "preset; choose another folder."
        )
    content = "".join(f"{word}\n" for word in words).encode()
    found = [folder / name for name in ("model.json", _CARD) if (folder / name).exists()]
    vocabulary = folder / VOCABULARY
    if vocabulary.is_file() and vocabulary.read_bytes() != content:  # a killed save leaves it
        found.append(vocabulary)
    try:
        if found:
            read_info(folder)
    except UserError:
        raise ValueError(
            f"{found[0]} is not part of a preset and would be overwritten; choose another folder, "
            "or delete the file."
        ) from None
    table = model.embedding
    info = {
        "config": config,
        "name": config["name"],
        "words": [table.trainable_words, table.fixed_words],
        "parameters": _count_with_frozen(model),
        "bilm": None,
        **about,
    }
    write_bundle(folder, model, info, {VOCABULARY: content})
    write_atomically(folder / _CARD, _model_card(folder.resolve().name, model, info))


def _count_with_frozen(model: SentenceClassifier) -> int:
    """Returns `count_parameters` of the model as if none of its layers were frozen."""
    layers = sublayers(model)  # a layer precedes its sublayers
    flags = [layer.trainable for layer in layers]
    for layer in layers:  # one by one: Keras 3 ignores a flag that the model has already
        layer.trainable = True
    parameters = count_parameters(model)
    for layer, flag in zip(layers, flags):
        layer.trainable = flag
    return parameters


_HOW_TO_LOAD = """    model = disan_tf.load("{name}")  # predicts labels, vectors and attention
"""


def _model_card(name: str, model: SentenceClassifier, info: dict) -> str:
    """Returns the model card of a fine-tuned classifier."""
    return f"""# {name}

A `disan_tf.TextClassifier` that was fine-tuned from the preset {info["config"]["name"]}.

| | |
|---|---|
| task | {describe_task(model, info["classes"])} |
| trained on | name the data and their licence here |
| score | name the test set and the score here |
| parameters | {info["parameters"]:,}, and {sum(info["words"]):,} word vectors |
| training steps | {info["scores"]["step"]:,} |

    classifier = disan_tf.TextClassifier.from_preset("{name}")  # predicts logits, can be trained on
{_HOW_TO_LOAD.format(name=name) * ("multi_label" not in info)}
Out-of-vocabulary words map to one token. Probabilities are not calibrated. `model.json` has the
digests of all files.
"""


def write_saved_model(
    path: Union[str, Path],
    format: str,
    serve: Callable,
    fields: Sequence[str],
    about: Mapping,
    parts: Mapping,
) -> None:
    """Writes a SavedModel that serves strings, see `TextClassifier.export`.

    Args:
      path, format: the folder, and "tf_saved_model". An older SavedModel in the folder is replaced.
      serve: a function from a string tensor for each field to tensors by name.
      fields, about: the names of the texts, and further metadata.
      parts: what the SavedModel holds, by name.

    Raises:
      ValueError: the format is another one, or the path holds anything but a SavedModel.
    """
    path = Path(path).resolve()
    if format != "tf_saved_model":
        raise ValueError(
            f"format={format!r} cannot hold the look-up of words; save_to_preset(folder) and "
            "python run.py --mode=export --checkpoint=FOLDER --format=onnx or tflite write models "
            "of word ids."
        )
    found = {*os.listdir(path)} if path.is_dir() else set()
    is_saved_model = _GRAPH in found and found <= {_GRAPH, *_BESIDE_GRAPH}
    if path.exists() and not (path.is_dir() and (is_saved_model or not found)):
        raise ValueError(
            f"{path} is not only a SavedModel and would be replaced; choose another folder."
        )

    def serve_portably(*texts: tf.Tensor) -> dict[str, tf.Tensor]:
        with portable():
            return serve(*texts)

    names = fields if len(fields) > 1 else ("text",)
    specs = [tf.TensorSpec([None], tf.string, name) for name in names]
    served = tf.Module()
    for name, part in parts.items():
        setattr(served, name, part)
    served.serve = tf.function(serve_portably, input_signature=specs, autograph=False)
    with scratch_folder(path) as scratch:
        tf.saved_model.save(served, str(scratch / "new"), {"serving_default": served.serve})
        write_json(scratch / "new" / METADATA, {"inputs": names, **about})
        replace_folder(scratch / "new", path)
