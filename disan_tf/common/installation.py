"""The version, the check of the platform, and paths, in a checkout or an installation."""

import os
import sys
from importlib import metadata
from pathlib import Path

from disan_tf.common.errors import UserError

VERSION = "1.0.0"
_PACKAGE = Path(__file__).resolve().parents[1]
_BUNDLED = _PACKAGE / "bundled"  # in a wheel, see setup.py
IS_INSTALLED = _BUNDLED.is_dir()
ROOT = _BUNDLED if IS_INSTALLED else _PACKAGE.parent
CHECKPOINTS = ROOT / "checkpoints"
CONFIGS = ROOT / "configs"
SCRIPT = "disan-tf"  # the console command of an installed package


class PlatformError(UserError, ImportError):
    """The error if the package cannot run on this operating system; its message has the remedy."""


def check_platform() -> None:
    """Raises PlatformError on Windows; a command prints its message and exits with status 2.

    Commands are `run.py`, `disan-tf`, `python -m disan_tf`, whose `sys.argv[0]` is "-m" during this
    import, and the programs of data_prep.
    """
    if sys.platform != "win32":
        return
    sentence = (
        "disan_tf does not run on Windows, for which tensorflow-text has no packages; run it in "
        "WSL 2, the Linux of Windows (wsl --install)."
    )
    path = Path(sys.argv[0])
    programs = _PACKAGE.parent / "data_prep"
    if path.stem in ("-m", "run", SCRIPT) or programs in path.resolve().parents:
        print(sentence, file=sys.stderr)
        sys.exit(2)
    raise PlatformError(sentence)


def program() -> str:
    """Returns the program that the user typed: "disan-tf", "disan_tf" or "run.py"."""
    name = Path(sys.argv[0])
    if name.name == "__main__.py" and name.parent.name == _PACKAGE.name:
        return _PACKAGE.name
    return SCRIPT if name.name.startswith(SCRIPT) else "run.py"


def command() -> str:
    """Returns the command line that runs `program`."""
    return {SCRIPT: SCRIPT, _PACKAGE.name: f"python -m {_PACKAGE.name}"}.get(
        program(), "python run.py"
    )


def version() -> str:
    """Returns the versions of the package, of TensorFlow and of Python."""
    try:
        tensorflow = f"TensorFlow {metadata.version('tensorflow')}"
    except metadata.PackageNotFoundError:  # other distributions have other names
        tensorflow = "TensorFlow of no known version"
    python = ".".join(map(str, sys.version_info[:3]))
    return f"disan_tf {VERSION}, {tensorflow}, Python {python}"


def cache_folder(name: str) -> Path:
    """Returns "disan_tf/<name>" in XDG_CACHE_HOME or ~/.cache; RuntimeError without a home."""
    general = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(general) / "disan_tf" / name


def config_names() -> list[str]:
    """Returns the names of the configs in the package."""
    names = sorted(path.stem for path in CONFIGS.glob("*.py"))
    return [name for name in names if name not in ("__init__", "common")]


def find_config(value: str) -> str:
    """Returns the path of a config file, with its variant if one is given.

    `value` is a path, or the name of a config in the package, such as "demo:tiny". A path
    `configs/...` without a file means the package's config of that name.
    """
    name, colon, variant = value.partition(":")
    path = Path(name)
    if path.is_file() or path.parent not in (Path("."), Path("configs")):
        return value
    path = CONFIGS / f"{path.name.removesuffix('.py')}.py"
    return f"{path}{colon}{variant}" if path.is_file() else value


def import_configs() -> None:
    """Makes the package `configs` importable, since configs import each other from it."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
