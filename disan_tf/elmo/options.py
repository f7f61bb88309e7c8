"""The official `options.json` of a biLM, as the arguments of `BiLM`."""

from pathlib import Path

from disan_tf.elmo.bilm import BiLM
from disan_tf.elmo.token_encoder import ACTIVATIONS
from disan_tf.errors import UserError
from disan_tf.files import PathLike, read_json
from disan_tf.text.character_ids import CHARACTERS

# Where each argument of `BiLM` stands in the file, and what it means where it is absent.
_PLACES = {
    "units": ("lstm", "projection_dim", None),
    "cells": ("lstm", "dim", None),
    "layers": ("lstm", "n_layers", None),
    "cell_clip": ("lstm", "cell_clip", 0),
    "projection_clip": ("lstm", "proj_clip", 0),
    "skip_connections": ("lstm", "use_skip_connections", False),
    "filters": ("char_cnn", "filters", None),
    "highways": ("char_cnn", "n_highway", 0),
    "activation": ("char_cnn", "activation", None),
    "word_length": ("char_cnn", "max_characters_per_token", None),
}
_WHOLE = ("units", "cells", "layers", "highways", "word_length")


def read_options(path: PathLike) -> dict:
    """The arguments of the `BiLM` that a file describes.

    The file may tell more, of the training; `n_characters`, where it is told, must be 261 or, as
    the official release asks for use, 262.

    Raises:
      UserError: the file is missing or no JSON, lacks a value, or has one that is not supported.
    """
    content = read_json(path, "restore the options file of the biLM")
    found = {name: _find(content, *place, path) for name, place in _PLACES.items()}
    found["character_dim"] = _find(content, "char_cnn", "embedding", None, path)
    if not isinstance(found["character_dim"], dict):
        raise _wrong(path, "char_cnn.embedding", found["character_dim"], 'an object with "dim"')
    found["character_dim"] = found["character_dim"].get("dim")
    for name in (*_WHOLE, "character_dim"):
        least = 0 if name == "highways" else 3 if name == "word_length" else 1
        if not _is_whole(found[name]) or found[name] < least:
            raise _wrong(path, _name(name), found[name], f"a whole number of at least {least}")
    characters = content["char_cnn"].get("n_characters", CHARACTERS)
    if characters not in (CHARACTERS, CHARACTERS + 1):
        raise _wrong(path, "char_cnn.n_characters", characters, f"{CHARACTERS} or {CHARACTERS + 1}")
    if found["activation"] not in ACTIVATIONS:
        raise _wrong(path, _name("activation"), found["activation"], " or ".join(ACTIVATIONS))
    filters = found["filters"]
    if not (isinstance(filters, list) and filters and all(map(_is_filter, filters))):
        raise _wrong(path, _name("filters"), filters, "pairs of a width and a count, both above 0")
    widest = max(width for width, _ in filters)
    if widest > found["word_length"]:
        raise _wrong(path, _name("filters"), filters, f"at most {found['word_length']} wide")
    for name in ("cell_clip", "projection_clip"):
        found[name] = found[name] or 0  # null clips nothing
        if isinstance(found[name], bool) or not isinstance(found[name], (int, float)):
            raise _wrong(path, _name(name), found[name], "a number")
    if not isinstance(found["skip_connections"], bool):
        raise _wrong(path, _name("skip_connections"), found["skip_connections"], "true or false")
    if found["cells"] < found["units"]:
        raise _wrong(path, _name("cells"), found["cells"], f"at least {_name('units')}")
    return found


def official_options(bilm: BiLM) -> dict:
    """The content of the `options.json` of a biLM, as the official code reads it for use."""
    parts = {"lstm": {}, "char_cnn": {}}
    for name, (part, key, _) in _PLACES.items():
        parts[part][key] = getattr(bilm, name)
    parts["char_cnn"]["embedding"] = {"dim": bilm.character_dim}
    parts["char_cnn"]["n_characters"] = CHARACTERS + 1
    return parts


def _find(content, part, key, absent, path):
    values = content.get(part) if isinstance(content, dict) else None
    if not isinstance(values, dict) or (key not in values and absent is None):
        raise UserError(
            f"{path} has no {part}.{key}; it must be the options.json of a biLM with characters."
        )
    return values.get(key, absent)


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_filter(value):
    return (
        isinstance(value, list) and len(value) == 2 and all(_is_whole(n) and n > 0 for n in value)
    )


def _name(argument):
    part, key, _ = _PLACES.get(argument, ("char_cnn", "embedding.dim", None))
    return f"{part}.{key}"


def _wrong(path: Path, name: str, value, wanted: str) -> UserError:
    return UserError(f"{path}: {name} is {value!r}, and must be {wanted}; name a file that fits.")
