"""A user's own data: tables with one or two texts, and a class or a score, in each row.

A table is a `.csv` file, a `.jsonl` file with one JSON object a line, or else a file with tabs
between columns, in which quotes are plain characters. It is in UTF-8, and its first line names the
columns.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Union

from data_prep.corpora.corpus import Corpus, Example
from data_prep.corpora.held_out import divide, fold_numbers, held_out
from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.common.errors import UserError
from disan_tf.common.options import check_at_least, suggestion
from disan_tf.text.tables import check_name, read_rows

NO_FOLD = -1  # `test_share` draws the test part
MOST_CLASSES = 1000  # a column with more distinct labels does not hold classes
FEW_ROWS = 20  # in a longer table labels that are all different are no classes
AMONG = " among the columns {columns}"
REMEDY = "correct the table, or name its columns with --config.data.{text,second_text,label,score}"


def check_options(
    train: str,
    dev: str,
    test: str,
    dev_share: float,
    test_share: float,
    split_seed: int,
    text: str,
    second_text: str,
    label: str,
    score: str,
    example_id: str,
    classes: Sequence[str],
    lowest: int,
    highest: int,
    folds: int = 10,
    fold: int = NO_FOLD,
) -> None:
    """Checks the options of `read`; raises ValueError for options that do not fit together."""
    if not train:
        raise ValueError("train is empty; name the table of training examples, e.g. reviews.csv.")
    if not text:
        raise ValueError("text is empty; name the column of the text.")
    if bool(label) == bool(score):
        raise ValueError(f"label={label!r} and score={score!r}: name one of these columns.")
    if score and not second_text:
        raise ValueError(f"second_text is empty; a score, {score}, is one of two texts.")
    if len(set(classes)) != len(classes) or len(classes) == 1:
        raise ValueError(f"classes={classes} must be () or at least two different names.")
    if not lowest < highest:
        raise ValueError(f"lowest={lowest} must be below --config.data.highest={highest}.")
    drawn = (0 if dev else dev_share) + (0 if test else test_share)
    if min(dev_share, test_share) < 0 or drawn >= 1 or not (dev or dev_share):
        raise ValueError(
            f"dev_share={dev_share} and --config.data.test_share={test_share} must leave examples "
            "to train on and, without --config.data.dev, examples that choose the model."
        )
    check_at_least("split_seed", split_seed, 0)
    check_at_least("folds", folds, 2)
    if not NO_FOLD <= fold < folds:
        raise ValueError(f"fold={fold} is not one of the {folds} folds; use 0 to {folds - 1}.")
    if fold != NO_FOLD and test:
        raise ValueError(
            f"fold={fold} replaces the test part, so leave --config.data.test={test} out."
        )


def text_fields(options) -> tuple[str, ...]:
    """Returns the names of an example's texts, as the model for the task reads them."""
    if not options.second_text:
        return ("sentence",)
    return ("sentence_a", "sentence_b") if options.score else ("premise", "hypothesis")


def split_names(options) -> tuple[str, ...]:
    """Returns the names of the splits; "test" exists if it has a file, a share or a fold."""
    has_test = options.test or options.test_share or _fold(options) != NO_FOLD
    return ("train", "dev", "test") if has_test else ("train", "dev")


CHECKS, FIELDS, SPLITS = (check_options,), text_fields, split_names


def files(data_dir: Path, options) -> list[Path]:
    """Returns the tables in the options, the training table first.

    Raises:
      UserError: a table is missing.
    """
    return list(_find(data_dir, options).values())


def read(data_dir: Path, options) -> Corpus:
    """Reads tables.

    Args:
      data_dir: the folder that holds the tables.
      options: has `train`, `dev` and `test`, the names of the tables (or their absolute paths).
        Where `dev` or `test` is "", it is replaced by `dev_share` or `test_share` of the training
        examples, stratified by class; `split_seed` decides which examples. Part `fold` of `folds`
        equal parts replaces `test_share`, unless it is absent or -1. `text`, `second_text`
        ("" = there is one text), `label` or `score`, and `example_id` ("" = the line number) name
        columns. `classes` has the classes in order; () = the training table's labels, in
        alphabetical order, or in numerical order if all are numbers. Scores lie between `lowest`
        and `highest`; the points of the scale are the whole numbers between them. `tokenizer`
        names the tokenizer.

    Raises:
      UserError: a missing table or column, a malformed row, a label that the training table lacks,
        a score outside its scale (names file, line and column).
    """
    classes, rows, files_read = tuple(options.classes), {}, _find(data_dir, options)
    for split, path in files_read.items():
        rows[split] = _read_file(path, split, options, classes)
        if not options.score and not classes:
            classes = _classes(path, options, rows[split])
    counts = {split: len(read) for split, read in rows.items()}
    parts = _draw_parts(rows, options)
    for split in split_names(options):
        if not parts[split]:
            raise _too_few(files_read["train"], split, rows["train"])
    if options.score:
        classes = tuple(map(str, range(options.lowest, options.highest + 1)))
    tokenizer = SentenceTokenizer(options.tokenizer)
    corpus = Corpus("table", text_fields(options), classes, {}, {}, list(files_read.values()))
    corpus.unit, corpus.scores = "rows", bool(options.score)
    for split in split_names(options):
        corpus.splits[split] = _examples(parts[split], classes, tokenizer)
        kept, read = len(parts[split]), counts.get(split, len(parts[split]))
        held_out = {"held out for other parts": read - kept} if read > kept else {}
        corpus.count(split, read, **held_out, dropped={}, kept=kept)
    return corpus


class _Row(NamedTuple):
    name: str
    texts: tuple[str, ...]
    target: Union[str, float]  # a label, or a score


def _find(data_dir: Path, options) -> dict[str, Path]:
    """Finds the tables: split -> path."""
    names = {"train": options.train, "dev": options.dev, "test": options.test}
    paths = {split: Path(data_dir) / name for split, name in names.items() if name}
    for split, path in paths.items():
        if not path.is_file():
            beside = [other.name for other in path.parent.glob("*") if other.is_file()]
            raise UserError(
                f"{path} is not a file; --config.data.{split} names the table of the {split} part, "
                f"below --data_dir{suggestion(path.name, beside)}"
            )
    return paths


def _read_file(path: Path, split: str, options, classes: Sequence[str]) -> list[_Row]:
    """Reads a table's rows; `classes` are the allowed labels, () = any."""
    texts = [name for name in (options.text, options.second_text) if name]
    target = options.score or options.label
    columns = dict.fromkeys([*texts, target, *filter(None, [options.example_id])], AMONG)

    def convert(row: dict) -> tuple:
        value = _score(row, options) if options.score else _label(row, options.label, classes)
        name = str(row[options.example_id]) if options.example_id else ""
        check_name(options.example_id, name)
        return name, tuple(row[text] for text in texts), value

    read = read_rows(path, columns, convert, REMEDY, strings=texts)
    rows = [
        _Row(name or f"{split}-{number}", sentences, value)
        for number, (name, sentences, value) in enumerate(read, start=1)
    ]
    if not rows:
        raise UserError(f"{path} holds no row; the first line of a table names its columns.")
    return rows


def _label(row: dict, column: str, classes: Sequence[str]) -> str:
    """Returns a row's label; raises ValueError if it is empty or not in `classes`."""
    label = row[column]
    if isinstance(label, (dict, list)) or label is None:
        raise ValueError(f"{column} is neither a string nor a number")
    label = str(label).strip()
    if not label:
        raise ValueError(f"{column} is empty")
    check_name(column, label)
    if classes and label not in classes:
        raise ValueError(
            f"{column} {label[:40]!r} is not one of the {len(classes)} classes, such as "
            f"{classes[0]!r}"
        )
    return label


def _score(row: dict, options) -> float:
    """Returns a row's score; raises ValueError if it is no number, or not on the scale."""
    value = row[options.score]
    try:
        score = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        score = math.nan
    if not options.lowest <= score <= options.highest:
        raise ValueError(
            f"{options.score} {str(value)[:40]!r} is not a number between {options.lowest} and "
            f"{options.highest} (--config.data.lowest, highest)"
        )
    return score


def _classes(path: Path, options, rows: Sequence[_Row]) -> tuple[str, ...]:
    """Returns the training table's labels, sorted as text, or as numbers if all are numbers.

    Raises:
      UserError: there is one label, or there are too many for classes.
    """
    labels = {row.target for row in rows}
    if len(rows) == 1:
        raise _too_few(path, "dev", rows)
    if len(labels) == 1:
        raise UserError(
            f"{path} has the label {rows[0].target!r} in all {len(rows):,} rows of the column "
            f"{options.label}, and a model learns to tell at least two labels apart; add rows with "
            "another label, or name another column with --config.data.label."
        )
    if len(labels) > MOST_CLASSES or len(labels) == len(rows) > FEW_ROWS:
        raise UserError(
            f"{path} has {len(labels):,} different labels in {len(rows):,} rows of the column "
            f"{options.label}; "
            "name a column of at least two classes with --config.data.label, or one of numbers "
            "with --config.data.score."
        )
    try:
        return tuple(sorted(labels, key=lambda label: (float(label), label)))
    except ValueError:
        return tuple(sorted(labels))


def _draw_parts(rows: dict[str, list[_Row]], options) -> dict[str, list[_Row]]:
    """Returns each split's rows, from its table or as a share of the training table."""
    left, parts, whole = rows["train"], dict(rows), len(rows["train"])
    for split, share in (("test", options.test_share), ("dev", options.dev_share)):
        is_fold = split == "test" and _fold(options) != NO_FOLD
        if split in rows or not (share or is_fold):
            continue
        targets = [row.target for row in left]
        if is_fold:
            drawn = fold_numbers(targets, options.folds, options.split_seed) == options.fold
        else:
            drawn = held_out(targets, min(1.0, share * whole / len(left)), options.split_seed)
        left, parts[split] = divide(left, drawn)
    parts["train"] = left
    return parts


def _fold(options) -> int:
    """Returns the fold that is the test part; models of older versions have no such option."""
    return options.get("fold", NO_FOLD)


def _too_few(path: Path, split: str, rows: Sequence[_Row]) -> UserError:
    """Returns the error if the shares leave a part without rows."""
    count = f"{len(rows):,} row{'s' * (len(rows) != 1)}"
    return UserError(
        f"{path} has {count}, too few to draw a {split} part from; add rows (a model needs at "
        "least some tens, better thousands), or name tables with --config.data.dev and "
        "--config.data.test."
    )


def _examples(
    rows: Sequence[_Row], classes: Sequence[str], tokenizer: SentenceTokenizer
) -> list[Example]:
    texts = zip(*(row.texts for row in rows))
    sentences = zip(*(tokenizer(column) for column in texts))
    labels = {name: label for label, name in enumerate(classes)}
    return [
        Example(row.name, tokens, labels.get(row.target, row.target))
        for row, tokens in zip(rows, sentences)
    ]
