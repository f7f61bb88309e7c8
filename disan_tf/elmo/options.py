"""The official `options.json` of a biLM, as the arguments of `BiLM`."""

from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import PathLike, read_json
from disan_tf.common.options import MAX_LAYERS, MAX_UNITS
from disan_tf.elmo.bilm import BiLM
from disan_tf.elmo.token_encoder import ACTIVATIONS
from disan_tf.text.characters import BYTE_CHARACTERS

# The section and key of each `BiLM` argument in the file, and the official code's default;
# ... = required.
_PLACES = {
    "units": ("lstm", "projection_dim", ...),
    "cells": ("lstm", "dim", ...),
    "layers": ("lstm", "n_layers", 1),
    "cell_clip": ("lstm", "cell_clip", None),
    "projection_clip": ("lstm", "proj_clip", None),
    "skip_connections": ("lstm", "use_skip_connections", False),
    "filters": ("char_cnn", "filters", ...),
    "highways": ("char_cnn", "n_highway", None),
    "activation": ("char_cnn", "activation", ...),
    "word_length": ("char_cnn", "max_characters_per_token", ...),
}
_OR_NONE = ("cell_clip", "projection_clip", "highways")  # null in the file is 0 in `BiLM`
_WHOLE = ("units", "cells", "layers", "highways", "word_length")


def read_options(path: PathLike) -> dict:
    """Reads the arguments of the `BiLM` that a file describes.

    The file may have further values, for training. `n_characters`, if present, must be 261 or 262;
    the official release asks for 262 for use.

    Raises:
      UserError: the file is missing or no JSON, lacks a value, or has one that is not supported.
    """
    content = read_json(path, "restore the options file of the biLM")
    arguments = {name: _find(content, *place, path) for name, place in _PLACES.items()}
    arguments.update({name: 0 for name in _OR_NONE if arguments[name] is None})
    arguments["character_dim"] = _find(content, "char_cnn", "embedding", ..., path)
    if not isinstance(arguments["character_dim"], dict):
        raise _wrong(path, "char_cnn.embedding", arguments["character_dim"], 'an object with "dim"')
    arguments["character_dim"] = arguments["character_dim"].get("dim")
    for name in (*_WHOLE, "character_dim"):
        least = 0 if name == "highways" else 3 if name == "word_length" else 1
        if not _is_whole(arguments[name]) or arguments[name] < least:
            raise _wrong(path, _name(name), arguments[name], f"a whole number of at least {least}")
        most = MAX_LAYERS if name in ("layers", "highways") else MAX_UNITS
        if arguments[name] > most:
            raise _wrong(path, _name(name), arguments[name], f"at most {most:,}")
    characters = content["char_cnn"].get("n_characters", BYTE_CHARACTERS)
    if characters not in (BYTE_CHARACTERS, BYTE_CHARACTERS + 1):
        known = f"{BYTE_CHARACTERS} or {BYTE_CHARACTERS + 1}"
        raise _wrong(path, "char_cnn.n_characters", characters, known)
    if arguments["activation"] not in ACTIVATIONS:
        raise _wrong(path, _name("activation"), arguments["activation"], " or ".join(ACTIVATIONS))
    filters = arguments["filters"]
    if not (isinstance(filters, list) and filters and all(map(_is_filter, filters))):
        raise _wrong(path, _name("filters"), filters, "pairs of a width and a count, both above 0")
    widest = max(width for width, _ in filters)
    if widest > arguments["word_length"]:
        raise _wrong(path, _name("filters"), filters, f"at most {arguments['word_length']} wide")
    for name in ("cell_clip", "projection_clip"):
        clip = content["lstm"].get(_PLACES[name][1])
        if clip is not None and not _is_clip(clip):
            raise _wrong(path, _name(name), clip, "a number above 0, or null for no clip")
    if not isinstance(arguments["skip_connections"], bool):
        raise _wrong(
            path, _name("skip_connections"), arguments["skip_connections"], "true or false"
        )
    if arguments["cells"] < arguments["units"]:
        raise _wrong(path, _name("cells"), arguments["cells"], f"at least {_name('units')}")
    return arguments


def official_options(bilm: BiLM) -> dict:
    """Returns the content of a biLM's `options.json`, as the official code reads it for use."""
    parts = {"lstm": {}, "char_cnn": {}}
    for name, (part, key, _) in _PLACES.items():
        value = getattr(bilm, name)
        parts[part][key] = (value or None) if name in _OR_NONE else value
    parts["char_cnn"]["embedding"] = {"dim": bilm.character_dim}
    parts["char_cnn"]["n_characters"] = BYTE_CHARACTERS + 1
    return parts


def _find(content, part, key, absent, path):
    values = content.get(part)
    if not isinstance(values, dict) or (key not in values and absent is ...):
        raise UserError(
            f"{path} has no {part}.{key}; it must be the options.json of a biLM with characters."
        )
    return values.get(key, absent)


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_clip(value):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 0 < value < float("inf")


def _is_filter(value):
    return (
        isinstance(value, list) and len(value) == 2 and all(_is_whole(n) and n > 0 for n in value)
    )


def _name(argument):
    part, key, _ = _PLACES.get(argument, ("char_cnn", "embedding.dim", ...))
    return f"{part}.{key}"


def _wrong(path: Path, name: str, value, wanted: str) -> UserError:
    return UserError(f"{path}: {name} is {value!r}, and must be {wanted}; name a file that fits.")
