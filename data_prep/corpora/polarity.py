"""Three corpora with two classes, tokenised, in Latin-1: CR, MPQA and SUBJ.

CR (Hu and Liu 2004): product reviews, negative or positive; MPQA (Wiebe et al. 2005): phrases of
news, negative or positive; SUBJ (Pang and Lee 2004): sentences of film reviews and plots,
subjective or objective. None has official splits: scores are means over the test parts of a
cross-validation.

Some sentences of CR and MPQA have no words. The papers' figures count these sentences, and also the
blank last line of the positive sentences, which the `.all` files lack.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from data_prep.corpora import held_out
from data_prep.corpora.corpus import Corpus, Example
from data_prep.corpora.held_out import divide, fold_numbers, hold_out_dev
from data_prep.corpora.official_files import absent, restore
from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.common.checks import check_at_least
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_lines

# The last three are in the official archive, unpacked into the first.
FOLDERS = ("polarity", "polarity/data/customerr", "polarity/data/mpqa", "polarity/data/subj")

DIFFERENCE = "{corpus} has {read:,} {unit}; the papers count {expected:,}, blank ones included."
RESTORE = restore("polarity")


class Source(NamedTuple):
    """A corpus' files and figures.

    Attributes:
      stem: the name of its files without suffix.
      classes: class names; class k has the label k in the `.all` file.
      suffixes: suffixes of the files that hold one class each, in the order of `classes`.
      sentences: the official number of sentences.
    """

    stem: str
    classes: tuple[str, str]
    suffixes: tuple[str, str]
    sentences: int


NEGATIVE_POSITIVE = ("negative", "positive")
SUBJECTIVE_OBJECTIVE = ("subjective", "objective")
SOURCES = {
    "cr": Source("custrev", NEGATIVE_POSITIVE, ("neg", "pos"), 3775),
    "mpqa": Source("mpqa", NEGATIVE_POSITIVE, ("neg", "pos"), 10_606),
    "subj": Source("subj", SUBJECTIVE_OBJECTIVE, SUBJECTIVE_OBJECTIVE, 10_000),
}


def check_options(folds: int, fold: int) -> None:
    """Checks `folds` and `fold`; raises ValueError for impossible values."""
    check_at_least("folds", folds, 2)
    if not 0 <= fold < folds:
        raise ValueError(f"fold={fold} is not one of the {folds} folds; use 0 to {folds - 1}.")


CHECKS = (check_options, held_out.check_options)
FIELDS = ("sentence",)
SPLITS = ("train", "dev", "test")


def files(data_dir: Path, options) -> list[Path]:
    """Returns the file with both classes, or a file for each class, in the order of the classes.

    Raises:
      UserError: there is neither.
    """
    name, source, data_dir = options.corpus, SOURCES[options.corpus], Path(data_dir)
    whole = data_dir / f"polarity/{source.stem}.all"
    if whole.is_file():
        return [whole]
    for folder in FOLDERS:
        pair = [data_dir / folder / f"{source.stem}.{suffix}" for suffix in source.suffixes]
        if all(path.is_file() for path in pair):
            return pair
    stem, suffixes = f"polarity/{source.stem}", " and .".join(source.suffixes)
    reason = f"there is no {stem}.all and no {stem}.{suffixes}"
    raise absent(data_dir, name.upper(), reason, "polarity")


def read(data_dir: Path, options) -> Corpus:
    """Reads one of the three corpora, divided for one fold of a cross-validation.

    Args:
      data_dir: folder that holds `polarity/<stem>.all` (`label text`), or in one of `FOLDERS` the
        two files `<stem>.<suffix>` (`text`).
      options: has `corpus` ("cr", "mpqa" or "subj"), `folds`, `fold` (the test part, counted from
        0), `dev_share` (the share of the other folds that selects the model), `split_seed`
        (decides both divisions, which are stratified by class), and `tokenizer` ("whitespace": the
        sentences are tokenised).

    Raises:
      UserError: more folds than a class has sentences, a missing file, or malformed data (names
        file and line).
    """
    name, source = options.corpus, SOURCES[options.corpus]
    paths = files(data_dir, options)
    examples = _read_files(paths, name, source, options)
    splits = _split(examples, options)
    corpus = Corpus(name, FIELDS, source.classes, splits, {}, paths, unit="sentences")
    parts = {f"for {split}": len(splits[split]) for split in ("dev", "test")}
    corpus.count(
        "train",
        len(examples),
        source.sentences,
        DIFFERENCE,
        **parts,
        dropped={},
        kept=len(splits["train"]),
    )
    return corpus


def _split(examples: list[Example], options) -> dict[str, list[Example]]:
    """Divides examples into the splits of one fold."""
    labels = [example.label for example in examples]
    smallest = min(map(labels.count, range(2)))
    if options.folds > smallest:
        raise UserError(
            f"--config.data.folds={options.folds} is more than the {smallest:,} sentences of the "
            "smaller class; use fewer."
        )
    folds = fold_numbers(labels, options.folds, options.split_seed)
    others, test = divide(examples, folds == options.fold)
    train, dev = hold_out_dev(others, options)
    return {"train": train, "dev": dev, "test": test}


def _read_files(paths: list[Path], name: str, source: Source, options) -> list[Example]:
    if len(paths) == 1:
        rows = list(_labeled_rows(paths[0], name, source))
    else:
        rows = [
            (f"{name}-{suffix}-{number}", label, line)
            for label, (suffix, path) in enumerate(zip(source.suffixes, paths))
            for number, line in read_lines(path, "latin-1")
        ]
    if not rows:
        raise UserError(f"{paths[0]} contains no sentence; {RESTORE}.")
    names, labels, texts = zip(*rows)
    tokens = SentenceTokenizer.of(options)(texts)
    return list(map(Example, names, zip(tokens), labels))


def _labeled_rows(path: Path, name: str, source: Source) -> Iterator[tuple[str, int, str]]:
    """Yields the example id, label and text in each line `label text` that is not blank."""
    for number, line in read_lines(path, "latin-1"):
        label, _, text = line.partition(" ")
        if label in ("0", "1"):
            yield f"{name}-{number}", int(label), text
        elif line.strip():
            raise UserError(
                f"{path}, line {number}: {label[:40]!r} is not the label 0 ({source.classes[0]}) "
                f"or 1 ({source.classes[1]}); {RESTORE}."
            )
