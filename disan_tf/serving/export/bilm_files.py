"""Exports a trained language model as the official files of a biLM."""

from pathlib import Path

from disan_tf.elmo.weights import save_bilm
from disan_tf.runs.bundle import load_bundle


def export_bilm(bundle_directory, name) -> tuple[Path, Path]:
    """Writes `<name>_options.json` and `<name>_weights.hdf5`, the names of the official releases.

    Raises:
      UserError: the bundle is damaged.
    """
    bundle = load_bundle(bundle_directory)
    paths = tuple(Path(f"{name}_{kind}") for kind in ("options.json", "weights.hdf5"))
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    save_bilm(bundle.model.encoder, *paths)
    return paths
