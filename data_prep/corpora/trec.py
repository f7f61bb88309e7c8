"""TREC question types (Li and Roth 2002): the kind of answer that a question asks for.

The questions are tokenised. There is no official dev split; a seeded part of the training questions
replaces it.
"""

from collections.abc import Sequence
from pathlib import Path

from data_prep.corpora import held_out
from data_prep.corpora.corpus import Corpus, Example
from data_prep.corpora.held_out import hold_out_dev
from data_prep.corpora.official_files import find, restore
from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.common.checks import check_choice
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_lines

FILES = {"train": "trec/train_5500.label", "test": "trec/TREC_10.label"}
OFFICIAL_QUESTIONS = {"train": 5452, "test": 500}
COARSE = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
FINE = {
    "ABBR": "abb exp",
    "DESC": "def desc manner reason",
    "ENTY": "animal body color cremat currency dismed event food instru lang letter other plant "
    "product religion sport substance symbol techmeth termeq veh word",
    "HUM": "desc gr ind title",
    "LOC": "city country mount other state",
    "NUM": "code count date dist money ord other perc period speed temp volsize weight",
}
CLASSES = {
    6: COARSE,
    50: tuple(f"{coarse}:{fine}" for coarse in COARSE for fine in FINE[coarse].split()),
}
RESTORE = restore("trec")


def check_options(classes: int) -> None:
    """Checks `classes`; raises ValueError for another number of classes than 6 or 50."""
    check_choice("classes", classes, CLASSES)


CHECKS = (check_options, held_out.check_options)
FIELDS = ("sentence",)
SPLITS = ("train", "dev", "test")


def files(data_dir: Path, options) -> list[Path]:
    """Returns the file of each official split; raises UserError if one is missing."""
    return list(_find(data_dir, SPLITS).values())


def read(data_dir: Path, options, splits: Sequence[str] = SPLITS) -> Corpus:
    """Reads TREC.

    Args:
      data_dir: folder that holds `trec/train_5500.label` and `trec/TREC_10.label`.
      options: has `classes` (6 coarse or 50 fine ones), `dev_share` (the part of the training
        questions, stratified by class, that selects the model), `split_seed` (decides which
        questions are in that part), and `tokenizer` ("whitespace": the questions are tokenised).
      splits: the splits to read; "train" and "dev" are read together.

    Raises:
      UserError: a missing file, or malformed data (names file and line).
    """
    paths = _find(data_dir, splits)
    inputs = list(paths.values())
    corpus = Corpus("trec", FIELDS, CLASSES[options.classes], {}, {}, inputs, unit="questions")
    for part, path in paths.items():
        questions, parts = _read_file(path, part, options), {}
        corpus.splits[part] = questions
        if part == "train":
            corpus.splits["train"], corpus.splits["dev"] = hold_out_dev(questions, options)
            parts = {"for dev": len(corpus.splits["dev"])}
        expected, kept = OFFICIAL_QUESTIONS[part], len(corpus.splits[part])
        corpus.count(part, len(questions), expected, file=path, **parts, dropped={}, kept=kept)
    return corpus


def _find(data_dir: Path, splits: Sequence[str]) -> dict[str, Path]:
    parts = {"test" if split == "test" else "train" for split in splits}
    return find(Path(data_dir), "TREC", {part: FILES[part] for part in FILES if part in parts})


def _read_file(path: Path, split: str, options) -> list[Example]:
    """Reads one question a line, `COARSE:fine question`; blank lines are skipped."""
    names, labels, texts = [], [], []
    for number, line in read_lines(path, "latin-1"):
        if line.strip():
            label, _, text = line.partition(" ")
            names.append(f"{split}-{number}")
            labels.append(_label(label, options.classes, path, number))
            texts.append(text)
    if not names:
        raise UserError(f"{path} contains no question; {RESTORE}.")
    tokens = SentenceTokenizer.of(options)(texts)
    return list(map(Example, names, zip(tokens), labels))


def _label(name: str, classes: int, path: Path, number: int) -> int:
    """Returns a fine class name's label; checks the name even where the coarse part suffices."""
    if name not in CLASSES[50]:
        raise UserError(
            f"{path}, line {number}: {name!r} is not one of TREC's 50 classes, such as "
            f"{CLASSES[50][0]}; {RESTORE}."
        )
    return CLASSES[classes].index(name if classes == 50 else name.partition(":")[0])
