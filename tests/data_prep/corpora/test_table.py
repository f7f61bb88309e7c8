"""data_prep/corpora/table.py and table_rows.py: columns, classes, parts, dropped and bad rows."""

import csv
import json
import unicodedata

import pytest

from data_prep.check_options import check_options
from data_prep.corpora import fields_of, splits_of, table
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from disan_tf.common.errors import UserError
from disan_tf.input_pipeline.corpus_format import read_manifest
from tests.support.corpora.readers import refusal, split_at_spaces, table_options
from tests.support.errors import user_error

TEXT_AND_LABEL = ("text", "label")
SCORES = {"second_text": "other", "label": "", "score": "score"}
ROWS = [("hot soup", "order"), ("is it hot", "question")] * 4


@pytest.fixture(autouse=True)
def _split(monkeypatch):
    monkeypatch.setattr(table, "SentenceTokenizer", split_at_spaces)


def options(train="t.csv", **changed):
    return table_options(train, **{"dev_share": 0.25, "test_share": 0.0, **changed})


def write(folder, *rows, columns=TEXT_AND_LABEL, name="t.csv"):
    """Writes rows as the kind of file that the name says; rows of JSON may be dictionaries."""
    with open(folder / name, "w", encoding="utf-8", newline="") as file:
        if name.endswith(".jsonl"):
            lines = [row if isinstance(row, dict) else dict(zip(columns, row)) for row in rows]
            file.writelines(f"{json.dumps(line)}\n" for line in lines)
        else:
            tab = {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}
            csv.writer(file, **({} if name.endswith(".csv") else tab)).writerows([columns, *rows])
    return folder


def read(folder, *rows, columns=TEXT_AND_LABEL, train="t.csv", **changed):
    if rows:
        write(folder, *rows, columns=columns, name=train)
    return table.read(folder, options(train, **changed))


def everything(corpus):
    return [example for part in corpus.splits.values() for example in part]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.jsonl"])
def test_every_kind_of_table_gives_the_same_examples(tmp_path, name):
    write(tmp_path, *ROWS[:2], name="dev.csv")
    corpus = read(tmp_path, *ROWS, train=name, dev="dev.csv")
    first, second = corpus.splits["train"][:2]
    assert first == ("train-1", (("hot", "soup"),), 0, "", (), 0)
    assert (second.sentences, second.label) == ((("is", "it", "hot"),), 1)
    assert corpus.classes == ("order", "question") and corpus.fields == ("sentence",)


def test_a_quoted_value_holds_commas_quotes_and_line_ends(tmp_path):
    text = 'One , "two" ,\n\nthree'
    corpus = read(tmp_path, (text, "a"), ("four", "b"), *ROWS, dev_share=0.0, dev="t.csv")
    assert corpus.splits["train"][0].sentences == (("One", ",", '"two"', ",", "three"),)


def test_columns_have_the_names_of_the_options(tmp_path):
    columns = ("id", "stars", "first", "second", "more")
    scores = ("2.5", "2.5", "3", "3")
    rows = [(f"no. {k}", score, "Hot soup", "Cold soup", "") for k, score in enumerate(scores)]
    chosen = {"text": "first", "second_text": "second", "label": "", "score": "stars"}
    corpus = read(tmp_path, *rows, columns=columns, example_id="id", **chosen)
    example = corpus.splits["train"][0]
    assert example.sentences == (("Hot", "soup"), ("Cold", "soup"))
    assert example.label == 2.5 and example.example_id.startswith("no. ")
    assert corpus.scores and corpus.classes == ("1", "2", "3", "4", "5")
    assert corpus.fields == ("sentence_a", "sentence_b")
    pairs = options(second_text="other")
    assert fields_of(pairs) == ("premise", "hypothesis")


def test_classes_are_those_of_the_training_table_in_order(tmp_path):
    assert read(tmp_path, *[("soup", "10"), ("soup", "9")] * 2).classes == ("9", "10")


def test_classes_may_be_given_and_json_labels_may_be_numbers(tmp_path):
    corpus = read(tmp_path, *[("soup", "b"), ("tea", "9")] * 2, classes=("b", "c", "9"))
    assert corpus.classes == ("b", "c", "9") and {it.label for it in everything(corpus)} == {0, 2}
    corpus = read(tmp_path, *[("soup", 1), ("tea", 0)] * 2, train="t.jsonl", dev_share=0.5)
    assert corpus.classes == ("0", "1")


MANY = [(f"soup {k}", "ab"[k % 2]) for k in range(40)]


def test_shares_are_stratified_and_disjoint_and_the_seed_draws_them(tmp_path):
    corpus = read(tmp_path, *MANY, test_share=0.3)
    sizes = {split: len(examples) for split, examples in corpus.splits.items()}
    assert sizes == {"train": 18, "dev": 10, "test": 12}
    assert sum(example.label for example in corpus.splits["test"]) == 6
    assert len({example.example_id for example in everything(corpus)}) == 40
    again, other = (read(tmp_path, test_share=0.3, split_seed=k) for k in (1, 2))
    assert again.splits == corpus.splits != other.splits


def _with_single(count, at=0):
    """Rows of two classes, and one row each of `count` other classes."""
    rows = list(MANY)
    for number in range(count):
        rows.insert(at, (f"tea {number}", f"rare {number}"))
    return rows


@pytest.mark.parametrize("at", [0, 17, 40])
@pytest.mark.parametrize("seed", range(6))
def test_a_class_of_one_row_is_trained_and_the_parts_keep_their_sizes(at, seed, tmp_path):
    rows = _with_single(1, at)
    corpus = read(tmp_path, *rows, dev_share=0.2, test_share=0.2, split_seed=seed)
    assert {split: len(it) for split, it in corpus.splits.items()} == {
        **{"train": 25, "dev": 8, "test": 8}
    }
    rare = corpus.classes.index("rare 0")
    assert [it.label for it in corpus.splits["train"]].count(rare) == 1
    names = [int(it.example_id.removeprefix("train-")) for it in corpus.splits["train"]]
    assert names == sorted(names)
    assert len({it.example_id for it in everything(corpus)}) == 41


def test_classes_of_few_rows_are_told(tmp_path):
    path, shares = tmp_path / "t.csv", {"dev_share": 0.4, "test_share": 0.4}
    for seed in range(8):
        (warning,) = read(tmp_path, *_with_single(1), split_seed=seed, **shares).warnings
        start = f"{path} has few rows of the class 'rare 0' (line 2); the training part keeps one"
        assert warning.startswith(start)
        (warning,) = read(tmp_path, *_with_single(2), split_seed=seed, **shares).warnings
        assert warning.startswith(f"{path} has few rows of 2 classes, such as 'rare ")
    rows = [*MANY, ("tea", "rare"), ("hot tea", "rare")]
    for seed in range(20):  # dev may take one row, and test the other
        corpus = read(tmp_path, *rows, split_seed=seed, **shares)
        assert {it.label for it in corpus.splits["train"]} == {0, 1, 2}


def test_folds_and_tables_of_their_own_keep_their_rows(tmp_path):
    write(tmp_path, *_with_single(1))
    folds = [read(tmp_path, dev_share=0.1, folds=4, fold=k) for k in range(4)]
    tested = [example.example_id for fold in folds for example in fold.splits["test"]]
    assert len(tested) == len({*tested}) == 41
    lacking = [fold for fold in folds if 2 not in {it.label for it in fold.splits["train"]}]
    assert lacking
    for fold in folds:
        told = [it for it in fold.warnings if "'rare 0' (line 2) in the test or dev part" in it]
        assert len(told) == (fold in lacking)
    corpus = read(tmp_path, dev="t.csv", test="t.csv")
    assert {len(part) for part in corpus.splits.values()} == {41} and corpus.warnings == []


@pytest.mark.parametrize("form, other", [("NFC", "NFD"), ("NFD", "NFC")])
def test_labels_in_two_normal_forms_are_one_class(form, other, tmp_path):
    labels = [unicodedata.normalize(it, "caf\u00e9") for it in (form, other)] + ["caf\u00e9\u200e"]
    rows = [(f"soup {k}", (*labels, "tea")[k % 4]) for k in range(16)]
    corpus = read(tmp_path, *rows)
    assert corpus.classes == ("caf\u00e9", "tea") and corpus.warnings == []
    corpus = read(tmp_path, classes=("tea", labels[0], "none"))
    assert corpus.classes == ("tea", "caf\u00e9", "none")
    old = table.read(tmp_path, options(tokenizer_version=1))
    assert len(old.classes) == 4
    assert "which are one class in two spellings; write them alike." in old.warnings[0]


def test_wide_letters_are_another_spelling(tmp_path):
    rows = [(f"soup {k}", ("yes", "\uff39\uff25\uff33", "no")[k % 3]) for k in range(12)]
    (warning,) = read(tmp_path, *rows).warnings
    assert "'yes' (4 rows" in warning and "one class in two spellings" in warning


@pytest.mark.parametrize("classes", [(), ("x", "y")])
def test_a_training_on_one_class_is_refused(classes, tmp_path):
    rows = [(f"soup {k}", "x") for k in range(9)]
    message = refusal(write(tmp_path, *rows), options(classes=classes))
    assert "has the label 'x' in all 9 rows of the column label, but a model needs" in message
    rows[0] = ("soup 0", "y")
    write(tmp_path, *rows, name="t.csv")
    seeds = [seed for seed in range(20) if _fails(tmp_path, classes, seed)]
    assert seeds == []  # the row of the other class stays in the training part


def _fails(folder, classes, seed):
    corpus = table.read(folder, options(classes=classes, split_seed=seed))
    return len({it.label for it in corpus.splits["train"]}) < 2


def test_a_constant_score_in_the_training_part_is_refused(tmp_path):
    rows = [(f"soup {k}", "tea", "3") for k in range(8)]
    rows[3] = ("soup 3", "tea", "4")
    write(tmp_path, *rows, columns=("text", "other", "score"))
    messages = []
    for seed in range(12):
        try:
            table.read(tmp_path, options(split_seed=seed, **SCORES))
        except UserError as error:
            messages.append(str(error))
    assert messages and all(
        "has the score '3' in all 6 training rows of the column score" in it for it in messages
    )


def test_texts_that_differ_by_what_nobody_sees_are_equal(tmp_path):
    rows = [("hot soup", "order"), ("hot\u200e soup", "question"), *ROWS]
    (warning,) = read(tmp_path, *rows).warnings
    assert "has 1 text with several labels, as in lines 2 and 3" in warning
    write(tmp_path, ("\u200e\ufeff", "order"), *ROWS)
    assert "line 2: text is empty" in refusal(tmp_path, options())


def test_folds_divide_the_training_table(tmp_path):
    write(tmp_path, *MANY)
    folds = [read(tmp_path, dev_share=0.1, folds=4, fold=k) for k in range(4)]
    assert {len(fold.splits["test"]) for fold in folds} == {10}
    assert {len(fold.splits["dev"]) for fold in folds} == {4}
    tested = [example.example_id for fold in folds for example in fold.splits["test"]]
    assert len(set(tested)) == len({it.example_id for it in everything(folds[0])}) == 40


@pytest.mark.parametrize(
    "changed, has_test",
    [({}, False), ({"test_share": 0.1}, True), ({"test": "x.csv"}, True), ({"fold": 0}, True)],
)
def test_there_is_a_test_part_if_it_has_a_file_a_share_or_a_fold(changed, has_test):
    assert splits_of(options(**changed)) == ("train", "dev", "test")[: 2 + has_test]


# Rows that are dropped, and labels that look missing

BAD_ROWS = [(" ", "order"), ("", "order"), ("hot", ""), ("text", "label")]


def test_bad_rows_are_dropped_on_request_and_counted_by_reason(tmp_path):
    corpus = read(tmp_path, *ROWS[:4], *BAD_ROWS, *ROWS[4:], on_bad_rows="drop")
    dropped = {"without a text": 2, "without a label": 1, "repeating the header": 1}
    counts = corpus.counts["train"]
    assert not {"drop_labels", "encoding"} & set(options())  # which older models lack
    assert counts["dropped"] == dropped and (counts["rows"], counts["kept"]) == (12, 6)
    names = {example.example_id for example in everything(corpus)}
    assert names == {f"train-{number}" for number in (1, 2, 3, 4, 9, 10, 11, 12)}


def test_the_columns_of_json_rows_are_those_of_all_records(tmp_path):
    rows = [{"text": f"soup {k}", "label": "ab"[k % 2]} for k in range(8)]
    for first in ({"text": "no label"}, {"label": "a"}, {"other": 1}):
        for name in ("t.jsonl", "t.txt"):
            content = "".join(json.dumps(row) + "\n" for row in [first, *rows])
            (tmp_path / name).write_text(content)
            corpus = table.read(tmp_path, options(name, on_bad_rows="drop"))
            assert sum(corpus.counts["train"]["dropped"].values()) == 1
            assert len(everything(corpus)) == 8
            place = f"{tmp_path / name}, line 1: "
            lacking = "text is empty" if "text" not in first else "label is empty"
            assert refusal(tmp_path, options(name)).startswith(f"{place}{lacking}")
    (tmp_path / "t.jsonl").write_text('{"text": "a"}\n{"labels": "b", "text": "c"}\n')
    wanted = "line 1: there is no label among the columns text, labels (did you mean labels?)"
    assert wanted in refusal(tmp_path, options("t.jsonl", on_bad_rows="drop"))


@pytest.mark.parametrize(
    "name, content",
    [
        ("t.csv", "id,text,toxic,insult\n7,hot,0,1\n8,cold,0,0\n"),
        ("t.jsonl", '{"text": "hot", "toxic": 0}\n{"text": "cold", "toxic": 1, "insult": 1}\n'),
    ],
)
def test_a_table_with_a_column_for_each_label_is_shown_the_way_in_python(name, content, tmp_path):
    (tmp_path / name).write_text(content)
    message = refusal(tmp_path, options(name))
    assert "has no column label, but a column of 0 and 1 for each label: toxic, insult;" in message
    assert "disan_tf.TextClassifier.from_preset(preset, classes=[...], multi_label=True)" in message
    (tmp_path / "t.csv").write_text("text,toxic,class\nhot,0,a\n")
    assert "there is no label among the columns" in refusal(tmp_path, options("t.csv"))


def test_null_is_no_name_of_an_example(tmp_path):
    lines = ['{"text": "hot", "label": "a", "id": null}', '{"text": "cold", "label": "b"}'] * 2
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    corpus = read(tmp_path, train="t.jsonl", example_id="id", dev_share=0.5)
    assert {it.example_id[-2:] for it in everything(corpus)} == {"-1", "-2", "-3", "-4"}


def test_json_rows_may_lack_values(tmp_path):
    bad = [{"text": None, "label": "order"}, {"text": "hot", "label": None}, {"text": "hot"}]
    corpus = read(tmp_path, *ROWS, *bad, train="t.jsonl", on_bad_rows="drop")
    assert corpus.counts["train"]["dropped"] == {"without a text": 1, "without a label": 2}
    message = refusal(tmp_path, options("t.jsonl"))
    assert "t.jsonl, line 9: text is empty (--config.data.on_bad_rows=drop leaves" in message


@pytest.mark.parametrize("label", ["-1", "-", "nan", "NaN", "None", "n/a", "-1.0"])
def test_a_label_that_looks_missing_gets_a_warning(tmp_path, label):
    (warning,) = read(tmp_path, *ROWS, ("hot", label), ("tea", label)).warnings
    assert warning == (
        f"{tmp_path / 't.csv'} has the label {label!r} (2 rows, as in line 10), which often marks "
        f"a missing label; --config.data.drop_labels={label} drops these rows."
    )


@pytest.mark.parametrize("label", ["0", "x", "nano", "1"])
def test_other_labels_get_no_warning(tmp_path, label):
    assert read(tmp_path, *ROWS, ("hot", label), ("tea", label)).warnings == []


@pytest.mark.parametrize("pair", [("1", "1.0"), ("True", "true"), ("Order", "order")])
def test_two_spellings_of_a_label_get_a_warning(tmp_path, pair):
    (warning,) = read(tmp_path, *[("hot", pair[0]), ("tea", pair[1]), ("soup", "x")] * 2).warnings
    first, second = sorted(pair)
    assert f"has the labels {first!r} (2 rows, as in line " in warning
    assert f" and {second!r} (2 rows, as in line " in warning and "in two spellings" in warning


@pytest.mark.parametrize("second_text, texts", [("", "text"), ("other", "pair")])
def test_equal_texts_with_several_labels_get_a_warning(tmp_path, second_text, texts):
    rows = [("hot", "tea", "a"), ("hot", "soup", "a"), ("cold", "tea", "b"), ("hot", "tea", "b")]
    columns = ("text", "other", "label")
    (warning,) = read(tmp_path, *rows * 2, columns=columns, second_text=second_text).warnings
    assert warning == (
        f"{tmp_path / 't.csv'} has 1 {texts} with several labels, as in lines 2 and 5; give equal "
        f"{texts}s one label."
    )
    assert not read(tmp_path, *rows[:3] * 2, columns=columns, second_text=second_text).warnings


@pytest.mark.parametrize(
    "labels, drop, reasons",
    [
        (["-1", "-1"], "-1", {"with the label -1": 2}),
        (["-1.0", "-1"], "-1", {"with the label -1": 1, "with the label -1.0": 1}),
        (["-1", "NaN"], "-1,nan", {"with the label -1": 1, "with the label NaN": 1}),
        (["-", "no, thanks"], "-", {"with the label -": 1}),
        (["10", "1_0"], "10", {"with the label 10": 1}),
        (["01", "1"], "1", {"with the label 1": 1}),
    ],
)
def test_rows_of_labels_are_dropped_and_counted(tmp_path, labels, drop, reasons):
    rows = [*ROWS, *(("hot", label) for label in labels)]
    corpus = read(tmp_path, *rows, train="t.jsonl", drop_labels=drop)
    assert corpus.counts["train"]["dropped"] == reasons
    assert "-1" not in corpus.classes and "order" in corpus.classes


def test_labels_that_are_dropped_in_another_spelling_get_a_warning(tmp_path):
    rows = [
        ("hot", "1.0"),
        ("tea", "x"),
        ("soup", "1.0"),
        ("rice", "x"),
        ("nut", "y"),
        ("egg", "y"),
    ]
    (warning,) = read(tmp_path, *rows, drop_labels="1").warnings
    assert warning == (
        f"{tmp_path / 't.csv'} has no label '1', which drop_labels names, but '1.0' (2 rows, as "
        "in line 2); add 1.0 to --config.data.drop_labels to drop these rows."
    )
    assert not read(tmp_path, *rows, drop_labels="1.0").warnings


def test_counts_and_warnings_are_in_the_manifest(tmp_path):
    write(tmp_path, *ROWS, ("", "order"), ("hot", "-1"), ("tea", "nan"))
    given = {"classes": ("order", "question", "nan"), "drop_labels": "-1", "on_bad_rows": "drop"}
    text = describe_counts(read_manifest(prepare(options(**given), tmp_path, tmp_path / "out")))
    assert (
        "  train: 11 rows, 2 held out for other parts, dropped 1 without a text, "
        "1 with the label -1, kept 7\n" in text
    )
    assert "of the training part, 0 others; no file of word vectors" in text
    assert "warning: " in text and "has the label 'nan' (1 row, as in line 12)" in text


# Files as people have them

TABLE = "text,label\n" + "".join(f"{text},{label}\n" for text, label in ROWS)
OBJECTS = [dict(zip(TEXT_AND_LABEL, row)) for row in ROWS]
FILES = {
    "array.json": json.dumps(OBJECTS),
    "excel.csv": "sep=;\r\n" + TABLE.replace(",", ";").replace("\n", "\r\n"),
    "unicode.txt": TABLE.replace(",", "\t").replace("\n", "\r\n"),
    "spaces.csv": TABLE.replace("text,label", " text , label"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_as_people_have_it_gives_the_same_examples(tmp_path, name):
    encoding = "utf-16" if name == "unicode.txt" else "utf-8"
    (tmp_path / name).write_bytes(FILES[name].encode(encoding))
    found = [(row.sentences, row.label) for row in everything(read(tmp_path, train=name))]
    expected = [((tuple(text.split()),), int(label == "question")) for text, label in ROWS]
    assert sorted(found) == sorted(expected)


def test_the_error_proposes_cp1252_and_latin_1_is_read(tmp_path):
    (tmp_path / "t.csv").write_bytes(TABLE.replace("soup", "café").encode("latin-1"))
    message = refusal(tmp_path, options())
    assert "t.csv, line 2: byte 0xe9 at column 8 is not UTF-8" in message
    assert "--config.data.encoding=cp1252" in message
    corpus = read(tmp_path, encoding="latin-1")
    assert {row.sentences[0] for row in corpus.splits["train"]} >= {("hot", "café")}


# Bad input

ONE = [("a", "x")]
DROPPED = "(--config.data.on_bad_rows=drop leaves"


@pytest.mark.parametrize(
    "rows, changed, message",
    [
        (ONE, {"text": "review"}, "line 1: there is no review among the columns text, label"),
        (ONE, {"label": "class"}, "line 1: there is no class among the columns text, label"),
        (ONE, {"text": "Text"}, "line 1: there is no Text among the columns text, label"),
        ([*ONE, ("b", " ")], {}, f"line 3: label is empty {DROPPED}"),
        ([*ONE, (" ", "x")], {}, f"line 3: text is empty {DROPPED}"),
        ([*ONE, TEXT_AND_LABEL], {}, f"line 3: the header is repeated {DROPPED}"),
        (ONE, {"drop_labels": "x"}, "t.csv has no row left; drop fewer rows"),
        ([*ONE, ("b", "y", "z")], {}, "line 3: 3 columns, and the header has 2"),
        (ONE * 4, {}, "has the label 'x' in all 4 rows of the column label, but a model"),
        ([*ONE, ("b", "y")], {}, "t.csv has 2 rows, too few to draw a dev part from; add"),
        (ONE, {}, "t.csv has 1 row, too few to draw a dev part from; add"),
        ([("a", str(k % 1001)) for k in range(1002)], {}, "has 1,001 different labels in 1,002 "),
        ([("a", str(k)) for k in range(21)], {}, "has 21 different labels in 21 rows of the"),
        ([], {}, "t.csv holds no row"),
        ([*ONE, ("b", "y" * 256)], {}, "line 3: label has 256 characters; the limit is 255"),
        ([("a", "x" * 256)], {"example_id": "label"}, "line 2: label has 256 characters"),
        ([("a" * 131_073, "x")], {}, "line 2: not CSV (field larger than field limit"),
        ([("a", "z")], {"classes": ("x", "y")}, "line 2: label 'z' is not one of the 2 classes"),
        (ROWS, {"dev": "dev.csv"}, "dev.csv, line 3: label 'reply' is not one of the 2 classes, "),
    ],
)
def test_a_mistake_is_named_with_its_line_and_column(tmp_path, rows, changed, message):
    write(tmp_path, ("a", "order"), ("a", "reply"), name="dev.csv")
    assert message in refusal(write(tmp_path, *rows), options(**changed))


@pytest.mark.parametrize("value", ["0.9", "5.1", "inf", "three", "0_3"])
def test_a_score_outside_its_scale_is_refused(tmp_path, value):
    write(tmp_path, ("a", "b", value), columns=("text", "other", "score"))
    message = refusal(tmp_path, options(**SCORES))
    assert f"line 2: score {value!r} is not a number between 1 and 5" in message


def test_a_single_row_of_scores_has_no_folds(tmp_path):
    write(tmp_path, ("a", "b", "2"), columns=("text", "other", "score"))
    message = refusal(tmp_path, options(**SCORES, folds=2, fold=0))
    assert "t.csv has 1 row, too few to draw" in message


def test_missing_scores_are_refused_or_dropped(tmp_path):
    rows = [("a", "b", value) for value in ("nan", "", "NA", *"12341234")]
    write(tmp_path, *rows, columns=("text", "other", "score"))
    assert "line 2: score is nan (--config.data.on_bad_rows=drop" in refusal(
        tmp_path, options(**SCORES)
    )
    corpus = table.read(tmp_path, options(on_bad_rows="drop", **SCORES))
    assert corpus.counts["train"]["dropped"] == {"without a score": 3}


def test_equal_scores_are_refused(tmp_path):
    write(tmp_path, *[("a", "b", 3)] * 8, columns=("text", "other", "score"))
    assert "has the score '3' in all 8 rows of the column score" in refusal(
        tmp_path, options(**SCORES)
    )


@pytest.mark.parametrize(
    "name, content, changed, message",
    [
        ("t.csv", 'text,label\n"a,x\nb,y\n', {}, "line 2: the quoted value that begins here"),
        ("t.csv", "text,other,label\nhot,,x\n", {"second_text": "other"}, "line 2: other is empty"),
        ("t.tsv", f"text\tlabel\n{'a' * 131_073}\tx\n", {}, "line 2: text has 131,073 characters"),
        ("t.jsonl", '{"text": 5, "label": "x"}\n', {}, "line 1: text is not a string (5); "),
        (
            "t.jsonl",
            '{"text": "a", "label": "x"}\n{"text": ["a", "b"], "label": "x"}\n',
            {},
            'line 2: text is not a string (["a", "b"]); it holds tokens: join them with spaces',
        ),
        (
            "t.csv",
            'text,label\nhot,0\n"he said \\"fine\\", ok",0\n',
            {},
            "line 3: not CSV (',' expected after '\"'; a quote inside a quoted value must be doubl",
        ),
        (
            "t.csv",
            'text,label\n"fine\\"",0\nhot,1\n"x",1\n',
            {},
            "line 2: not CSV (',' expected after '\"'; a quote inside a quoted value must be doubl",
        ),
        ("t.csv", 'text,label\n"a,x\nb,y\n"c",z\n', {}, "line 2: not CSV (',' expected after"),
        (
            "t.csv",
            'text,label\n"a\nb","x\nc,d\n',
            {},
            "line 3: the quoted value that begins here does not end",
        ),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path, name, content, changed, message):
    (tmp_path / name).write_text(content)
    assert f"{name}, {message}" in refusal(tmp_path, options(name, **changed))


def test_the_home_folder_may_be_written_as_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(write(tmp_path, *ROWS)))
    for folder, name in ((tmp_path / "elsewhere", "~/t.csv"), ("x", "~/./t.csv")):
        assert len(everything(table.read(folder, options(name)))) == len(ROWS)
    message = user_error(table.read, tmp_path, options("https://a.org/t.csv"))
    assert message == (
        "--config.data.train=https://a.org/t.csv is a web address; download the file first "
        "(curl -LO https://a.org/t.csv), and name the downloaded file."
    )
    message = user_error(table.read, tmp_path, options(dev="s3://a/t.csv"))
    assert message.startswith("--config.data.dev=s3://a/t.csv is a web address; download")


def test_a_missing_table_is_named_with_its_flag_and_one_like_it(tmp_path):
    message = refusal(tmp_path, options())
    assert message.startswith(f"{tmp_path}/t.csv is not a file; --config.data.train names")
    assert message.endswith("below --data_dir.")
    write(tmp_path, *ROWS, name="soups.csv")
    message = user_error(read, tmp_path, train="soup.csv")
    assert message.endswith("below --data_dir; did you mean soups.csv?")


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"train": ""}, "train is empty"),
        ({"score": "stars"}, "label='label' and score='stars': name one of these columns"),
        ({"label": "", "score": "stars"}, "second_text is empty"),
        ({"second_text": "text"}, "the column text is named twice; name different columns"),
        ({"label": "text"}, "the column text is named twice"),
        ({"dev_share": 0.0}, "dev_share=0.0 and --config.data.test_share=0.0 must leave"),
        ({"dev_share": 0.5, "test_share": 0.5}, "must leave examples to train on"),
        ({"classes": ("x", "x")}, "at least two different names"),
        ({"lowest": 5}, "lowest=5 must be below --config.data.highest=5"),
        ({"highest": 2**31 - 1}, "must be at most 1,000 above --config.data.lowest=1, since each"),
        ({"lowest": -2000}, "highest=5 must be at most 1,000 above --config.data.lowest=-2000"),
        ({"on_bad_rows": "skip"}, "on_bad_rows=skip must be error or drop"),
        ({"encoding": "latin-x"}, "encoding=latin-x is no encoding of text, such as cp1252."),
        ({"drop_labels": "-1", **SCORES}, "drop_labels=-1 needs a column of labels, not of scores"),
        ({"fold": 10}, "fold=10 is not one of the 10 folds; use 0 to 9."),
        ({"fold": 0, "test": "x.csv"}, "fold=0 replaces the test part"),
    ],
)
def test_options_that_do_not_go_together_are_refused(changed, message):
    found = user_error(check_options, options(**changed))
    assert message in found and "--config.data." in found
