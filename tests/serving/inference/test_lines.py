"""Reading lines, JSON objects and tables: nothing is dropped, every mistake names its line."""

import gzip
import io
import json
import os
from types import SimpleNamespace

import pandas as pd
import pytest

from disan_tf.common.errors import UserError
from disan_tf.models.base import SENTENCE
from disan_tf.serving.inference import lines
from disan_tf.serving.inference.batches import look_up, tokenise
from disan_tf.serving.inference.inputs import read_inputs
from disan_tf.serving.inference.lines import read_chunks
from disan_tf.serving.inference.records import SINGLE, columns_of, usual_columns
from disan_tf.text import TextToIds, TracedTextToIds
from tests.support.errors import user_error

NLI = usual_columns(("premise", "hypothesis"))


def read(path, input_format=None, columns=SINGLE):
    return [record for chunk in read_chunks(path, input_format, columns) for record in chunk]


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture(scope="module")
def text_to_ids():
    plain = TextToIds(["a", "film", "is", "n't", "-lrb-"], "treebank", lowercase=True)
    return TracedTextToIds(plain)


def test_lines_end_with_a_newline_alone(tmp_path):
    path = write(tmp_path / "a.txt", "one\r\n\n t\u2028w\x0co\x85 \n\rthree\r\nlast")
    texts = ["one", "", " t\u2028w\x0co\x85 ", "\rthree", "last"]
    assert read(path) == [{"text": text} for text in texts]


@pytest.mark.parametrize(
    "name, content, count",
    [
        ("a.txt", "one\ntwo", 2),
        ("a.csv", "text,id\none,1\n", 1),
        ("a.csv", "", 0),
    ],
)
def test_lines_are_counted_without_the_header(tmp_path, monkeypatch, name, content, count):
    monkeypatch.setattr(lines, "is_terminal", lambda: True)
    assert lines.count_lines(write(tmp_path / name, content)) == count


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(UserError, match="'xls'; choose text or jsonl or tsv or csv"):
        read(tmp_path / "a.txt", "xls")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "a"', r"not JSON \(Expecting ',' delimiter, column 13\)"),
        (b'{"id": 1}', 'there is no "text" or "tokens"; add one of them'),
        (b'{"text": null}', '"text" is not a string'),
        (b'{"text": ["a", "b"]}', '"text" is not a string; it holds tokens: name it "tokens"'),
        (b'{"text": 5}', '"text" is not a string; write it in quotes'),
        (b'{"tokens": null}', 'there is no "text" or "tokens"; add one of them'),
        (b'{"tokens": ""}', 'there is no "text" or "tokens"; add one of them'),
        (b'{"text": "a", "tokens": 0}', '"tokens" is not a list of strings'),
        (b'{"text": "a", "tokens": false}', '"tokens" is not a list of strings'),
        (b'{"tokens": "a b"}', '"tokens" is not a list of strings'),
        (b'{"tokens": ["a", 1]}', '"tokens" is not a list of strings'),
        (b'{"text": "\xff"}', "byte 0xff at column 11 is not UTF-8"),
    ],
)
def test_a_broken_line_is_named(tmp_path, line, message):
    path = write(tmp_path / "a.jsonl", b'{"text": "a"}\n{"text": ""}\n' + line + b"\n")
    with pytest.raises(UserError, match=rf"a\.jsonl, line 3: {message}") as error:
        read(path)
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


def test_a_pipe_is_read_as_it_speaks(monkeypatch):
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as sink:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=source))
        chunks = read_chunks("-")
        for text in ("first", "second"):
            sink.write(text.encode() + b"\n")
            assert next(chunks) == [{"text": text}]


NULL_TOKENS = '{"text": "A film", "tokens": null}\n'


def test_tokens_that_are_null_or_an_empty_cell_are_absent(tmp_path, text_to_ids):
    counted = "text,tokens\nA film,2\n"  # another column of this name
    files = {"a.csv": "text,tokens\nA film,\n", "a.jsonl": NULL_TOKENS, "b.csv": counted}
    for name, content in files.items():
        assert tokenise(read(write(tmp_path / name, content)), text_to_ids) == [(["A", "film"],)]


def test_a_text_that_is_null_beside_tokens_is_absent(tmp_path, text_to_ids):
    row = {"text": None, "tokens": ["A", "("]}
    records = read(write(tmp_path / "a.jsonl", json.dumps(row)))
    assert tokenise(records, text_to_ids) == tokenise(read_inputs([row]), text_to_ids)
    assert records == [row]
    with pytest.raises(UserError, match='"text" is not a string'):
        read(write(tmp_path / "b.jsonl", '{"text": null, "tokens": null}'))


def test_text_is_tokenised_and_tokens_are_taken_as_they_are(text_to_ids):
    records = [{"text": "A film isn't ("}, {"tokens": ["isn't", "("], "text": "x"}, {"text": " "}]
    tokens = tokenise(records, text_to_ids)
    assert tokens == [(["A", "film", "is", "n't", "-LRB-"],), (["isn't", "("],), ([""],)]
    (ids,) = (each.numpy().tolist() for each in look_up(tokens, text_to_ids))
    assert ids == [[2, 3, 4, 5, 6], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]]


def test_a_line_of_a_pair_has_a_tab_between_its_sentences(tmp_path):
    path = write(tmp_path / "a.txt", "a film\tno film\r\n\t\n\n \n")
    assert read(path, columns=NLI) == [
        {"premise": "a film", "hypothesis": "no film"},
        *[{"premise": "", "hypothesis": ""}] * 3,
    ]


@pytest.mark.parametrize("line", ["a film", "a\tb\tc"])
def test_a_line_that_is_no_pair_is_named(tmp_path, line):
    path = write(tmp_path / "a.txt", f"a\tb\n{line}\n")
    message = rf"a\.txt, line 2: {line.count(chr(9)) + 1} columns?, not 2; .* --input_format=tsv"
    with pytest.raises(UserError, match=message):
        read(path, columns=NLI)


@pytest.mark.parametrize("names", [NLI.fields, ("sentence1", "sentence2")])
def test_pairs_are_looked_up_by_either_names_or_as_tokens(tmp_path, text_to_ids, names):
    pairs = [dict(zip(names, ("A film", "isn't"))), {names[0]: "a", "hypothesis_tokens": ["film"]}]
    path = write(tmp_path / "a.jsonl", "".join(json.dumps(pair) + "\n" for pair in pairs))
    records = read(path, columns=NLI)
    assert records == pairs
    tokens = tokenise(records, text_to_ids, NLI)
    assert tokens == [(["A", "film"], ["is", "n't"]), (["a"], ["film"])]
    ids = [each.numpy().tolist() for each in look_up(tokens, text_to_ids)]
    assert ids == [[[2, 3], [2, 0]], [[4, 5], [3, 0]]]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"premise": "a"}, 'there is no "hypothesis", "sentence2" or "hypothesis_tokens"'),
        ({"premise_tokens": "a b", "sentence2": "a"}, '"premise_tokens" is not a list of strings'),
    ],
)
def test_a_pair_that_lacks_a_sentence_is_named(tmp_path, record, message):
    path = write(tmp_path / "a.jsonl", json.dumps(record) + "\n")
    with pytest.raises(UserError, match=rf"a\.jsonl, line 1: {message}"):
        read(path, columns=NLI)


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.jsonl", '{"text": "a"}\n \n{"text": "b"}\n'),
        ("a.csv", "id,text\n1,a\n\n2,b\n"),
        ("a.tsv", "id\ttext\n1\ta\n \n2\tb\n"),
    ],
)
def test_a_blank_line_is_a_record_with_a_blank_text(tmp_path, name, content):
    assert [record["text"] for record in read(write(tmp_path / name, content))] == ["a", "", "b"]


def own_columns(fields=SENTENCE, chosen=(), **data):
    return columns_of({"data": {"corpus": "table", **data}}, fields, chosen)


def test_the_column_of_the_training_is_read_before_ours(tmp_path, text_to_ids):
    path = write(tmp_path / "a.csv", "review,text\na film,x\n")
    columns = own_columns(text="review")
    records = read(path, columns=columns)
    assert tokenise(records, text_to_ids, columns) == [(["a", "film"],)]
    assert read(write(tmp_path / "b.csv", "text\na film\n"), columns=columns)


def test_a_chosen_column_is_read_alone(tmp_path):
    columns = own_columns(chosen=["tokens"], text="review")
    path = write(tmp_path / "a.csv", "review,tokens\nx,a film\n")
    assert columns.find_tokens(read(path, columns=columns)[0], "sentence") is None
    with pytest.raises(UserError, match='there is no "tokens" among the columns review, text; '):
        read(write(tmp_path / "b.csv", "review,text\nx,y\n"), columns=columns)


@pytest.mark.parametrize(
    "names", [("tokens",), ("premise_tokens", "b"), ("hypothesis_tokens", "premise_tokens")]
)
def test_a_column_of_the_training_may_be_named_like_a_list_of_tokens(tmp_path, text_to_ids, names):
    fields = NLI.fields if len(names) == 2 else SENTENCE
    columns = own_columns(fields, **dict(zip(("text", "second_text"), names)))
    path = write(tmp_path / "a.csv", f"{','.join(names)}\n{','.join(['a film'] * len(names))}\n")
    given = [
        *read(path, columns=columns),
        *read_inputs({name: ["a film"] for name in names}, columns),
    ]
    assert tokenise(given, text_to_ids, columns) == [(["a", "film"],) * len(names)] * 2


@pytest.mark.parametrize("options", [{"text": "tokens"}, {"text": "a", "chosen": ["tokens"]}])
def test_a_list_in_a_column_of_texts_is_refused_without_a_name_for_it(tmp_path, options):
    path = write(tmp_path / "a.jsonl", '{"tokens": ["a", "film"]}\n')
    with pytest.raises(UserError, match='line 1: "tokens" is not a string; write it in quotes.$'):
        read(path, columns=own_columns(**options))


def test_as_many_columns_are_chosen_as_the_model_reads():
    with pytest.raises(UserError, match="--text_column=a,b must name one column: the model"):
        own_columns(chosen=["a", "b"])


def test_a_table_without_the_column_gets_a_hint(tmp_path):
    path = write(tmp_path / "a.csv", "id;body\n1;a\n")
    with pytest.raises(UserError, match="among the columns id, body; .* name its columns with --t"):
        read(path)
    with pytest.raises(UserError, match=r"the columns id, Text \(did you mean Text\?\); "):
        read(write(tmp_path / "b.csv", "id,Text\n1,a\n"))


@pytest.mark.parametrize(
    "content, records",
    [
        ("id\ttext\n1\ta, b\n", [{"id": "1", "text": "a, b"}]),
        ("text\na, b\n", [{"text": "a, b"}]),
        ('"text";"id"\na, b;1\n', [{"text": "a, b", "id": "1"}]),
        ('{"id": 1, "text": "a"}\n{"text": "b"}\n', [{"id": 1, "text": "a"}, {"text": "b"}]),
    ],
)
def test_a_header_or_json_on_standard_input_is_seen_and_said(content, records, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
    assert read("-") == records
    kind = "JSON" if content.startswith("{") else "a header"
    assert f"is read as {kind}; with --input_format=text it is a" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "text, a good film",
        "tokens",
        "id,body",
    ],
)
def test_a_first_sentence_is_no_header(line, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(line.encode())))
    assert read("-") == [{"text": line}]
    assert capsys.readouterr().err == ""


def test_a_first_json_object_without_a_text_is_no_sentence(monkeypatch, capsys):
    content = b'{"review": "a film"}'
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    message = user_error(read, "-")
    assert 'there is no "text" or "tokens" among the columns review' in message
    assert "--text_column" in message
    assert "with --input_format=text it is a sentence" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name, content, input_format, kind",
    [
        ("a.txt", '{"id": 1}', "jsonl", "JSON"),
        ("a.txt", '{"text": "a"}', "jsonl", "JSON"),
        ("a", '[{"text": "a"}]', "jsonl", "a JSON array"),
        ("a.txt", "[", "jsonl", "a JSON array"),
        ("a.data", "text;id", "csv", "a header"),
    ],
)
def test_another_format_under_a_name_of_text_gets_a_warning(
    tmp_path, name, content, input_format, kind, capsys
):
    path = write(tmp_path / name, content)
    assert read(path) == [{"text": content}]
    assert capsys.readouterr().err == (
        f"warning: {path}: line 1 ({content!r}) is read as a sentence; with "
        f"--input_format={input_format} it is {kind}.\n"
    )
    read(path, "text")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "name, content",
    [
        ("b.json", b'[{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]'),
        ("a.tsv.gz", gzip.compress(b"id\ttext\n1\ta\n2\tb\n", mtime=0)),
        ("B.CSV", "id\ttext\r\n1\ta\r\n2\tb\r\n".encode("utf-16")),
    ],
)
def test_a_file_as_people_have_it_has_the_same_records(tmp_path, name, content):
    expected = [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]
    assert read(write(tmp_path / name, content)) == expected


def test_another_encoding_is_read_on_request(tmp_path):
    path = write(tmp_path / "a.csv", b"text\ncaf\xe9\n")
    (chunk,) = read_chunks(path, encoding="cp1252")
    assert chunk == [{"text": "café"}]
    with pytest.raises(UserError, match="line 2: .* not UTF-8; .*--input_encoding=cp1252"):
        read(path)
    with pytest.raises(UserError, match="--input_encoding=x-1 is no encoding of text"):
        list(read_chunks(path, encoding="x-1"))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            'id,text\n1,"a\nb\n',
            "line 2: the quoted value that begins here does not end; close the quote",
        ),
        ('id,text\n1,"a"b\n', "line 2: not CSV"),
        ("id,text\n1,a\nid,text\n", "line 3: the header is repeated; remove this line"),
    ],
)
def test_a_broken_comma_table_is_named(tmp_path, rows, message):
    with pytest.raises(UserError, match=rf"a\.csv, {message}"):
        read(write(tmp_path / "a.csv", rows))


def test_each_record_is_checked_with_its_line(tmp_path):
    found = []
    path = write(tmp_path / "a.tsv", "text\na\nb\n")
    list(read_chunks(path, check=lambda record, where: found.append((record["text"], where))))
    assert found == [("a", f"{path}, line 2"), ("b", f"{path}, line 3")]


def test_a_row_that_is_written_is_read_back(tmp_path):
    record, prediction = {"text": "good\rbad", "id": "1\n,2"}, {"label": "a", "probabilities": {}}
    table = lines.CsvLines(prediction)
    table.check(record, "line 1")
    content = table.line(record, prediction)
    (found,) = read(write(tmp_path / "a.csv", content))
    assert found.items() >= record.items() and content.endswith(b",a,,\n")
    assert len(pd.read_csv(tmp_path / "a.csv")) == 1
