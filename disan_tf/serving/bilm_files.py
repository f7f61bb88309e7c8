"""A trained language model -> the official files of a biLM."""

from pathlib import Path

from disan_tf.elmo.weights import save_bilm
from disan_tf.files import read_json
from disan_tf.models.factory import TASKS
from disan_tf.training.bundle import load_bundle


def serves(bundle_directory) -> bool:
    """Whether a bundle's model answers sentences, so that SavedModels of it make sense."""
    config = read_json(Path(bundle_directory) / "config.json", "train again")
    return TASKS[config["task"].get("name", "classification")].serves  # absent from older configs


def export_bilm(bundle_directory, name) -> tuple[Path, Path]:
    """Writes `<name>_options.json` and `<name>_weights.hdf5`, as the official releases call them.

    Raises:
      UserError: the bundle is damaged.
    """
    bundle = load_bundle(bundle_directory)
    paths = tuple(Path(f"{name}_{kind}") for kind in ("options.json", "weights.hdf5"))
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    save_bilm(bundle.model.encoder, *paths)
    return paths
