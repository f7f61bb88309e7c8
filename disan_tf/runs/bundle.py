"""A trained model as a folder: all files that predictions need, and their digests.

    vocabulary.txt       words of ids 2 and up
    forms.tsv            stems and lemmas of words, for models that read word matches
    step-*.weights.h5    the weights, fixed vectors included; the name has step and digest
    model.json           format, the resolved config, classes, word counts, tokenizer, the
                         arguments of the biLM that feeds the model, scores, and the digests of the
                         other files

`model.json` is renamed last. The name of the weights contains the first digits of their digest, so
that new weights never overwrite older ones. If a save fails or its process is killed, the older or
the new bundle is complete. One case is not covered: if the vocabulary or the forms differ, a kill
between their renaming and the renaming of `model.json`, which follows at once, damages the older
bundle.
"""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import ml_collections
import tensorflow as tf

from disan_tf.common import atomic, files
from disan_tf.common.checks import join_choices, suggestion
from disan_tf.common.errors import UserError
from disan_tf.common.options import DTYPES
from disan_tf.common.schema import check_schema
from disan_tf.input_pipeline.corpus_format import Keys
from disan_tf.models.embeddings import EMBEDDINGS
from disan_tf.models.factory import build_model, count_parameters, encoder_class, memory_limit
from disan_tf.runs.recorded_config import CONFIG, VERSION_REMEDY, read_options
from disan_tf.runs.weight_files import REMEDY, read_weights, weights_as_hdf5
from disan_tf.text import TextToIds, TracedTextToIds
from disan_tf.text.lookup import VOCABULARY
from disan_tf.text.tokenizer import check_version, for_raw_text

FORMAT = 3
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_NO_POLICY = f"must be {join_choices(DTYPES)}, or name another dtype policy of Keras"
_SCHEMA = {
    "config": {**CONFIG, "dtype": str, "task": {"name": str}, "evaluate": dict},
    "name": str,
    "classes": [str],
    "words": [int],
    "tokenizer": {
        **{"name?": str, "raw_text?": str, "version?": int},
        **dict.fromkeys(("lowercase", "split_words", "empty_tokens"), bool),
    },
    "parameters": int,
    "bilm": (type(None), dict),
    "scores": {"step": int, "temperature?": float},
    "multi_label?": bool,
    "weights": str,
    "sha256": {str: str},
}


@dataclass
class Bundle:
    """A loaded model: folder, config, content of `model.json`, and the `SentenceModel`.

    `steps` caches the compiled evaluation steps by name.
    """

    directory: Path
    config: ml_collections.ConfigDict
    info: dict
    model: tf.keras.Model
    steps: dict = field(default_factory=dict, repr=False)

    @property
    def classes(self) -> list:
        """The class names in the order of the logits."""
        return self.info["classes"]

    @property
    def vocabulary(self) -> list:
        """The words in the order of their ids, from id 2."""
        lines = files.read_lines(self.directory / VOCABULARY, gzipped=False)
        return [word for _, word in lines]

    @property
    def tokenizer(self) -> dict:
        """The tokenizer of raw text: its name, see `for_raw_text`, its options and its version."""
        options = self.info["tokenizer"]
        name = for_raw_text(options.get("name", "treebank"), self.config.data.corpus)
        return {**options, "name": options.get("raw_text", name)}

    def text_to_ids(self) -> TextToIds:
        """Returns the look-up for raw text."""
        options, embedding = self.tokenizer, self.config.embedding
        return EMBEDDINGS[embedding.name].look_up(
            self.directory,
            embedding,
            self.info["bilm"],
            self.vocabulary,
            options["name"],
            options["lowercase"],
            options["split_words"],
            options["empty_tokens"],
            options["version"],
        )

    def traced_text_to_ids(self) -> TracedTextToIds:
        """Returns the look-up for raw text, compiled once for batches of any size."""
        return TracedTextToIds(self.text_to_ids())


def save_bundle(directory, model, config, corpus, scores: dict, precision: str = "float32") -> None:
    """Writes the bundle of a model trained on a prepared corpus; replaces an older bundle.

    `scores` are the model's step and dev scores. `precision` says how matrices are stored, see
    `disan_tf.runs.weight_files`; they are loaded as float32.
    """
    names = [VOCABULARY, *EMBEDDINGS[config.embedding.name].files]
    copied = {name: corpus.word_files[name] for name in names}
    info = {
        "config": config.to_dict(),
        "name": config.name,
        "classes": corpus.classes,
        "words": list(corpus.words),
        "tokenizer": corpus.manifest[Keys.TOKENIZER],
        "parameters": count_parameters(model),
        "bilm": model.embedding.bilm_options,
        "scores": scores,
    }
    write_bundle(directory, model, info, copied, precision)


def write_bundle(
    directory, model, info: dict, copied: Mapping[str, bytes], precision: str = "float32"
) -> None:
    """Writes a bundle, see `save_bundle`; replaces an older one.

    `info` is the content of `model.json` without the format, the weights and the digests; `copied`
    is the content of the other files by name, the vocabulary among them.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    weights = weights_as_hdf5(model, precision)
    digest = hashlib.sha256(weights).hexdigest()
    name = f"step-{info['scores']['step']:08d}-{digest[:12]}.weights.h5"
    digests = {name: digest}
    atomic.write_atomically(directory / name, weights)
    for other, content in copied.items():
        digests[other] = hashlib.sha256(content).hexdigest()
    written = {"format": FORMAT, **info, "weights": name, "sha256": digests}
    atomic.write_together(directory, {**copied, "model.json": atomic.to_json(written)})
    for old in directory.glob(f"step-{'[0-9]' * 8}*.weights.h5"):
        if old.name != name:
            old.unlink()
    atomic.sync(directory)  # the removals


def load_bundle(
    directory,
    attention_form: str = "auto",
    dtype: str = "float32",
    has_weights: bool = True,
    multi_label: bool = False,
) -> Bundle:
    """Loads and checks a bundle. If a biLM feeds its model, the model computes the layers.

    Args:
      directory: the folder of the bundle.
      attention_form: form of `disan_tf.ops.directional_attention`; exports need "saved".
      dtype: the Keras dtype policy in which the model computes, or its name. In float32, results
        differ by rounding between machines, whatever the dtype of the training; in bfloat16,
        probabilities differ by up to .02.
      has_weights: whether the weights are loaded; else they are drawn at random.
      multi_label: whether the caller can read a multi-label classifier.

    Raises:
      UserError: a file is missing or differs from its digest, the bundle has another format, its
        encoder does not exist, or the module of its encoder is not imported; or its texts have
        several classes.
    """
    directory = Path(directory)
    while True:
        info = read_info(directory)
        if info.get("multi_label") and not multi_label:
            raise UserError(
                f"{directory} holds a multi-label classifier; load it in Python with "
                f'disan_tf.TextClassifier.from_preset("{directory}").'
            )
        try:
            return _load(directory, info, attention_form, dtype, has_weights)
        except UserError:
            if read_info(directory) == info:  # no training has replaced the model meanwhile
                raise


def _load(directory, info, attention_form, dtype, has_weights) -> Bundle:
    check_digests(directory, info)
    path, count = directory / VOCABULARY, sum(info["words"])
    lines = files.read_lines(path, gzipped=False)
    words = [word for _, word in islice(lines, count + 1)]
    if len(words) != count or len({*words}) != count:
        raise UserError(f"{path} must have {count:,} different words, one a line; {REMEDY}.")
    config = ml_collections.ConfigDict(info["config"])
    path = directory / "model.json"
    if not _is_policy(config.dtype):
        raise UserError(f"{path}: config.dtype={config.dtype!r} {_NO_POLICY}; {REMEDY}.")
    name = getattr(dtype, "name", dtype)  # of a policy, or of TensorFlow's type
    if not _is_policy(name):
        raise ValueError(f"dtype={name!r} {_NO_POLICY}{suggestion(name, DTYPES)}")
    config.dtype = name
    config.lock()
    try:
        encoder_class(config.encoder.name)
    except ValueError as error:
        raise UserError(f"{path}: encoder.{error}") from None
    with memory_limit(copies=1):
        try:
            sizes = tuple(info["words"]), len(info["classes"])
            model = build_model(config, *sizes, attention_form, info["bilm"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"{path} describes no model ({reason}); {REMEDY}.") from None
    if has_weights:
        read_weights(model, directory / info["weights"])
    return Bundle(directory, config, info, model)


def _is_policy(name) -> bool:
    """Returns whether Keras has a dtype policy with this name."""
    try:
        tf.keras.mixed_precision.Policy(name)
    except (TypeError, ValueError):
        return False
    return True


def read_info(directory) -> dict:
    """Returns the content of `model.json`; UserError if it is damaged or of another format."""
    path = Path(directory) / "model.json"
    info = files.read_json(path, "name a directory that holds a trained model")
    files.check_format(path, info, FORMAT, VERSION_REMEDY)
    check_schema(path, info, _SCHEMA, REMEDY)
    info["config"] = read_options(path, info["config"], REMEDY)
    names = [*info["sha256"], info["weights"]]
    classes = info["classes"]
    if len(info["words"]) != 2 or min(info["words"]) < 0 or not classes:
        raise UserError(f"{path}: words and classes do not describe a model; {REMEDY}.")
    temperature = info["scores"].get("temperature", 1.0)
    if not 0 < temperature < math.inf:
        raise UserError(
            f"{path}: scores.temperature is {temperature} and must be a finite number above 0; "
            f"{REMEDY}."
        )
    if len({*classes}) != len(classes):
        raise UserError(f"{path}: classes has a name twice; {REMEDY}.")
    for key, name in (("config.name", info["config"]["name"]), ("name", info["name"])):
        if not NAME.fullmatch(name):
            raise UserError(
                f"{path}: {key}={name!r} may contain only ASCII letters, digits, - and _; {REMEDY}."
            )
    tokenizer = info["tokenizer"]
    tokenizer.setdefault("version", 1)  # older classifiers record none
    try:
        check_version(tokenizer.get("name", "treebank"), tokenizer["version"])
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    if info["weights"] not in info["sha256"] or any(Path(name).name != name for name in names):
        raise UserError(f"{path}: sha256 must name files of the folder, with weights; {REMEDY}.")
    return info


def read_files(bundle: Bundle) -> dict[str, bytes]:
    """Returns the content of a bundle's files by name, unless one changed since it was loaded."""
    if read_info(bundle.directory) != bundle.info:
        raise UserError(f"{bundle.directory} changed after its model was loaded; load it again.")
    check_digests(bundle.directory, bundle.info)
    names = ["model.json", *bundle.info["sha256"]]
    return {name: (bundle.directory / name).read_bytes() for name in names}


def check_digests(directory: Path, info: dict) -> None:
    """Raises UserError for the first file that is missing or differs from its digest."""
    for name, digest in info["sha256"].items():
        path = Path(directory) / name
        if not path.is_file():
            raise UserError(f"{path} is missing; {REMEDY}.")
        actual = files.sha256(path)
        if actual != digest:
            raise UserError(
                f"{path} has SHA-256 {actual[:12]}..., model.json says {digest[:12]}...: the file "
                f"is damaged or was changed; {REMEDY}."
            )
