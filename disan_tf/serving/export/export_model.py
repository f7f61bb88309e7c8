"""Exports trained models: SavedModels, TFLite, ONNX or official biLM files."""

from pathlib import Path
from typing import Optional

from disan_tf.common.errors import UserError
from disan_tf.elmo.official_files import save_bilm
from disan_tf.runs.bundle import load_bundle, read_info
from disan_tf.serving.export.conversions import export_converted
from disan_tf.serving.export.saved_model import export_saved_model

SAVED_MODEL = "saved_model"
_BILM = "bilm"  # the name of the files in a work directory


def export_model(
    bundle_directory,
    workdir,
    output: Optional[str] = None,
    kind: str = SAVED_MODEL,
    max_tokens: Optional[int] = None,
) -> tuple[Path, ...]:
    """Writes SavedModels, TFLite, ONNX, or the official files of a biLM; returns their paths.

    Args:
      bundle_directory, max_tokens: see `export_saved_model`.
      workdir: the folder of the files if there is no output.
      output: the folder of the models, or the start of the biLM files' paths.
      kind: "saved_model" or a key of `disan_tf.serving.export.conversions.FORMATS`.

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
        return export_saved_model(bundle_directory, Path(output or workdir), max_tokens)
    return export_converted(kind, bundle_directory, Path(output or workdir), max_tokens)
