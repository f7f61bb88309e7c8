"""Sentences Involving Compositional Knowledge (Marelli et al. 2014), the files of SemEval-2014.

An example has two raw sentences and a score from 1 to 5, the relatedness of their meanings. Another
edition lacks some of the pairs; the papers use SemEval's edition. The later release, one file with
a column of the splits, is read where SemEval's three files are absent.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Optional

from data_prep.corpora.corpus import Corpus, Example
from data_prep.corpora.official_files import find, restore
from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.common.checks import join_choices
from disan_tf.common.errors import UserError
from disan_tf.text.table_files import check_name, read_rows

FILES = {
    "train": "sick/SICK_train.txt",
    "dev": "sick/SICK_trial.txt",
    "test": "sick/SICK_test_annotated.txt",
}
LATER_FILE, SPLIT = "sick/SICK.txt", "SemEval_set"
SETS = {"train": "TRAIN", "dev": "TRIAL", "test": "TEST"}  # in the column SPLIT
OFFICIAL_PAIRS = {"train": 4500, "dev": 500, "test": 4927}
OTHER_EDITION_PAIRS = {"train": 4439, "dev": 495, "test": 4906}
DIFFERENCE = "{corpus} {split} has {read:,} {unit}; the split of SemEval-2014 has {expected:,}."
OTHER_EDITION = (
    "{corpus} {split} has {read:,} {unit}: it is of another edition (Zenodo 2787612), and scores "
    "on it do not compare with the papers'; the split of SemEval-2014 has {expected:,}."
)
COLUMNS = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score")
CLASSES = ("1", "2", "3", "4", "5")
RESTORE = restore("sick")


def check_options(tokenizer: str) -> None:
    """Raises ValueError for a tokenizer of another kind of text."""
    if tokenizer != "treebank":
        raise ValueError(
            f"tokenizer={tokenizer} does not fit the raw sentences of SICK; use treebank."
        )


CHECKS = (check_options,)
FIELDS = ("sentence_a", "sentence_b")
SPLITS = ("train", "dev", "test")


def files(data_dir: Path, options) -> list[Path]:
    """Returns the file of each split, or the later release; raises UserError if one is missing."""
    return list(dict.fromkeys(_find(data_dir, SPLITS).values()))


def read(data_dir: Path, options, splits: Sequence[str] = SPLITS) -> Corpus:
    """Reads SICK.

    Args:
      data_dir: folder that holds `sick/SICK_{train,trial,test_annotated}.txt`, or `sick/SICK.txt`.
      options: has `tokenizer` ("treebank": the sentences are raw).
      splits: the splits to read.

    Raises:
      UserError: a missing file, or malformed data (names file and line).
    """
    paths = _find(data_dir, splits)
    tokenizer = SentenceTokenizer.of(options)
    inputs = list(dict.fromkeys(paths.values()))
    corpus = Corpus("sick", FIELDS, CLASSES, {}, {}, inputs, unit="pairs", scores=True)
    for split, path in paths.items():
        corpus.splits[split] = _read_split(path, split, tokenizer)
        pairs = len(corpus.splits[split])
        difference = OTHER_EDITION if pairs == OTHER_EDITION_PAIRS[split] else DIFFERENCE
        file = None if path.name == Path(LATER_FILE).name else path
        expected = OFFICIAL_PAIRS[split]
        corpus.count(split, pairs, expected, difference, file=file, dropped={}, kept=pairs)
    return corpus


def _find(data_dir: Path, splits: Sequence[str]) -> dict[str, Path]:
    """Finds the files of splits, which are one file in the later release."""
    data_dir = Path(data_dir)
    later = data_dir / LATER_FILE
    if later.is_file() and not any((data_dir / name).is_file() for name in FILES.values()):
        return dict.fromkeys(splits, later)
    return find(data_dir, "SICK", {split: FILES[split] for split in splits})


def _rows(path: Path, split: str) -> Iterator[tuple[str, str, str, float]]:
    """Yields the pair_ID, the sentences and the score of every row of a split."""
    is_later = path.name == Path(LATER_FILE).name

    def convert_split(row: dict) -> Optional[tuple[tuple[str, str, str, float]]]:
        if is_later and row[SPLIT] not in SETS.values():
            raise ValueError(f"{SPLIT} {row[SPLIT][:40]!r} is not {join_choices(SETS.values())}")
        return None if is_later and row[SPLIT] != SETS[split] else (_convert(row),)

    names = dict.fromkeys([*COLUMNS, SPLIT] if is_later else COLUMNS, "")
    return chain.from_iterable(filter(None, read_rows(path, names, convert_split, RESTORE)))


def _read_split(path: Path, split: str, tokenizer: SentenceTokenizer) -> list[Example]:
    rows = list(_rows(path, split))
    if not rows:
        raise UserError(f"{path} contains no pair of the {split} split; {RESTORE}.")
    names, first, second, scores = zip(*rows)
    sentences = tokenizer(first + second)
    return list(map(Example, names, zip(sentences, sentences[len(rows) :]), scores))


def _convert(row: dict) -> tuple[str, str, str, float]:
    """Returns a row's pair_ID, sentences and score; raises ValueError with the reason."""
    name, first, second, value = (row[column] for column in COLUMNS)
    check_name("pair_ID", name)
    try:
        score = float(value)
    except ValueError:
        raise ValueError(f"relatedness_score {value[:40]!r} is not a number") from None
    if not 1 <= score <= 5:
        raise ValueError(f"relatedness_score {value} is not between 1 and 5")
    return name, first, second, score
