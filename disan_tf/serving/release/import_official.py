"""Turns a checkpoint of the authors' TensorFlow 1 code into a model that this package loads.

python -m disan_tf.serving.release.import_official --checkpoint=model.ckpt-400000 \\
    --words=words.txt --config=configs/disan_snli.py:official --output=official_snli
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np
import tensorflow as tf
from absl import flags
from ml_collections import ConfigDict, config_flags

from data_prep import word_vectors
from data_prep.corpora import nli_rows, sick, sst
from disan_tf.common.errors import UserError, exit_status
from disan_tf.common.files import read_lines, rename_whole, scratch_folder, write_atomically
from disan_tf.common.installation import find_config, import_configs
from disan_tf.common.options import join_choices
from disan_tf.input_pipeline.format import VOCABULARY, Keys
from disan_tf.models.base import SentenceModel
from disan_tf.models.factory import build_model
from disan_tf.runs.bundle import save_bundle
from disan_tf.serving.release.official_checkpoint import OfficialCheckpoint
from disan_tf.serving.release.official_variables import spelling, weight_of

_CLASSES = {  # config.data.corpus -> the classes in the order of the authors' logits
    "snli": lambda data: nli_rows.CLASSES,
    "sick": lambda data: sick.CLASSES,
    "sst": lambda data: sst.CLASSES[data.classes],
}
_SIZES = "--config.embedding.dim, --config.encoder.units and --config.task.hidden_units"
_FLAGS = {
    "checkpoint": "the common prefix of the checkpoint's files",
    "words": "a text file with the words of ids 2 and up, one a line",
    "vectors": "the vector file of the training, whose other words the model knows too",
    "output": "the new folder",
}
_NETWORKS = "choose the config of the same network (disan_tf/serving/README.md lists them)"


class Words(NamedTuple):
    """The words of a model in place of a `PreparedCorpus`; see `save_bundle`."""

    directory: Path
    words: tuple[int, int]
    classes: Sequence[str]
    manifest: Mapping


def import_official(
    checkpoint: str, words: Path, config: ConfigDict, output: Path, vectors: Optional[Path] = None
) -> str:
    """Writes a folder that `disan_tf.load` reads; returns a sentence on its content.

    Args:
      checkpoint: the prefix of the checkpoint's files, or the folder of its `checkpoint` file.
      words: a text file with the words of ids 2 and up, one a line.
      config: the config of the checkpoint's network.
      output: the new folder.
      vectors: the vector file of the training, whose other words the model knows too; None leaves
        them out. The authors' checkpoints do not hold their vectors.

    Raises:
      UserError: a file is missing or damaged, or the checkpoint does not fit words or config.
    """
    if Path(output).exists():
        raise UserError(f"--output={output} exists already; choose another folder.")
    source = OfficialCheckpoint(checkpoint)
    known, classes = _read_words(words), _classes(config)
    others = _other_words(vectors, known, config)
    sizes = (len(known), len(others))
    try:
        model = build_model(config, sizes, len(classes))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"--config: {' '.join(str(error).split())[:300]}") from None
    matched = _match(source, model, words)
    for name, weight in matched.items():
        weight.assign(source.read(name))
    if others:
        model.embedding.fixed.assign(np.stack([*others.values()]))
    step = source.step()
    _save(model, config, [*known, *others], sizes, classes, step, Path(output))
    return (
        f"{output}: {config.name} of step {step:,}, {len(matched)} variables, {len(known):,} "
        f"trained words and {len(others):,} others."
    )


def _read_words(path: Path) -> list[str]:
    """Reads a word list; raises UserError if it is empty or has a word twice."""
    lines: dict[str, int] = {}
    for number, word in read_lines(path):
        if word in lines:
            raise UserError(
                f"--words={path} has {word!r} in lines {lines[word]} and {number}; list each word "
                "once, in the order of the ids from 2."
            )
        lines[word] = number
    if not lines:
        raise UserError(f"--words={path} is empty; list the words of ids 2 and up, one a line.")
    return [*lines]


def _classes(config: ConfigDict) -> Sequence[str]:
    corpus = config.data.corpus
    if corpus not in _CLASSES or config.embedding.name != "words":
        raise UserError(
            f"--config: {config.name} has no network of the authors; choose a config of DiSAN or "
            f"ReSAN on {join_choices(_CLASSES)}."
        )
    return _CLASSES[corpus](config.data)


def _other_words(path: Optional[Path], known: list[str], config) -> dict[str, np.ndarray]:
    """Reads the vectors of the words that are not in the list."""
    if path is None:
        return {}
    listed, lowercase = {*known}, config.data.lowercase

    def is_other(word: str) -> bool:
        return word not in listed and not (lowercase and word != word.lower())

    return word_vectors.read(Path(path), config.embedding.dim, is_other).by_word


def _match(source: OfficialCheckpoint, model: SentenceModel, words: Path) -> dict[str, tf.Variable]:
    """Returns the weight of each variable; raises UserError unless they match one to one."""
    matched, found = {}, {}
    for name in source.shapes:
        try:
            matched[name] = weight_of(model, name)
        except ValueError:
            raise UserError(
                f"{source} has a variable {name}, and the config's model has no such weight; "
                f"{_NETWORKS}."
            ) from None
        other = found.setdefault(id(matched[name]), name)
        if other != name:
            raise UserError(
                f"{source} has two variables for one weight, {other} and {name}; choose a "
                "checkpoint of one network."
            )
    for weight in model.trainable_weights:
        if id(weight) not in found:
            name = spelling(model, weight, source.shapes)
            raise UserError(f"{source} lacks the variable {name}; {_NETWORKS}.")
    for name, weight in matched.items():
        _check_shape(source, name, weight, model, words)
    return matched


def _check_shape(source, name, weight, model, words) -> None:
    shape, wanted = source.shapes[name], tuple(weight.shape)
    if shape == wanted:
        return
    if weight is model.embedding.trained and shape[1:] == wanted[1:]:
        raise UserError(
            f"--words={words} has {wanted[0]:,} words, and {source} has vectors of {shape[0]:,}; "
            "list the words of ids 2 and up, without padding and unknown word."
        )
    raise UserError(
        f"{name} of {source} has the shape {shape}, and the config's model has {wanted}; set "
        f"{_SIZES} to the network's sizes, or {_NETWORKS}."
    )


def _save(model, config, words, sizes, classes, step, output: Path) -> None:
    """Writes the bundle in one renaming."""
    data = config.data
    tokenizer = {
        "lowercase": data.lowercase,
        "split_words": data.get("split_words", False),
        "empty_tokens": data.get("empty_tokens", False),
    }
    with scratch_folder(output) as scratch:
        source, new = scratch / "words", scratch / "new"
        source.mkdir()
        write_atomically(source / VOCABULARY, "".join(f"{word}\n" for word in words))
        corpus = Words(source, sizes, list(classes), {Keys.TOKENIZER: tokenizer})
        save_bundle(new, model, config, corpus, {"step": step})
        rename_whole(new, output)


def _parse(arguments: list[str]) -> flags.FlagValues:
    """Parses the command line and loads the config; raises UserError if that fails."""
    values = flags.FlagValues()
    for name, text in _FLAGS.items():
        flags.DEFINE_string(name, None, text, flag_values=values)
    config_flags.DEFINE_config_file("config", None, flag_values=values)
    import_configs()
    try:
        rest = values(arguments)
        config = values.config
    except Exception as error:  # a config is Python and can raise anything
        reason = " ".join(str(error).rsplit("Error: ", 1)[-1].split())[:300]
        raise UserError(f"{reason.rstrip('.')}; see --help.") from None
    if len(rest) > 1:
        raise UserError(f"{rest[1]} is not a flag; see --help.")
    for name in ("checkpoint", "words", "output"):
        if not values[name].value:
            raise UserError(f"--{name} is missing; see --help.")
    if not isinstance(config, ConfigDict):
        raise UserError(
            "--config is missing; name a config such as configs/disan_snli.py:official."
        )
    return values


def main(arguments: Sequence[str]) -> None:
    """Runs the command line and prints a summary."""
    arguments = [
        f"--config={find_config(each[len('--config=') :])}"
        if each.startswith("--config=")
        else each
        for each in arguments
    ]
    if {"--help", "-h"} & {*arguments}:
        print(__doc__, *(f"--{name}: {text}" for name, text in _FLAGS.items()), sep="\n")
        return
    given = _parse(arguments)
    vectors = Path(given.vectors) if given.vectors else None
    print(
        import_official(
            given.checkpoint, Path(given.words), given.config, Path(given.output), vectors
        )
    )


if __name__ == "__main__":
    sys.exit(exit_status(lambda: main(sys.argv)))
