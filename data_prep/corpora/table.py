"""A user's own data: tables with one or two texts, and a class or a score, in each row.

`disan_tf.text.table_files` describes their formats. Rows without a text or a label stop the reader,
or are dropped and counted in the manifest. Labels that look like missing labels get a warning.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from data_prep.corpora.corpus import Corpus, Example
from data_prep.corpora.held_out import divide, fold_numbers, held_out
from data_prep.corpora.table_options import NO_FOLD, TableOptions
from data_prep.corpora.table_rows import Row, Table
from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.common.checks import count, suggestion
from disan_tf.common.errors import UserError
from disan_tf.common.paths import below
from disan_tf.text import VERSIONS
from disan_tf.text.labels import order_classes
from disan_tf.text.tokenizer_rules import clean_text

MAX_CLASSES = 1000  # a column with more distinct labels does not hold classes
ROWS_FOR_NAMES = 20  # in a longer table labels that are all different are no classes


def text_fields(options) -> tuple[str, ...]:
    """Returns the names of an example's texts; see `TableOptions`."""
    return TableOptions.of(options).text_fields


def split_names(options) -> tuple[str, ...]:
    """Returns the names of the splits; see `TableOptions`."""
    return TableOptions.of(options).splits


CHECKS, FIELDS, SPLITS = (TableOptions,), text_fields, split_names


def files(data_dir: Path, options) -> list[Path]:
    """Returns the tables in the options, the training table first.

    Raises:
      UserError: a table is missing.
    """
    return list(_find(data_dir, TableOptions.of(options)).values())


def read(data_dir: Path, options) -> Corpus:
    """Reads tables.

    Args:
      data_dir: the folder that holds the tables.
      options: the fields of `TableOptions`, and `tokenizer`, which names the tokenizer.

    Raises:
      UserError: a missing table or column, a malformed row, a label that the training table lacks,
        a score outside its scale (names file, line and column).
    """
    version = getattr(options, "tokenizer_version", None) or VERSIONS[options.tokenizer]
    tokenizer, options = SentenceTokenizer.of(options), TableOptions.of(options)
    clean = clean_text if version > 1 else str
    classes, tables, files_read = tuple(map(clean, options.classes)), {}, _find(data_dir, options)
    warnings = []
    for split, path in files_read.items():
        tables[split] = Table(path, split, options, classes, clean)
        warnings += tables[split].warnings()
        if split == "train":
            classes = _classes(path, options, tables[split].rows, classes)
    path, rows = files_read["train"], {split: table.rows for split, table in tables.items()}
    parts = _draw_parts(rows, options)
    warnings += _keep_every_class(path, parts, options)
    for split in options.splits:
        if not parts[split]:
            raise _too_few(path, split, rows["train"])
    _check_variety(path, options, parts["train"], "training row")
    if options.score:
        classes = tuple(map(str, range(options.lowest, options.highest + 1)))
    corpus = Corpus("table", options.text_fields, classes, {}, {}, list(files_read.values()))
    corpus.unit, corpus.scores, corpus.warnings = "rows", bool(options.score), warnings
    for split in options.splits:
        corpus.splits[split] = _examples(parts[split], classes, tokenizer)
        kept, dropped = len(parts[split]), {}
        if split in tables:
            dropped = dict(tables[split].dropped)
        usable = len(tables[split].rows) if split in tables else kept
        held_out = {"held out for other parts": usable - kept} if usable > kept else {}
        read = usable + sum(dropped.values())
        corpus.count(split, read, **held_out, dropped=dropped, kept=kept)
    return corpus


def _find(data_dir: Path, options) -> dict[str, Path]:
    """Finds the tables: split -> path."""
    names = {"train": options.train, "dev": options.dev, "test": options.test}
    paths = {
        split: below(data_dir, name, f"config.data.{split}")
        for split, name in names.items()
        if name
    }
    for split, path in paths.items():
        if not path.is_file():
            beside = [other.name for other in path.parent.glob("*") if other.is_file()]
            raise UserError(
                f"{path} is not a file; --config.data.{split} names the table of the {split} part, "
                f"below --data_dir{suggestion(path.name, beside)}"
            )
    return paths


def _classes(path: Path, options, rows: Sequence[Row], given: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the given classes, or the training table's labels in their order.

    Raises:
      UserError: there is one label or score, or there are too many labels for classes.
    """
    _check_variety(path, options, rows, "row")
    if given or options.score:
        return given
    labels = {row.target for row in rows}
    if len(rows) == 1:
        raise _too_few(path, "dev", rows)
    if len(labels) > MAX_CLASSES or len(labels) == len(rows) > ROWS_FOR_NAMES:
        raise UserError(
            f"{path} has {len(labels):,} different labels in {len(rows):,} rows of the column "
            f"{options.label}; name a column of at least two classes with --config.data.label; for "
            "scores of pairs of texts, use configs/own_table.py:scores."
        )
    return order_classes(labels)


def _check_variety(path: Path, options, rows: Sequence[Row], kind_of_row: str) -> None:
    """Raises UserError if all labels or scores of several rows are equal."""
    if len(rows) == 1 or len({row.target for row in rows}) > 1:
        return
    kind, value = ("score", f"{rows[0].target:g}") if options.score else ("label", rows[0].target)
    raise UserError(
        f"{path} has the {kind} {value!r} in all {count(len(rows), kind_of_row)} of the column "
        f"{options.score or options.label}, but a model needs at least two {kind}s; add rows with "
        f"another {kind}, or name another column with --config.data.{kind}."
    )


def _keep_every_class(path: Path, parts: dict[str, list[Row]], options) -> list[str]:
    """Exchanges rows so that every class has one in the training part; returns a warning.

    A drawn part that holds the last row of a class gets a row of the largest class instead. Folds
    are left as they are, since each row is tested once.
    """
    drawn = [split for split in ("dev", "test") if split in parts and not getattr(options, split)]
    if options.score or not drawn:
        return []
    every = Counter(row.target for split in ("train", *drawn) for row in parts[split])
    trained, lost = Counter(row.target for row in parts["train"]), {}
    for split in drawn:
        for row in parts[split]:
            if not trained[row.target]:
                lost.setdefault(row.target, row)
    if options.fold == NO_FOLD:
        _exchange(parts, drawn, list(lost.values()), trained)
        lost.update((row.target, row) for row in parts["train"] if every[row.target] == 1)
    if not lost:
        return []
    name, row = next(iter(lost.items()))
    classes = f"the class {name!r} (line {row.line})"
    if len(lost) > 1:
        classes = f"{len(lost):,} classes, such as {name!r} (line {row.line})"
    if options.fold != NO_FOLD:
        return [f"In this fold, {path} has {classes} in the test or dev part alone; add rows."]
    return [
        f"{path} has few rows of {classes}; the training part keeps one, so that other parts may "
        "have none; add rows."
    ]


def _exchange(
    parts: dict[str, list[Row]], drawn: Sequence[str], lost: Sequence[Row], trained: Counter
) -> None:
    """Moves `lost` rows to the training part; rows of its largest classes take their places.

    `trained` counts the training rows by class.
    """
    place = {row.line: split for split in ("train", *drawn) for row in parts[split]}
    rows = sorted((row for split in ("train", *drawn) for row in parts[split]), key=_line)
    of_class: dict[str, list[Row]] = {}
    for row in parts["train"]:
        of_class.setdefault(row.target, []).append(row)
    for row in lost:
        largest = max(sorted(trained), key=trained.get)
        if trained[largest] > 1:
            place[of_class[largest].pop().line] = place[row.line]
            trained[largest] -= 1
        place[row.line] = "train"
        trained[row.target] += 1
    for split in ("train", *drawn) if lost else ():
        parts[split] = [row for row in rows if place[row.line] == split]


def _line(row: Row) -> int:
    return row.line


def _draw_parts(rows: dict[str, list[Row]], options) -> dict[str, list[Row]]:
    """Returns each split's rows, from its table or as a share of the training table."""
    left, parts, whole = rows["train"], dict(rows), len(rows["train"])
    for split, share in (("test", options.test_share), ("dev", options.dev_share)):
        is_fold = split == "test" and options.fold != NO_FOLD
        if split in rows or not (share or is_fold):
            continue
        targets = [row.target for row in left]
        if is_fold:
            drawn = fold_numbers(targets, options.folds, options.split_seed) == options.fold
        else:
            drawn = held_out(
                targets, min(1.0, share * whole / max(1, len(left))), options.split_seed
            )
        left, parts[split] = divide(left, drawn)
    parts["train"] = left
    return parts


def _too_few(path: Path, split: str, rows: Sequence[Row]) -> UserError:
    """Returns the error if the shares leave a part without rows."""
    count = f"{len(rows):,} row{'s' * (len(rows) != 1)}"
    return UserError(
        f"{path} has {count}, too few to draw a {split} part from; add rows (a model needs at "
        "least some tens, better thousands), or name tables with --config.data.dev and "
        "--config.data.test."
    )


def _examples(
    rows: Sequence[Row], classes: Sequence[str], tokenizer: SentenceTokenizer
) -> list[Example]:
    texts = zip(*(row.texts for row in rows))
    sentences = zip(*(tokenizer(column) for column in texts))
    labels = {name: label for label, name in enumerate(classes)}
    return [
        Example(row.name, tokens, labels.get(row.target, row.target))
        for row, tokens in zip(rows, sentences)
    ]
