"""Encoders of other packages, by the name "my_package.my_module:MyEncoder"."""

import importlib

from disan_tf.encoders.base import PairEncoder


def own_encoder(name: str) -> type:
    """The class of a name with a colon.

    The module must be one that Python can import: installed, or in `PYTHONPATH`.

    Raises:
      ValueError: "name=... must be ..." where there is no such module or class, or where the class
        is no encoder.
    """
    module_name, _, class_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except (ImportError, ValueError) as error:
        raise ValueError(
            f"name={name} must name a module that Python can import ({error}); install it, or put "
            "its folder in PYTHONPATH."
        ) from None
    cls = getattr(module, class_name, None)
    if not isinstance(cls, type) or not issubclass(cls, PairEncoder):
        raise ValueError(
            f"name={name} must name a subclass of disan_tf.encoders.SentenceEncoder; "
            f"{module_name} has {'no ' if cls is None else 'another thing named '}{class_name}."
        )
    return cls
