"""data_prep/corpora/table.py: columns, classes, scores, parts, bad rows."""

import csv
import json

import pytest

from data_prep.check_options import check_options
from data_prep.corpora import READERS, fields_of, splits_of
from data_prep.prepare import prepare
from tests.support.corpora.readers import refusal, table_options
from tests.support.errors import user_error

TEXT_AND_LABEL = ("text", "label")
SCORES = {"second_text": "other", "label": "", "score": "score"}


def options(train="t.csv", **changed):
    shares = {"dev_share": 0.25, "test_share": 0.0}
    return table_options(train, **{"tokenizer": "treebank", **shares, **changed})


def write(folder, *rows, columns=TEXT_AND_LABEL, name="t.csv"):
    """Writes rows as the kind of file that the name says."""
    with open(folder / name, "w", encoding="utf-8", newline="") as file:
        if name.endswith(".jsonl"):
            file.writelines(json.dumps(dict(zip(columns, row))) + "\n" for row in rows)
        else:
            tab = {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}
            csv.writer(file, **({} if name.endswith(".csv") else tab)).writerows([columns, *rows])
    return folder


def read(folder, **changed):
    return READERS["table"].read(folder, options(**changed))


SOUPS = [("Soup , please !", "order"), ("Is it hot ?", "question")] * 4


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.jsonl"])
def test_every_kind_of_table_gives_the_same_examples(tmp_path, name):
    write(tmp_path, *SOUPS[:2], name="dev.csv")
    corpus = read(write(tmp_path, *SOUPS, name=name), train=name, dev="dev.csv")
    first, second = corpus.splits["train"][:2]
    assert first == ("train-1", (("Soup", ",", "please", "!"),), 0, "", (), 0)
    assert (second.sentences, second.label) == ((("Is", "it", "hot", "?"),), 1)
    assert corpus.classes == ("order", "question") and corpus.fields == ("sentence",)


def test_a_quoted_value_holds_commas_quotes_and_line_ends(tmp_path):
    text = 'One , "two" ,\n\nthree'
    corpus = read(write(tmp_path, (text, "a"), ("four", "b"), *SOUPS), dev_share=0.0, dev="t.csv")
    assert corpus.splits["train"][0].sentences == (("One", ",", "``", "two", "''", ",", "three"),)


def test_columns_have_the_names_of_the_options(tmp_path):
    columns = ("id", "stars", "first", "second", "more")
    rows = [(f"no. {k}", "2.5", "Hot soup", "Cold soup", "") for k in range(4)]
    corpus = read(
        write(tmp_path, *rows, columns=columns),
        text="first",
        second_text="second",
        label="",
        score="stars",
        example_id="id",
    )
    example = corpus.splits["train"][0]
    assert example.sentences == (("Hot", "soup"), ("Cold", "soup"))
    assert example.label == 2.5 and example.example_id.startswith("no. ")
    assert corpus.scores and corpus.classes == ("1", "2", "3", "4", "5")
    assert corpus.fields == ("sentence_a", "sentence_b")


def test_two_texts_and_a_label_are_premise_and_hypothesis(tmp_path):
    columns = ("text", "other", "label")
    rows = [("Hot soup", "Cold soup", name) for name in "abab"]
    corpus = read(write(tmp_path, *rows, columns=columns), second_text="other")
    assert corpus.fields == fields_of(options(second_text="other")) == ("premise", "hypothesis")


def test_classes_are_those_of_the_training_table_in_order(tmp_path):
    rows = [("soup", name) for name in ("10", "9", "10", "9")]
    assert read(write(tmp_path, *rows)).classes == ("9", "10")
    rows = [("soup", name) for name in ("b", "9", "b", "9")]
    assert read(write(tmp_path, *rows)).classes == ("9", "b")
    given = read(tmp_path, classes=("b", "c", "9"))
    assert given.classes == ("b", "c", "9") and given.splits["train"][0].label in (0, 2)


def test_the_order_of_classes_depends_on_no_set(tmp_path):
    rows = [("soup", name) for name in ("nan", "3", "2", "1")] * 2
    assert read(write(tmp_path, *rows)).classes == ("1", "2", "3", "nan")


def test_json_labels_may_be_numbers(tmp_path):
    rows = [("soup", 1), ("tea", 0)] * 2
    corpus = read(write(tmp_path, *rows, name="t.jsonl"), train="t.jsonl", dev_share=0.5)
    assert corpus.classes == ("0", "1")


def test_shares_are_stratified_and_disjoint_and_the_seed_draws_them(tmp_path):
    rows = [(f"soup {k}", "ab"[k % 2]) for k in range(40)]
    write(tmp_path, *rows)
    corpus = read(tmp_path, dev_share=0.25, test_share=0.3)
    sizes = {split: len(examples) for split, examples in corpus.splits.items()}
    assert sizes == {"train": 18, "dev": 10, "test": 12}
    assert sum(example.label for example in corpus.splits["test"]) == 6
    names = [example.example_id for part in corpus.splits.values() for example in part]
    assert len(set(names)) == 40
    again, other = (read(tmp_path, dev_share=0.25, test_share=0.3, split_seed=k) for k in (1, 2))
    assert again.splits == corpus.splits != other.splits


def test_there_is_a_test_part_if_it_has_a_file_or_a_share(tmp_path):
    assert splits_of(options()) == ("train", "dev")
    assert splits_of(options(test_share=0.1)) == splits_of(options(test="x.csv"))
    assert set(read(write(tmp_path, *SOUPS)).splits) == {"train", "dev"}


def test_folds_divide_the_training_table(tmp_path):
    rows = [(f"soup {k}", "ab"[k % 2]) for k in range(40)]
    write(tmp_path, *rows)
    folds = [read(tmp_path, dev_share=0.1, folds=4, fold=k).splits for k in range(4)]
    assert {len(splits["test"]) for splits in folds} == {10}
    assert {len(splits["dev"]) for splits in folds} == {4}
    names = [example.example_id for splits in folds for example in splits["test"]]
    assert len(set(names)) == 40
    in_fold = [example.example_id for part in folds[0].values() for example in part]
    assert len(set(in_fold)) == 40
    assert splits_of(options(fold=0)) == ("train", "dev", "test")


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"on_bad_rows": "skip"}, "on_bad_rows=skip must be error or drop"),
        ({"encoding": "latin-x"}, "encoding=latin-x is no encoding of text, such as latin-1."),
        ({"drop_labels": "-1", **SCORES}, "drop_labels=-1 needs a column of labels, not of scores"),
    ],
)
def test_an_impossible_treatment_of_rows_is_refused(changed, message):
    assert message in user_error(check_options, options(**changed))


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"fold": 10}, "fold=10 is not one of the 10 folds; use 0 to 9."),
        ({"fold": 0, "test": "x.csv"}, "fold=0 replaces the test part"),
    ],
)
def test_an_impossible_fold_is_refused(changed, message):
    assert message in user_error(check_options, options(**changed))


@pytest.mark.parametrize("name, separator", [("t.csv", ";"), ("t.csv", "\t"), ("t.tsv", ",")])
def test_another_separator_than_the_names_is_seen_in_the_header(tmp_path, name, separator):
    rows = [("id", "text", "label"), *((str(k), "Hot soup", "ab"[k % 2]) for k in range(4))]
    (tmp_path / name).write_text("".join(separator.join(row) + "\n" for row in rows))
    corpus = read(tmp_path, train=name)
    assert corpus.splits["train"][0].sentences == (("Hot", "soup"),)


def test_counts_have_no_official_figure(tmp_path, capsys):
    from data_prep.manifest import describe_counts
    from disan_tf.input_pipeline.format import read_manifest

    folder = prepare(options(), write(tmp_path, *SOUPS), tmp_path / "prepared")
    text = describe_counts(read_manifest(folder))
    assert "  train: 8 rows, 2 held out for other parts, dropped none, kept 6\n" in text
    assert "trainable, 0 fixed; no file of word vectors" in text


# Bad input


@pytest.mark.parametrize(
    "rows, changed, message",
    [
        ([("a", "x")], {"text": "review"}, "line 1: there is no review among the columns text"),
        ([("a", "x")], {"label": "class"}, "line 1: there is no class among the columns text"),
        ([("a", "x"), ("b", " ")], {}, "line 3: label is empty (--config.data.on_bad_rows=drop l"),
        ([("a", "x"), (" ", "x")], {}, "line 3: text is empty (--config.data.on_bad_rows=drop le"),
        ([("a", "x"), TEXT_AND_LABEL], {}, "line 3: the header is repeated (--config.data.on_bad"),
        (
            [("a", "x")],
            {"text": "Text"},
            "line 1: there is no Text among the columns text, label",
        ),
        ([("a", "x")], {"drop_labels": "x"}, "t.csv has no row left; drop fewer rows"),
        ([("a", "x"), ("b", "y", "z")], {}, "line 3: 3 columns, and the header has 2"),
        ([("a", "x")] * 4, {}, "has the label 'x' in all 4 rows of the column label, but a model"),
        ([("a", "x"), ("b", "y")], {}, "t.csv has 2 rows, too few to draw a dev part from; add"),
        ([("a", "x")], {}, "t.csv has 1 row, too few to draw a dev part from; add"),
        ([("a", str(k % 1001)) for k in range(1002)], {}, "has 1,001 different labels in 1,002 "),
        ([("a", str(k)) for k in range(21)], {}, "has 21 different labels in 21 rows of the"),
        ([], {}, "t.csv holds no row"),
        ([("a", "x"), ("b", "y" * 256)], {}, "line 3: label has 256 characters; the limit is 255"),
        ([("a", "x" * 256)], {"example_id": "label"}, "line 2: label has 256 characters"),
        ([("a" * 131_073, "x")], {}, "line 2: not CSV (field larger than field limit"),
        ([("a", "z")], {"classes": ("x", "y")}, "line 2: label 'z' is not one of the 2 classes"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_column(tmp_path, rows, changed, message):
    assert message in refusal(write(tmp_path, *rows), options(**changed))


def test_a_text_without_end_is_named_with_its_limit(tmp_path):
    message = refusal(write(tmp_path, ("a" * 131_073, "x"), name="t.tsv"), options(train="t.tsv"))
    assert "line 2: text has 131,073 characters; the limit is 131,072" in message


@pytest.mark.parametrize("value", ["0.9", "5.1", "nan", "inf", "three"])
def test_a_score_outside_its_scale_is_refused(tmp_path, value):
    write(tmp_path, ("a", "b", value), columns=("text", "other", "score"))
    message = refusal(tmp_path, options(**SCORES))
    assert f"line 2: score {value!r} is not a number between 1 and 5" in message


def test_labels_that_the_training_table_lacks_are_refused(tmp_path):
    write(tmp_path, ("a", "order"), ("a", "reply"), name="dev.csv")
    message = refusal(write(tmp_path, *SOUPS), options(dev="dev.csv"))
    assert "dev.csv, line 3: label 'reply' is not one of the 2 classes, such as 'order'" in message


def test_an_unclosed_quote_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text('text,label\n"a,x\nb,y\n')
    assert "line 3: the file ends inside a quoted value" in refusal(tmp_path, options())


def test_a_missing_table_is_named_with_its_flag(tmp_path):
    message = refusal(tmp_path, options())
    assert message.startswith(f"{tmp_path}/t.csv is not a file; --config.data.train names")
    assert message.endswith("below --data_dir.")


def test_a_misspelt_table_gets_a_suggestion(tmp_path):
    write(tmp_path, *SOUPS, name="soups.csv")
    message = user_error(lambda: read(tmp_path, train="soup.csv"))
    assert message.endswith("below --data_dir; did you mean soups.csv?")


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"train": ""}, "train is empty"),
        ({"score": "stars"}, "label='label' and score='stars': name one of these columns"),
        ({"label": "", "score": "stars"}, "second_text is empty"),
        ({"dev_share": 0.0}, "dev_share=0.0 and --config.data.test_share=0.0 must leave"),
        ({"dev_share": 0.5, "test_share": 0.5}, "must leave examples to train on"),
        ({"classes": ("x", "x")}, "at least two different names"),
        ({"lowest": 5}, "lowest=5 must be below --config.data.highest=5"),
    ],
)
def test_options_that_do_not_go_together_are_refused(changed, message):
    found = user_error(check_options, options(**changed))
    assert message in found and "--config.data." in found
