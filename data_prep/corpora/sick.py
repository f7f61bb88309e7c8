"""Sentences Involving Compositional Knowledge (Marelli et al. 2014), the files of SemEval-2014.

An example is two raw sentences and how related their meanings are, a score from 1 to 5. Another
edition lacks some of the pairs; the papers score on SemEval's.
"""

from collections.abc import Iterator
from pathlib import Path

from data_prep.corpora.corpus import Corpus, Example
from data_prep.corpora.official_files import find
from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.errors import UserError
from disan_tf.files import read_lines

FILES = {
    "train": "sick/SICK_train.txt",
    "dev": "sick/SICK_trial.txt",
    "test": "sick/SICK_test_annotated.txt",
}
OFFICIAL_PAIRS = {"train": 4500, "dev": 500, "test": 4927}
OTHER_EDITION_PAIRS = {"train": 4439, "dev": 495, "test": 4906}
DIFFERENCE = "{corpus} {split} has {read:,} {unit}; the split of SemEval-2014 has {expected:,}."
OTHER_EDITION = (
    "{corpus} {split} has {read:,} {unit}: it is of another edition (Zenodo 2787612), on which "
    "scores do not compare with the papers'; the split of SemEval-2014 has {expected:,}."
)
COLUMNS = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score")
CLASSES = ("1", "2", "3", "4", "5")
RESTORE = "restore the official file with python -m data_prep.download sick"


def check_options(tokenizer: str) -> None:
    """The option of `read`; raises ValueError for a tokenizer of another kind of text."""
    if tokenizer != "treebank":
        raise ValueError(
            f"tokenizer={tokenizer} does not fit the raw sentences of SICK; use treebank."
        )


def read(data_dir: Path, options) -> Corpus:
    """Reads SICK.

    Args:
      data_dir: folder that holds `sick/SICK_{train,trial,test_annotated}.txt`.
      options: has `tokenizer` ("treebank": the sentences are raw).

    Raises:
      UserError: a missing file, or malformed data (names file and line).
    """
    paths = find(Path(data_dir), "SICK", FILES)
    tokenizer = SentenceTokenizer(options.tokenizer)
    fields = ("sentence_a", "sentence_b")
    inputs = list(paths.values())
    corpus = Corpus("sick", fields, CLASSES, {}, {}, inputs, unit="pairs", scores=True)
    for split, path in paths.items():
        corpus.splits[split] = _read_split(path, tokenizer)
        pairs = len(corpus.splits[split])
        difference = OTHER_EDITION if pairs == OTHER_EDITION_PAIRS[split] else DIFFERENCE
        corpus.count(split, pairs, OFFICIAL_PAIRS[split], difference, dropped={}, kept=pairs)
    return corpus


def _read_split(path: Path, tokenizer: SentenceTokenizer) -> list[Example]:
    rows = list(_rows(path))
    if not rows:
        raise UserError(f"{path} holds no pair; {RESTORE}.")
    names, first, second, scores = zip(*rows)
    sentences = tokenizer(first + second)
    return list(map(Example, names, zip(sentences, sentences[len(rows) :]), scores))


def _rows(path: Path) -> Iterator[tuple[str, str, str, float]]:
    """Yields pair_ID, both sentences and the score of each line that is not blank."""
    columns = None
    for number, line in read_lines(path):
        if not line.strip():
            continue
        fields = line.split("\t")
        try:
            if columns:
                yield _row(fields, columns)
            else:
                columns = {name: position for position, name in enumerate(fields)}
                _check_columns(columns)
        except ValueError as error:
            raise UserError(f"{path}, line {number}: {error}; {RESTORE}.") from None


def _check_columns(columns: dict[str, int]) -> None:
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise ValueError(f"the header names no column {' and no '.join(missing)}")


def _row(fields: list[str], columns: dict[str, int]) -> tuple[str, str, str, float]:
    """Raises ValueError with what is wrong."""
    if len(fields) != len(columns):
        raise ValueError(f"{len(fields)} fields instead of the {len(columns)} of the header")
    name, first, second, value = (fields[columns[column]] for column in COLUMNS)
    try:
        score = float(value)
    except ValueError:
        raise ValueError(f"relatedness_score {value!r} is not a number") from None
    if not 1 <= score <= 5:
        raise ValueError(f"relatedness_score {value} is not between 1 and 5")
    return name, first, second, score
