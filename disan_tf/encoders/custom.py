"""Encoders of other packages, by the name "my_package.my_module:MyEncoder".

A name may come from an untrusted file, such as the `model.json` of a bundle, and importing a module
runs its code. So only `import_encoder` and `allow_modules` import, for names that the user has
written; `custom_encoder` finds the encoders of imported modules and of `register_encoder`.
"""

import importlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from disan_tf.common.errors import UserError
from disan_tf.encoders.base import PairEncoder

_given: dict[str, type] = {}  # by the name in a config


def import_encoder(name: str) -> type:
    """Imports the module of a user's name with a colon, and returns the class.

    The module must be one that Python can import: installed, or in `PYTHONPATH`.

    Raises:
      ValueError: see `custom_encoder`, or there is no such module.
    """
    if name not in _given:
        _import(name.partition(":")[0], f"name={name}")
    return custom_encoder(name)


def import_custom(options: Mapping[str, Any]) -> None:
    """Imports the module of the encoder in `config.encoder`, if another package defines it.

    Raises:
      UserError: see `import_encoder`.
    """
    name = options.get("name")
    if isinstance(name, str) and ":" in name:
        try:
            import_encoder(name)
        except ValueError as error:
            raise UserError(f"--config.encoder.{error}") from None


def allow_modules(names: Iterable[str]) -> None:
    """Imports the modules that a user names with `--allow_module`, for `custom_encoder`.

    Raises:
      UserError: there is no such module.
    """
    for name in names:
        try:
            _import(name, f"--allow_module={name}")
        except ValueError as error:
            raise UserError(str(error)) from None


def _import(module: str, option: str) -> None:
    try:
        importlib.import_module(module)
    except (ImportError, ValueError) as error:
        raise ValueError(
            f"{option} must name a module that Python can import ({error}); install it, or put its "
            "folder in PYTHONPATH."
        ) from None


def register_encoder(name: str, encoder: type) -> None:
    """Registers a class for `custom_encoder` by a name, wherever the class was defined.

    Raises:
      ValueError: the class has another name, or is no encoder.
    """
    _check(name, encoder)
    if encoder.__name__ != name.partition(":")[2]:
        raise ValueError(f"name={name} is not the class {encoder.__name__}; give that class.")
    _given[name] = encoder


def custom_encoder(name: str) -> type:
    """Returns the class of a name with a colon, without importing anything.

    Raises:
      ValueError: "name=... ..." where the module is not imported, has no such class, or the class
        is no encoder.
    """
    if name in _given:
        return _given[name]
    module_name, _, class_name = name.partition(":")
    if module_name not in sys.modules or sys.modules[module_name] is None:
        raise ValueError(
            f"name={name} names code of the module {module_name}, which loading a model does not "
            f"import by itself; if you trust it, give --allow_module={module_name}, or in Python "
            "disan_tf.load(..., encoder=THE_CLASS)."
        )
    encoder = vars(sys.modules[module_name]).get(class_name)
    return _check(name, encoder)


def _check(name: str, encoder: Any) -> type:
    module_name, _, class_name = name.partition(":")
    if not isinstance(encoder, type) or not issubclass(encoder, PairEncoder):
        raise ValueError(
            f"name={name} must name a subclass of disan_tf.encoders.SentenceEncoder; {module_name} "
            f"has {'no ' if encoder is None else 'no class but another object named '}{class_name}."
        )
    return encoder
