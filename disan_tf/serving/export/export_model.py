"""Exports trained models: SavedModels, TFLite, ONNX or official biLM files."""

import functools
import importlib
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.atomic import copy_file, write_atomically, write_json
from disan_tf.common.errors import UserError
from disan_tf.common.process import no_standard_error
from disan_tf.elmo.official_files import save_bilm
from disan_tf.input_pipeline import Split
from disan_tf.models.embeddings import EMBEDDINGS
from disan_tf.ops import portable
from disan_tf.runs.bundle import Bundle, load_bundle, read_info
from disan_tf.serving.export import client
from disan_tf.serving.export.comparison import compare_with_predict
from disan_tf.serving.export.saved_model import describe_model, export_saved_model, write_versions
from disan_tf.serving.export.signatures import converted_function
from disan_tf.text.lookup import VOCABULARY
from disan_tf.text.tokenizer_rules import python_steps

SAVED_MODEL = "saved_model"
_BILM = "bilm"  # the name of the files in a work directory
LENGTHS = range(1, 61)  # tokens in the sentences that check a conversion
TOLERANCE = 1e-4  # absolute, or relative for numbers above 1

Predict = Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]]


def export_model(
    bundle_directory,
    workdir,
    output: Optional[str] = None,
    kind: str = SAVED_MODEL,
    max_tokens: Optional[int] = None,
    dev: Optional[Split] = None,
) -> tuple[Path, ...]:
    """Writes SavedModels, TFLite, ONNX, or the official files of a biLM; returns their paths.

    Args:
      bundle_directory, max_tokens, dev: see `export_saved_model`.
      workdir: the folder of the files if there is no output.
      output: the folder of the models, or the start of the biLM files' paths.
      kind: "saved_model" or a key of `disan_tf.serving.export.export_model.FORMATS`.

    Raises:
      UserError: the bundle is damaged, the output cannot be written, or the model has no export
        of this kind.
    """
    if read_info(bundle_directory)["config"]["task"]["name"] == "language_model":
        if kind != SAVED_MODEL or max_tokens:
            raise UserError(
                f"{bundle_directory} holds a language model, which is exported as the official "
                "files of a biLM; leave --format and --max_tokens out."
            )
        name = output or f"{workdir}/{_BILM}"
        paths = Path(f"{name}_options.json"), Path(f"{name}_weights.hdf5")  # the official names
        bundle = load_bundle(bundle_directory)
        paths[0].parent.mkdir(parents=True, exist_ok=True)
        save_bilm(bundle.model.encoder, *paths)
        return paths
    if kind == SAVED_MODEL:
        return export_saved_model(bundle_directory, Path(output or workdir), max_tokens, dev)
    return export_converted(kind, bundle_directory, Path(output or workdir), max_tokens, dev)


def export_converted(
    kind: str,
    bundle_directory,
    output_dir,
    max_tokens: Optional[int] = None,
    dev: Optional[Split] = None,
) -> tuple[Path]:
    """Writes `<kind>/1/`: a model of ids, its metadata, vocabulary and client; returns the path.

    The model takes ids as `saved_model_ids` does, and returns "probabilities"; relatedness models
    add "score", single-sentence models "vectors". Its attention is dense: memory grows with the
    square of the length. The model is written only if it agrees with the trained model for
    sentences of random ids of all `LENGTHS`; the metadata have the largest difference, and with
    `dev` the difference to `predict`, see `compare_with_predict`.

    Raises:
      UserError: the model reads more than ids, cannot be converted, or differs once converted; a
        package is missing; or see `export_saved_model`.
    """
    bundle = load_bundle(bundle_directory, attention_form="plain", dtype="float32")
    reason = EMBEDDINGS[bundle.config.embedding.name].beyond_ids
    if reason:
        raise _refusal(bundle, f"cannot become {kind}, since {reason}")
    write = functools.partial(_write, kind, bundle, max_tokens, dev)
    return write_versions({Path(output_dir) / kind: write})


def _refusal(bundle: Bundle, reason: str) -> UserError:
    return UserError(f"{bundle.directory} {reason}; export it without --format.")


def _write(kind, bundle, max_tokens, dev, folder: Path) -> None:
    folder.mkdir()
    path, encoder = folder / f"model.{kind}", bundle.config.encoder.name
    try:
        FORMATS[kind](converted_function(bundle, max_tokens), path)
        with warnings.catch_warnings():  # TensorFlow 2.21 announces the package of its successor
            warnings.filterwarnings("ignore", "(?s).*Interpreter is deprecated", UserWarning)
            predict = client.LOADERS[kind](path)
        if kind == "tflite":
            predict = no_standard_error()(predict)  # the first call announces a delegate
        trained = load_bundle(bundle.directory, attention_form="saved", dtype="float32")
        compute = converted_function(trained, max_tokens)
        differences = [_difference(compute, predict, _sentences(bundle, n)) for n in LENGTHS]
        difference = float(np.max(differences))  # `max` may lose NaN
    except _Refused as error:
        reason = f"has the encoder {encoder}, which cannot become {kind} ({error})"
        raise _refusal(bundle, reason) from None
    if not difference <= TOLERANCE:
        raise _refusal(bundle, f"has other outputs as {kind}, by {difference:.1g}")
    steps = python_steps(*bundle.text_to_ids().tokenizer)
    checked = {"checked_lengths": [LENGTHS[0], LENGTHS[-1]], "largest_difference": difference}
    checked.update(compare_with_predict(bundle, predict, dev))
    metadata = {**describe_model(bundle, max_tokens), **checked, "tokenizer": steps}
    write_json(folder / "metadata.json", metadata)
    copy_file(bundle.directory / VOCABULARY, folder / VOCABULARY)
    copy_file(client.__file__, folder / "client.py")


def _sentences(bundle, length: int) -> dict[str, np.ndarray]:
    """Makes two rows of random ids for each field, one shorter, by the inputs' names."""
    generator = np.random.default_rng(length)
    specs = bundle.model.signatures()["call"]
    lengths = [length, LENGTHS[0] + LENGTHS[-1] - length][: len(specs)]
    most, sentences = sum(bundle.info["words"]) + 2, {}
    for spec, words in zip(specs, lengths):
        ids = generator.integers(1, most, [2, words], dtype=np.int32)
        ids[1, (words + 1) // 2 :] = 0
        sentences[spec.name] = ids
    return sentences


def _difference(compute, predict, sentences) -> float:
    try:
        outputs = predict(sentences)
    except Exception as error:  # a runtime may raise any error
        raise _Refused(_reason(error)) from None
    expected, differences = compute(*map(tf.constant, sentences.values())), []
    for name, converted in outputs.items():
        exact = expected[name].numpy().astype(np.float64)
        differences.append(np.max(np.abs(converted - exact) / np.maximum(1.0, np.abs(exact))))
    return float(np.max(differences))


class _Refused(Exception):
    """A model that a converter rejects, with the reason."""


def _to_tflite(function: Callable, path: Path) -> None:
    with portable():
        function = function.get_concrete_function()
    module = tf.Module()
    module.weights = function.variables  # saved with the function, which keeps the names of inputs
    try:
        converter = tf.lite.TFLiteConverter.from_concrete_functions([function], module)
        with no_standard_error():  # a summary of operations, which says nothing to a user
            write_atomically(path, converter.convert())
    except Exception as error:  # the converter's classes of errors differ by version
        raise _Refused(_reason(error)) from None


def _to_onnx(function: Callable, path: Path) -> None:
    try:
        tf2onnx_convert = importlib.import_module("tf2onnx.convert")
        importlib.import_module("onnxruntime")
    except ImportError as error:
        raise UserError(
            f"--format=onnx needs tf2onnx and onnxruntime ({error}); "
            "pip install tf2onnx onnxruntime."
        ) from None
    with portable():
        try:
            tf2onnx_convert.from_function(function, function.input_signature, output_path=str(path))
        except Exception as error:  # the converter may raise any error
            raise _Refused(_reason(error)) from None


def _reason(error) -> str:
    """Returns the operators that a converter lacks, or the first line of its error."""
    text = str(error).strip() or type(error).__name__
    lacking = sorted(set(re.findall(r"'tf\.(\w+)' op ", text)))
    return f"it lacks {', '.join(lacking)}" if lacking else text.splitlines()[0][:200]


FORMATS = {"tflite": _to_tflite, "onnx": _to_onnx}
