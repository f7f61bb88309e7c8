"""A user's own data: tables with one or two texts, and a class or a score, in each row.

`disan_tf.text.tables` describes their formats. Rows without a text or a label stop the reader, or
are dropped and counted in the manifest. Labels that look like missing labels get a warning.
"""

from collections.abc import Sequence
from pathlib import Path

from data_prep.corpora.corpus import Corpus, Example
from data_prep.corpora.held_out import divide, fold_numbers, held_out
from data_prep.corpora.table_rows import Row, Table
from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.common.errors import UserError
from disan_tf.common.options import check_at_least, check_choice, suggestion
from disan_tf.text.labels import order_classes
from disan_tf.text.text_files import check_encoding

NO_FOLD = -1  # `test_share` draws the test part
MAX_CLASSES = 1000  # a column with more distinct labels does not hold classes
ROWS_FOR_NAMES = 20  # in a longer table labels that are all different are no classes


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
    drop_labels: str = "",
    on_bad_rows: str = "error",
    encoding: str = "utf-8",
) -> None:
    """Checks the options of `read`; raises ValueError for options that do not fit together."""
    if not train:
        raise ValueError("train is empty; name the table of training examples, e.g. reviews.csv.")
    if not text:
        raise ValueError("text is empty; name the column of the text.")
    if bool(label) == bool(score):
        raise ValueError(f"label={label!r} and score={score!r}: name one of these columns.")
    columns = [name for name in (text, second_text, label, score) if name]
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise ValueError(
            f"text={text}, second_text={second_text}, label={label}, score={score}: the column "
            f"{twice[0]} is named twice; name different columns."
        )
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
    check_choice("on_bad_rows", on_bad_rows, ("error", "drop"))
    check_encoding(encoding)
    if drop_labels and score:
        raise ValueError(f"drop_labels={drop_labels} needs a column of labels, not of scores.")
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
        and `highest`; the points of the scale are the whole numbers between them. `drop_labels` are
        labels, with commas between them, whose rows are dropped. `on_bad_rows` is "error", or
        "drop" for rows without text or label. `encoding` is the tables' encoding. `tokenizer` names
        the tokenizer.

    Raises:
      UserError: a missing table or column, a malformed row, a label that the training table lacks,
        a score outside its scale (names file, line and column).
    """
    classes, tables, files_read = tuple(options.classes), {}, _find(data_dir, options)
    warnings = []
    for split, path in files_read.items():
        tables[split] = Table(path, split, options, classes)
        warnings += tables[split].warnings()
        if split == "train" and options.score:
            _check_scores(path, options, tables[split].rows)
        elif split == "train" and not classes:
            classes = _classes(path, options, tables[split].rows)
    parts = _draw_parts({split: table.rows for split, table in tables.items()}, options)
    for split in split_names(options):
        if not parts[split]:
            raise _too_few(files_read["train"], split, tables["train"].rows)
    if options.score:
        classes = tuple(map(str, range(options.lowest, options.highest + 1)))
    tokenizer = SentenceTokenizer(options.tokenizer)
    corpus = Corpus("table", text_fields(options), classes, {}, {}, list(files_read.values()))
    corpus.unit, corpus.scores, corpus.warnings = "rows", bool(options.score), warnings
    for split in split_names(options):
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
    paths = {split: Path(data_dir) / name for split, name in names.items() if name}
    for split, path in paths.items():
        if not path.is_file():
            beside = [other.name for other in path.parent.glob("*") if other.is_file()]
            raise UserError(
                f"{path} is not a file; --config.data.{split} names the table of the {split} part, "
                f"below --data_dir{suggestion(path.name, beside)}"
            )
    return paths


def _classes(path: Path, options, rows: Sequence[Row]) -> tuple[str, ...]:
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
            f"{options.label}, but a model needs at least two labels; add rows with "
            "another label, or name another column with --config.data.label."
        )
    if len(labels) > MAX_CLASSES or len(labels) == len(rows) > ROWS_FOR_NAMES:
        raise UserError(
            f"{path} has {len(labels):,} different labels in {len(rows):,} rows of the column "
            f"{options.label}; "
            "name a column of at least two classes with --config.data.label, or one of numbers "
            "with --config.data.score."
        )
    return order_classes(labels)


def _check_scores(path: Path, options, rows: Sequence[Row]) -> None:
    """Raises UserError if all scores are equal."""
    if len(rows) > 1 and len({row.target for row in rows}) == 1:
        raise UserError(
            f"{path} has the score {rows[0].target:g} in all {len(rows):,} rows of the column "
            f"{options.score}; add rows with other scores, or name another column with "
            "--config.data.score."
        )


def _draw_parts(rows: dict[str, list[Row]], options) -> dict[str, list[Row]]:
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
