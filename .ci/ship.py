"""Compiles the libraries of a wheel for one TensorFlow; `make wheel` calls it for each lock.

    python .ci/ship.py FOLDER

writes a library for each level of this machine's architecture, and adds them to the folder's
manifest.
"""

import platform
import sys
from pathlib import Path

from disan_tf.common.atomic import write_json
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json, sha256
from disan_tf.ops.native import compiler, shipped


def ship(folder: Path) -> None:
    """Writes the libraries of this TensorFlow and this architecture, and the manifest.

    Raises:
      BuildError: there is no compiler, it fails, or no level is known for this architecture.
    """
    command, machine = compiler.find_compiler(), platform.machine()
    if machine not in shipped.LEVELS:
        raise compiler.BuildError(f"no level of processors is known for {machine}")
    folder.mkdir(parents=True, exist_ok=True)
    libraries = _written(folder / shipped.MANIFEST)
    identity = shipped.tensorflow_build()
    for level in shipped.LEVELS[machine]:
        path = folder / f"tensorflow-{identity['version']}-{level.name}.so"
        compiler.compile_library(command, _flags(level.name), path)
        path.chmod(0o644)
        facts = {"tensorflow": identity, "processor": level.name, "sha256": sha256(path)}
        libraries[path.name] = facts
        print(path)
    content = {"sources": shipped.sources_digest(), "libraries": libraries}
    write_json(folder / shipped.MANIFEST, content)


def _written(manifest: Path) -> dict:
    """Returns the libraries that the manifest has of the same sources."""
    try:
        content = read_json(manifest, "delete it", shipped.SCHEMA)
    except UserError:
        return {}
    return content["libraries"] if content["sources"] == shipped.sources_digest() else {}


def _flags(level: str) -> list[str]:
    """Returns the flags for a level instead of this processor; paths of this machine stay out."""
    return [*compiler.FLAGS, f"-march={level}", f"-ffile-prefix-map={compiler.FOLDER}=."]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: python .ci/ship.py FOLDER; {len(sys.argv) - 1} arguments")
    ship(Path(sys.argv[1]))
