"""Where the configs and the released models are: in the repository, or in an installed package."""

import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_BUNDLED = _PACKAGE / "bundled"  # a wheel has it, see setup.py
IS_INSTALLED = _BUNDLED.is_dir()
ROOT = _BUNDLED if IS_INSTALLED else _PACKAGE.parent
CHECKPOINTS = ROOT / "checkpoints"
CONFIGS = ROOT / "configs"
SCRIPT = "disan-tf"  # the console command of an installed package


def program() -> str:
    """Returns the program that the user typed: "disan-tf", "disan_tf" or "run.py"."""
    name = Path(sys.argv[0])
    if name.name == "__main__.py" and name.parent.name == _PACKAGE.name:
        return _PACKAGE.name
    return SCRIPT if name.name.startswith(SCRIPT) else "run.py"


def command() -> str:
    """Returns what a user types to run `program`."""
    return {SCRIPT: SCRIPT, _PACKAGE.name: f"python -m {_PACKAGE.name}"}.get(
        program(), "python run.py"
    )


def config_names() -> list[str]:
    """The names of the configs that come with the package."""
    names = sorted(path.stem for path in CONFIGS.glob("*.py"))
    return [name for name in names if name not in ("__init__", "common")]


def find_config(value: str) -> str:
    """The file of a config, with the variant that stands behind it.

    Args:
      value: a path, or the name of a config that comes with the package; `:variant` may follow. A
        path in a folder `configs` that there is not is one of the package.
    """
    name, colon, variant = value.partition(":")
    path = Path(name)
    if path.is_file() or path.parent not in (Path("."), Path("configs")):
        return value
    path = CONFIGS / f"{path.name.removesuffix('.py')}.py"
    return f"{path}{colon}{variant}" if path.is_file() else value


def import_configs() -> None:
    """Lets Python find the package `configs`, from which configs import each other."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
