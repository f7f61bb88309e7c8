"""data_prep/corpora/table_rows.py: rows that are dropped, and labels that look missing."""

import json

import pytest

from data_prep.corpora import table
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from disan_tf.input_pipeline.format import read_manifest
from tests.support.corpora.readers import refusal, split_at_spaces, table_options

ROWS = [("hot soup", "order"), ("is it hot", "question")] * 4


@pytest.fixture(autouse=True)
def _split(monkeypatch):
    monkeypatch.setattr(table, "SentenceTokenizer", split_at_spaces)


def options(train, **changed):
    return table_options(train, **{"dev_share": 0.25, "test_share": 0.0, **changed})


def write(folder, rows, name="t.csv"):
    if name.endswith(".jsonl"):
        lines = [json.dumps(row) for row in rows]
    else:
        lines = [",".join(row) for row in [("text", "label"), *rows]]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def read(folder, rows, name="t.csv", **changed):
    return table.read(folder, options(write(folder, rows, name), **changed))


def test_bad_rows_are_dropped_on_request_and_counted_by_reason(tmp_path):
    bad = [(" ", "order"), ("", "order"), ("hot", ""), ("text", "label")]
    corpus = read(tmp_path, [*ROWS[:4], *bad, *ROWS[4:]], on_bad_rows="drop")
    dropped = {"without a text": 2, "without a label": 1, "repeating the header": 1}
    counts = corpus.counts["train"]
    assert counts["dropped"] == dropped and (counts["rows"], counts["kept"]) == (12, 6)
    names = sorted(row.example_id for part in corpus.splits.values() for row in part)
    assert names == sorted(f"train-{number}" for number in (1, 2, 3, 4, 9, 10, 11, 12))


def test_json_rows_may_lack_values(tmp_path):
    rows = [{"text": text, "label": label} for text, label in ROWS]
    bad = [{"text": None, "label": "order"}, {"text": "hot", "label": None}, {"text": "hot"}]
    corpus = read(tmp_path, [*rows, *bad], "t.jsonl", on_bad_rows="drop")
    assert corpus.counts["train"]["dropped"] == {"without a text": 1, "without a label": 2}
    message = refusal(tmp_path, options("t.jsonl"))
    assert "t.jsonl, line 9: text is empty (--config.data.on_bad_rows=drop leaves" in message


def test_a_json_text_that_is_a_number_is_refused(tmp_path):
    name = write(tmp_path, [{"text": 5, "label": "order"}], "t.jsonl")
    assert "line 1: text is not a string (5); " in refusal(tmp_path, options(name))


def test_a_pair_needs_both_texts(tmp_path):
    (tmp_path / "t.csv").write_text("text,other,label\nhot,,x\n")
    message = refusal(tmp_path, options("t.csv", second_text="other"))
    assert "t.csv, line 2: other is empty" in message


@pytest.mark.parametrize("label", ["-1", "-", "nan", "NaN", "None", "n/a", "-1.0"])
def test_a_label_that_looks_missing_gets_a_warning(tmp_path, label):
    corpus = read(tmp_path, [*ROWS, ("hot", label), ("tea", label)])
    (warning,) = corpus.warnings
    assert warning == (
        f"{tmp_path / 't.csv'} has the label {label!r} (2 rows, as in line 10), which often marks "
        f"a missing label; --config.data.drop_labels={label} drops these rows."
    )


@pytest.mark.parametrize("label", ["0", "x", "nano", "1"])
def test_other_labels_get_no_warning(tmp_path, label):
    assert read(tmp_path, [*ROWS, ("hot", label), ("tea", label)]).warnings == []


@pytest.mark.parametrize(
    "labels, drop, reasons",
    [
        (["-1", "-1"], "-1", {"with the label -1": 2}),
        (["-1.0", "-1"], "-1", {"with the label -1": 1, "with the label -1.0": 1}),
        (["-1", "NaN"], "-1,nan", {"with the label -1": 1, "with the label NaN": 1}),
        (["-", "no, thanks"], "-", {"with the label -": 1}),
    ],
)
def test_rows_of_labels_are_dropped_and_counted(tmp_path, labels, drop, reasons):
    rows = [{"text": text, "label": label} for text, label in ROWS]
    rows += [{"text": "hot", "label": label} for label in labels]
    corpus = read(tmp_path, rows, "t.jsonl", drop_labels=drop)
    assert corpus.counts["train"]["dropped"] == reasons
    assert "-1" not in corpus.classes and "order" in corpus.classes


def test_a_dropped_label_may_be_absent_from_given_classes(tmp_path):
    changed = {"classes": ("order", "question"), "drop_labels": "-1"}
    corpus = read(tmp_path, [*ROWS, ("hot", "-1")], **changed)
    assert corpus.counts["train"]["dropped"] == {"with the label -1": 1}


@pytest.mark.parametrize("pair", [("1", "1.0"), ("True", "true"), ("Order", "order")])
def test_two_spellings_of_a_label_get_a_warning(tmp_path, pair):
    rows = [("hot", pair[0]), ("tea", pair[1]), ("soup", "x")] * 2
    (warning,) = read(tmp_path, rows).warnings
    first, second = sorted(pair)
    assert f"has the labels {first!r} (2 rows, as in line " in warning
    assert f" and {second!r} (2 rows, as in line " in warning and "in two spellings" in warning


def test_counts_and_warnings_are_in_the_manifest(tmp_path):
    name = write(tmp_path, [*ROWS, ("", "order"), ("hot", "-1"), ("tea", "nan")])
    chosen = options(name, drop_labels="-1", on_bad_rows="drop")
    manifest = read_manifest(prepare(chosen, tmp_path, tmp_path / "prepared"))
    text = describe_counts(manifest)
    assert "dropped 1 without a text, 1 with the label -1, kept" in text
    assert "warning: " in text and "has the label 'nan' (1 row, as in line 12)" in text


def test_options_of_older_models_lack_the_new_keys(tmp_path):
    name = write(tmp_path, ROWS)
    assert not {"drop_labels", "on_bad_rows", "encoding"} & set(options(name))
    assert table.read(tmp_path, options(name)).counts["train"]["dropped"] == {}


# Files as people have them


def stored(content: str, encoding="utf-8") -> bytes:
    return content.encode(encoding)


TABLE = "text,label\n" + "".join(f"{text},{label}\n" for text, label in ROWS)
FILES = {
    "T.CSV": stored(TABLE),
    "lines.json": stored("".join(json.dumps({"text": t, "label": n}) + "\n" for t, n in ROWS)),
    "array.json": stored(json.dumps([{"text": text, "label": label} for text, label in ROWS])),
    "excel.csv": stored("sep=;\r\n" + TABLE.replace(",", ";").replace("\n", "\r\n")),
    "europe.csv": stored(TABLE.replace(",", ";")),
    "mac.csv": stored(TABLE.replace("\n", "\r")),
    "unicode.txt": stored(TABLE.replace(",", "\t").replace("\n", "\r\n"), "utf-16"),
    "index.csv": stored(TABLE.replace("text", ",text", 1).replace("\nhot", "\n0,hot")).replace(
        b"\nis", b"\n1,is"
    ),
    "kaggle.csv": stored(TABLE.replace("\n", ",,\n")),
    "spaces.csv": stored(TABLE.replace("text,label", " text , label")),
    "pandas.tsv": stored(TABLE.replace("hot soup", '"hot\nsoup"').replace(",", "\t")),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_as_people_have_it_gives_the_same_examples(tmp_path, name):
    (tmp_path / name).write_bytes(FILES[name])
    corpus = table.read(tmp_path, options(name))
    found = [(row.sentences, row.label) for part in corpus.splits.values() for row in part]
    expected = [((tuple(text.split()),), int(label == "question")) for text, label in ROWS]
    assert sorted(found) == sorted(expected)


def test_latin_1_is_named_in_the_error_and_read(tmp_path):
    (tmp_path / "t.csv").write_bytes(TABLE.replace("soup", "café").encode("latin-1"))
    message = refusal(tmp_path, options("t.csv"))
    assert "t.csv, line 2: byte 0xe9 at column 8 is not UTF-8" in message
    assert "--config.data.encoding=latin-1" in message
    corpus = table.read(tmp_path, options("t.csv", encoding="latin-1"))
    assert {row.sentences[0] for row in corpus.splits["train"]} >= {("hot", "café")}
