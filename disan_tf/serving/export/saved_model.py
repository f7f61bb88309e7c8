"""A bundle -> two SavedModels: one for text and one for ids."""

import errno
import functools
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Callable, NamedTuple, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.files import scratch_folder, write_json
from disan_tf.ops import portable
from disan_tf.runs.bundle import Bundle, load_bundle
from disan_tf.serving.export.signatures import (
    Graphs,
    Served,
    attend_limit,
    graphs_of_ids,
    graphs_of_text,
    methods_of,
)
from disan_tf.serving.export.warm_up import write_requests
from disan_tf.serving.inference.records import text_name
from disan_tf.text import TextToIds

METADATA = "assets.extra/metadata.json"  # in the folder that TensorFlow leaves to its users


class _Export(NamedTuple):
    """What a SavedModel holds.

    Attributes:
      graphs: its functions.
      metadata: of `METADATA`.
      text_to_ids: which it needs for text.
    """

    graphs: Graphs
    metadata: dict
    text_to_ids: Optional[TextToIds] = None


class _Module(tf.Module):
    """What is loaded; `hub.KerasLayer` looks for these attributes."""

    variables = trainable_variables = regularization_losses = ()


def export_saved_model(
    bundle_directory, output_dir, max_tokens: Optional[int] = None
) -> tuple[Path, Path]:
    """Exports a trained model; what they predict equals what the bundle does, but for rounding.

    `saved_model/1/` takes raw text; its process needs `import tensorflow_text`, whose ops
    TensorFlow Serving has built in. An empty string is one unknown token. Signatures:

        serving_default: text <string>[batch] -> class <string>[batch],
            class_names <string>[batch, classes], probabilities <float32>[batch, classes]
        encode: text -> vectors <float32>[batch, dim]; not where the encoder never reads one
            sentence without the other (DRCN)
        attend: text -> tokens <string>[batch, length], and the encoder's attention tensors,
            averaged over the features: <float32>[batch, head, dependent] or [batch, length];
            "" and 0 after a sentence's end. Texts whose tensors would need more than
            `ATTEND_MEMORY` are refused

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
    their order, the classes or the range of the score, the config, the step, and the limits of
    lengths; `assets.extra/tf_serving_warmup_requests` warms TensorFlow Serving up.

    serving_default and encode compute the rows in blocks of similar length, in memory that grows
    with the length of the longest row. The loaded object itself is `encode` for a whole batch,
    gives a tensor, and has gradients: `hub.KerasLayer` takes it. Its `trainable_variables` are
    those that training changed.

    Args:
      bundle_directory: see `disan_tf.runs.bundle`.
      output_dir: where the two models go. 1 is the number of the version, as TensorFlow Serving
        reads it: an export takes the next one, in one renaming, and then removes the older.
      max_tokens: how many tokens of a sentence are read, the others are cut off; all signatures
        then have an output `truncated` <bool>[batch]. None = all.

    Returns:
      The paths of the versions in `saved_model/` and `saved_model_ids/`.

    Raises:
      UserError: the bundle is damaged, or `output_dir` cannot be written.
    """
    bundle = load_bundle(bundle_directory, attention_form="saved")
    methods = methods_of(bundle)
    exports = {
        "saved_model": _of_text(bundle, methods, max_tokens),
        "saved_model_ids": _of_ids(bundle, methods, max_tokens),
    }
    return tuple(
        write_version(Path(output_dir) / name, functools.partial(_save, bundle, export))
        for name, export in exports.items()
    )


def save_ids_model(bundle: Bundle, folder: Path, max_tokens: Optional[int]) -> None:
    """Writes what `saved_model_ids/1/` holds into a folder."""
    _save(bundle, _of_ids(bundle, methods_of(bundle), max_tokens), folder)


def write_version(folder: Path, write: Callable[[Path], None]) -> Path:
    """The folder `<number>/` that `write` filled.

    Versions that were there before it began are removed; what another process exports meanwhile
    stays beside.
    """
    older = _versions(folder)
    with scratch_folder(folder) as scratch:
        write(scratch / "new")
        version = _add_version(scratch / "new", folder)
    for path in older:
        shutil.rmtree(path, ignore_errors=True)
    return version


def newest_version(folder: Path) -> Optional[Path]:
    """The version of the largest number in a folder of exports, or None if it has none."""
    return max(_versions(folder), key=_number, default=None)


def _versions(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*") if path.name.isdecimal() and path.is_dir()]


def _number(version: Path) -> int:
    return int(version.name)


def _add_version(new: Path, folder: Path) -> Path:
    """Puts an export in its place as the newest version."""
    folder.mkdir(exist_ok=True)
    newest = newest_version(folder)
    number = _number(newest) + 1 if newest else 1
    while True:
        try:
            os.replace(new, folder / str(number))
            return folder / str(number)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
        number += 1  # another process was faster


def _of_text(bundle: Bundle, methods, max_tokens) -> _Export:
    text_to_ids, limit = bundle.text_to_ids(), attend_limit(bundle)
    return _Export(
        graphs_of_text(bundle, methods, text_to_ids, max_tokens, limit),
        {**describe_model(bundle, max_tokens), "attend_tokens": limit},
        text_to_ids,
    )


def _of_ids(bundle: Bundle, methods, max_tokens) -> _Export:
    return _Export(graphs_of_ids(methods, max_tokens), describe_model(bundle, max_tokens))


def _save(bundle: Bundle, export: _Export, folder: Path) -> None:
    """Saves functions with what they refer to: weights and vocabulary.

    The Keras model stays outside: as an attribute it would be traced and saved a second time,
    layer by layer, in Keras' own form.
    """
    graphs, module = export.graphs, _Module()
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    with portable():  # the native operations are this machine's alone
        signatures = {
            name: as_function(served).get_concrete_function()
            for name, served in graphs.signatures.items()
        }
        calls = []
        if graphs.function is not None:
            call = as_function(graphs.function, in_dictionary=len(graphs.function.specs) > 1)
            calls = [call.get_concrete_function()]
            vars(module)["__call__"] = call
        module.text_to_ids = export.text_to_ids
        # Only what is read: the counters of dropout are not.
        module.variables = _weights_of(bundle.model, [*signatures.values(), *calls])
        read = _weights_of(bundle.model, calls)
        module.trainable_variables = [weight for weight in read if weight.trainable]
        module.regularization_losses = []
        tf.saved_model.save(module, str(folder), signatures, options)  # traces `call` again
    write_json(folder / METADATA, export.metadata)
    write_requests(folder, bundle.config.name, _warm_up(graphs.signatures))


def _weights_of(model, traced: Sequence) -> list[tf.Variable]:
    """The weights that some traced functions read."""
    read = {id(tensor) for function in traced for tensor, _ in function.graph.captures}
    return [weight for weight in model.weights if id(weight.handle) in read]


def as_function(served: Served, in_dictionary: bool = False):
    """The `tf.function` of its inputs, or of one dictionary with their names."""
    if not in_dictionary:
        return tf.function(served.function, input_signature=served.specs, autograph=False)

    def function(inputs):
        return served.function(*(inputs[spec.name] for spec in served.specs))

    specs = {spec.name: spec for spec in served.specs}
    return tf.function(function, input_signature=[specs], autograph=False)


def _warm_up(signatures: dict[str, Served]) -> Iterator[tuple[str, dict]]:
    """Requests of a single sentence and of several, for each signature."""
    for name, served in signatures.items():
        for rows in (1, 16):
            yield name, {spec.name: _example(spec, rows) for spec in served.specs}


def _example(spec, rows):
    if spec.dtype == tf.string:
        return np.array([b"The film is long , but it is not boring at all ."] * rows)
    return np.ones([rows, 12, *spec.shape[2:]], spec.dtype.as_numpy_dtype)


def describe_model(bundle: Bundle, max_tokens: Optional[int]) -> dict:
    """What `metadata.json` tells of a model that reads so many tokens of a sentence."""
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
        "max_tokens": max_tokens,
    }
