"""What a trained model is exported as."""

from pathlib import Path
from typing import Optional

from disan_tf.serving.bilm_files import export_bilm
from disan_tf.serving.saved_model import export_saved_model
from disan_tf.training.bundle import read_info

_BILM = "bilm"  # the name of the files in a work directory


def export_model(bundle_directory, workdir, output: Optional[str] = None) -> tuple[Path, ...]:
    """Writes two SavedModels, or the official files of a language model's biLM.

    Args:
      bundle_directory: see `disan_tf.training.bundle`.
      workdir: where they go without an output.
      output: the folder of the SavedModels; the files of a biLM begin with it.

    Returns:
      The paths of what it wrote.

    Raises:
      UserError: the bundle is damaged, or the output cannot be written.
    """
    config = read_info(bundle_directory)["config"]
    if config["task"]["name"] in _OTHER_EXPORTS:
        return _OTHER_EXPORTS[config["task"]["name"]](
            bundle_directory, Path(output or f"{workdir}/{_BILM}")
        )
    return export_saved_model(bundle_directory, Path(output or workdir))


_OTHER_EXPORTS = {"language_model": export_bilm}  # by config.task.name
