"""Exports a bundle as two SavedModels: one for text and one for ids."""

import contextlib
import errno
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Callable, Optional

import tensorflow as tf

from disan_tf.common.atomic import scratch_folder, sync, sync_and_rename, write_json
from disan_tf.input_pipeline import Split
from disan_tf.ops import portable
from disan_tf.runs.bundle import Bundle, load_bundle
from disan_tf.serving.export.comparison import compare_with_predict, saved_model_runner
from disan_tf.serving.export.signatures import (
    Graphs,
    graphs_of_ids,
    graphs_of_text,
    make_function,
    methods_of,
)
from disan_tf.serving.inference.attend import longest_text, make_attention_step
from disan_tf.serving.inference.records import text_name
from disan_tf.text.tokenizer_rules import python_steps

ATTEND_MEMORY = 1 << 30  # bytes that the attention tensors of one call may need
METADATA = "assets.extra/metadata.json"  # in the folder that TensorFlow leaves to its users


class _Module(tf.Module):
    """The object that is loaded; `hub.KerasLayer` looks for these attributes."""

    variables = trainable_variables = regularization_losses = ()


def export_saved_model(
    bundle_directory, output_dir, max_tokens: Optional[int] = None, dev: Optional[Split] = None
) -> tuple[Path, ...]:
    """Exports a trained model as two SavedModels; returns the paths of both versions.

    Their predictions equal those of the bundle up to rounding. `disan_tf/serving/README.md` lists
    the signatures. `attend` returns `tokens` <string>[batch, length], padded with "", and attention
    tensors <float32>[batch, head, dependent] or [batch, length], padded with 0. For pairs, names
    begin with the field: `premise_tokens`.

    `saved_model/1/` takes raw text; its process needs `import tensorflow_text`, whose ops
    TensorFlow Serving has built in. `serving_default` reads a blank text as one unknown word, and
    `encode` returns zeros for it.

    `saved_model_ids/1/` needs TensorFlow alone. It takes ids <int32>[batch, length] (0 = padding,
    1 = unknown, the k-th word of the vocabulary, from 0, is k + 2), or for pairs `<field>_ids`, and
    the model's other inputs: for DRCN `<field>_characters` and `<field>_match`, made by
    `disan_tf.text.TextToPairFeatures`; for ELMo-fed models `characters`, made by
    `disan_tf.text.TextToCharacters`.

    serving_default and encode compute the rows in blocks of similar length; memory grows with the
    longest row. attend rejects texts whose tensors need more than `ATTEND_MEMORY`. The loaded
    object itself is `encode` for a whole batch, returns a tensor and has gradients, as
    `hub.KerasLayer` expects. Its `trainable_variables` are the weights that training changed.

    Args:
      bundle_directory: see `disan_tf.runs.bundle`.
      output_dir: the folder of the two models. 1 is the version: an export takes the next number in
        both folders, and then removes older versions, so that after a kill the largest number in
        both is one whole export.
      max_tokens: the number of tokens to read of a sentence; all signatures then have an output
        `truncated` <bool>[batch]. None = all.
      dev: the development set; the metadata then say how far the models differ from `predict` on
        it, see `compare_with_predict`. Both models have the functions that are compared.

    Raises:
      UserError: the bundle is damaged, or `output_dir` cannot be written.
    """
    bundle = load_bundle(bundle_directory, attention_form="saved")
    methods, metadata = methods_of(bundle), describe_model(bundle, max_tokens)

    def save_text_model(folder: Path) -> None:
        text_to_ids = bundle.text_to_ids()
        limit = longest_text(make_attention_step(bundle.model), ATTEND_MEMORY)
        graphs = graphs_of_text(bundle, methods, text_to_ids, max_tokens, limit)
        of_text = {"attend_tokens": limit, "tokenizer": python_steps(*text_to_ids.tokenizer)}
        _save(bundle, graphs, {**metadata, **of_text}, text_to_ids, folder)

    def save_ids_model(folder: Path) -> None:
        _save(bundle, graphs_of_ids(methods, max_tokens), metadata, None, folder)
        if dev is not None:
            metadata.update(compare_with_predict(bundle, saved_model_runner(folder), dev))
            write_json(folder / METADATA, metadata)

    output_dir = Path(output_dir)
    of_ids, of_text = write_versions(
        {  # the first function compares its model with `predict`
            output_dir / "saved_model_ids": save_ids_model,
            output_dir / "saved_model": save_text_model,
        }
    )
    return of_text, of_ids


def write_versions(writers: Mapping[Path, Callable[[Path], None]]) -> tuple[Path, ...]:
    """Writes the next version, `<number>/`, into folders; returns the versions.

    All have one number. They are complete before the first is renamed, and versions from before the
    call are removed after the last renaming; versions that another process exports meanwhile stay.
    """
    older, new = [path for folder in writers for path in _versions(folder)], {}
    with contextlib.ExitStack() as stack:
        for folder, write in writers.items():
            new[folder] = stack.enter_context(scratch_folder(folder)) / "new"
            write(new[folder])
        versions = _add_versions(new)
    for path in older:
        shutil.rmtree(path, ignore_errors=True)
    return versions


def newest_version(folder: Path) -> Optional[Path]:
    """Returns the version with the largest number in a folder of exports, or None."""
    return max(_versions(folder), key=lambda version: int(version.name), default=None)


def _versions(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*") if path.name.isdecimal() and path.is_dir()]


def _add_versions(new: Mapping[Path, Path]) -> tuple[Path, ...]:
    """Moves exports, by folder, into their folders as the newest versions; returns their paths."""
    for folder in new:
        folder.mkdir(exist_ok=True)
    number = 1 + max(int(version.name) if version else 0 for version in map(newest_version, new))
    for path in new.values():
        sync(path)  # before the first one is renamed, so that the second follows at once
    while True:
        moved = []
        try:
            for folder, path in new.items():
                sync_and_rename(path, folder / str(number))
                moved.append(folder / str(number))
            return tuple(moved)
        except OSError as error:
            for version, path in zip(moved, new.values()):
                version.rename(path)
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
        number += 1  # another process was faster


def _save(bundle: Bundle, graphs: Graphs, metadata, text_to_ids, folder: Path) -> None:
    """Saves functions with their weights and vocabulary.

    The Keras model stays outside: as an attribute it would be traced and saved a second time,
    layer by layer, in Keras' own form.
    """
    module, calls = _Module(), []
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    with portable():  # the native operations are this machine's alone
        signatures = {
            name: function.get_concrete_function() for name, function in graphs.signatures.items()
        }
        if graphs.function is not None:
            call = _in_dictionary(graphs.function)
            calls = [call.get_concrete_function()]
            vars(module)["__call__"] = call
        module.text_to_ids = text_to_ids
        # Only the weights that are read: the counters of dropout are not.
        module.variables = _weights_of(bundle.model, [*signatures.values(), *calls])
        read = _weights_of(bundle.model, calls)
        trained = {id(weight) for weight in bundle.model.trainable_weights}
        module.trainable_variables = [weight for weight in read if id(weight) in trained]
        module.regularization_losses = []
        tf.saved_model.save(module, str(folder), signatures, options)  # traces `call` again
    write_json(folder / METADATA, metadata)


def _weights_of(model, traced: Sequence) -> list[tf.Variable]:
    """Returns the weights that traced functions read."""
    read = {id(tensor) for function in traced for tensor, _ in function.graph.captures}
    return [weight for weight in model.weights if id(weight.handle) in read]


def _in_dictionary(function):
    """Makes a `tf.function` of several inputs one of a dictionary with their names."""
    specs = {spec.name: spec for spec in function.input_signature}
    if len(specs) == 1:
        return function

    def call(inputs):
        return function.python_function(*(inputs[name] for name in specs))

    return make_function(call, [specs])


def describe_model(bundle: Bundle, max_tokens: Optional[int]) -> dict:
    """Returns the content of `metadata.json` for a model with this limit of tokens."""
    ends = [float(bundle.classes[end]) for end in (0, -1) if bundle.model.label_dtype.is_floating]
    return {
        "config": bundle.config.name,
        "task": bundle.config.task.name,
        "inputs": [text_name(field) for field in bundle.model.fields],
        "classes": bundle.classes,
        **({"score_range": ends} if ends else {}),
        "vocabulary_size": len(bundle.vocabulary),
        "lowercase": bundle.info["tokenizer"]["lowercase"],
        "dtype": bundle.config.dtype,
        "step": bundle.info["scores"]["step"],
        "parameters": bundle.info["parameters"],
        "max_tokens": max_tokens,
    }
