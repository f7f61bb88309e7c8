"""A trained model as a folder: everything that an answer needs, and digests of it.

    config.json          the resolved config
    vocabulary.txt       words of ids 2 and up
    forms.tsv            stems and lemmas of words, for models that read which words match
    <name>.weights.h5    the weights, fixed vectors included
    model.json           format, classes, word counts, tokenizer, the arguments of the biLM that
                         feeds the model, scores, and the digests of the others

`model.json` is written last and by rename, so a folder always describes files that are whole.
"""

from dataclasses import dataclass
from pathlib import Path

import h5py
import ml_collections
import numpy as np
import tensorflow as tf

from disan_tf.errors import UserError
from disan_tf.files import check_format, read_json, read_lines, sha256, write_atomically, write_json
from disan_tf.input_pipeline.format import FORMS, VOCABULARY, Keys
from disan_tf.models.factory import build_model, count_parameters, encoder_class
from disan_tf.text import TextToCharacters, TextToIds, TextToPairFeatures, WordForms
from disan_tf.text.word_forms import read_forms
from disan_tf.training.work_directory import OTHER_VERSION

FORMAT = 2


@dataclass
class Bundle:
    """A loaded model.

    Attributes:
      directory: where it lies.
      config: its config.
      info: the contents of `model.json`.
      model: the `SentenceModel`.
    """

    directory: Path
    config: ml_collections.ConfigDict
    info: dict
    model: tf.keras.Model

    @property
    def classes(self) -> list:
        """Class names in the order of the logits."""
        return self.info["classes"]

    @property
    def vocabulary(self) -> list:
        """Words in the order of their ids, from id 2."""
        return [word for _, word in read_lines(self.directory / VOCABULARY)]

    def text_to_ids(self) -> TextToIds:
        """The look-up for raw text, which is tokenised as the treebanks are, escapes included."""
        options = self.info["tokenizer"]
        return _LOOKUPS[self.config.embedding.name](
            self, self.vocabulary, "treebank", options["lowercase"], options["split_words"],
            options["empty_tokens"],
        )  # fmt: skip


def _look_up_ids(bundle, *arguments):
    return TextToIds(*arguments)


def _look_up_pair_features(bundle, *arguments):
    forms = WordForms(read_forms(bundle.directory / FORMS))
    word_length = bundle.config.embedding.word_length
    return TextToPairFeatures(*arguments, forms=forms, word_length=word_length)


def _look_up_characters(bundle, *arguments):
    return TextToCharacters(*arguments, word_length=bundle.info["bilm"]["word_length"])


_LOOKUPS = {  # by config.embedding.name, of models that answer text
    "words": _look_up_ids,
    "characters": _look_up_pair_features,
    "elmo": _look_up_characters,
}
_FILES = {"characters": [FORMS]}  # of the prepared corpus, besides the vocabulary


def save_bundle(directory, model, config, corpus, scores: dict, halve: bool = False) -> None:
    """Writes the bundle of a model that was trained on `corpus`, replacing an older one.

    Args:
      directory: the folder; made when absent.
      model: the `SentenceModel`.
      config: its config.
      corpus: the `PreparedCorpus`.
      scores: what is known of the model: step and dev scores.
      halve: whether matrices, word vectors among them, are stored in half precision, in less than
        half of the space; they are float32 again once they are loaded.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    weights = directory / f"step-{scores['step']:08d}.weights.h5"
    temporary = weights.with_name(f".{weights.name.split('.')[0]}.tmp.weights.h5")
    model.save_weights(temporary)
    if halve:
        _halve(temporary)
    temporary.rename(weights)
    write_json(directory / "config.json", config.to_dict())
    copied = [VOCABULARY, *_FILES.get(config.embedding.name, [])]
    for name in copied:
        write_atomically(directory / name, (corpus.directory / name).read_bytes())
    files = ["config.json", *copied, weights.name]
    info = {
        "format": FORMAT,
        "name": config.name,
        "classes": corpus.classes,
        "words": list(corpus.words),
        "tokenizer": corpus.manifest[Keys.TOKENIZER],
        "parameters": count_parameters(model),
        "bilm": model.embedding.bilm_options,
        "scores": scores,
        "weights": weights.name,
        "sha256": {name: sha256(directory / name) for name in files},
    }
    write_json(directory / "model.json", info)
    for old in directory.glob("*.weights.h5"):
        if old != weights:
            old.unlink()


def _halve(path: Path) -> None:
    """Rewrites a file of weights with all matrices as float16, compressed."""
    whole = path.with_name(f"{path.name}.float32")
    path.rename(whole)

    def copy(name, item):
        if isinstance(item, h5py.Group):
            copied = target.require_group(name)
        elif item.ndim == 2 and item.dtype == np.float32:
            content = item[()].astype(np.float16)
            copied = target.create_dataset(name, data=content, compression="gzip", shuffle=True)
        else:
            copied = target.create_dataset(name, data=item[()])
        copied.attrs.update(item.attrs)

    with h5py.File(whole) as source, h5py.File(path, "w") as target:
        target.attrs.update(source.attrs)
        source.visititems(copy)
    whole.unlink()


def load_bundle(directory, attention_form: str = "auto") -> Bundle:
    """Loads and checks a bundle. Its model computes the layers of its biLM, if it has one.

    Args:
      directory: the folder.
      attention_form: form of `disan_tf.ops.directional_attention`; exports need "plain".

    Raises:
      UserError: a file is missing or differs from its digest, the bundle has another format, or its
        encoder is of a module that is not here.
    """
    directory = Path(directory)
    info = read_info(directory)
    check_digests(directory, info)
    config = ml_collections.ConfigDict(read_json(directory / "config.json", "train again")).lock()
    try:
        encoder_class(config.encoder.name)
    except ValueError as error:
        raise UserError(f"{directory / 'config.json'}: encoder.{error}") from None
    model = build_model(
        config, tuple(info["words"]), len(info["classes"]), attention_form, info["bilm"]
    )
    model.load_weights(directory / info["weights"])
    return Bundle(directory, config, info, model)


def read_info(directory) -> dict:
    """The contents of `model.json`.

    Raises:
      UserError: it is missing, damaged, or of another format.
    """
    path = Path(directory) / "model.json"
    info = read_json(path, "name a directory that holds a trained model")
    check_format(path, info, FORMAT, OTHER_VERSION)
    return info


def check_digests(directory: Path, info: dict) -> None:
    """Raises UserError for the first file that is missing or is not the one that was saved."""
    for name, digest in info["sha256"].items():
        path = Path(directory) / name
        if not path.is_file():
            raise UserError(f"{path} is missing; restore it or train the model again.")
        actual = sha256(path)
        if actual != digest:
            raise UserError(
                f"{path} has SHA-256 {actual[:12]}..., model.json says {digest[:12]}...: the file "
                "is damaged or was changed; restore it or train the model again."
            )
