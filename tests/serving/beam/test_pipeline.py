"""Many lines on Apache Beam: one prediction a line, as `predict` makes it, or a bad line."""

import gzip
import json

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common import files
from disan_tf.common.errors import UserError
from disan_tf.serving.inference.encode import encode
from disan_tf.serving.inference.predict import predict
from disan_tf.serving.inference.records import Columns
from disan_tf.text import text_files
from tests.support.models.bundles import PAIRS, SENTENCES, WORDS, write_pairs

pytest.importorskip("apache_beam", reason="needs Apache Beam: requirements-beam.txt")
from disan_tf.serving.beam import pipeline  # noqa: E402
from disan_tf.serving.beam.pipeline import find_inputs, split_output  # noqa: E402

THREADS = ["--direct_num_workers=2", "--direct_running_mode=multi_threading"]


def predicted(bundle, path, tmp_path) -> list[dict]:
    predict(bundle, path, tmp_path / "expected.jsonl")
    lines = (tmp_path / "expected.jsonl").read_bytes().split(b"\n")[:-1]
    return list(map(json.loads, lines))


def assert_same_rows(found, expected):
    """Equal in any order, but for the rounding of other batches."""
    found, expected = ([dict(row) for row in rows] for rows in (found, expected))
    numbers = []
    for rows in (found, expected):
        rows.sort(key=lambda row: json.dumps({**row, "probabilities": 0, "score": 0}))
        scores = [[row.pop("score", 0), *row.pop("probabilities").values()] for row in rows]
        numbers.append(np.array(scores, float))  # None = nan
    assert found == expected
    np.testing.assert_allclose(*numbers, rtol=0, atol=1e-6)


def generated(count: int) -> tuple[bytes, bytes, list[int]]:
    """Lines, every hundredth of them not UTF-8; those that are; the numbers of the others."""
    generator = np.random.default_rng(5)
    rows = [
        b"caf\xe9 %d" % number
        if number % 100 == 42
        else f"{' '.join(generator.choice(WORDS, generator.integers(0, 40)))} {number}".encode()
        for number in range(1, count + 1)
    ]
    good = [row for row in rows if b"\xe9" not in row]
    bad = [number for number in range(1, count + 1) if number % 100 == 42]
    return b"\n".join(rows), b"\n".join(good), bad


def check_generated(beam, bundle, tmp_path, count, options):
    """Every line has one prediction or one reason, from two workers."""
    content, good, bad = generated(count)
    summary = beam.run(bundle, beam.write("in.txt", content), options=options)
    assert f"{count - len(bad):,} of {count:,} lines" in summary
    assert len(list(beam.output.glob("answers-*-of-*"))) == 2  # both workers wrote
    expected = predicted(bundle, beam.write("good.txt", good), tmp_path)
    assert_same_rows(beam.rows(), expected)
    assert sorted(row["line"] for row in beam.bad_lines()) == bad


def test_predictions_are_those_of_predict(beam, bundle, text, tmp_path):
    path = beam.write("in.txt", text)
    summary = beam.run(bundle, path)
    assert_same_rows(beam.rows(), predicted(bundle, path, tmp_path))
    assert summary == f"Wrote results for 63 of 63 lines to {beam.output}/answers-*-of-*.jsonl."
    assert beam.bad_lines() == []


def test_files_of_all_formats_that_match_are_read(beam, bundle, text, tmp_path):
    beam.write("b.in.jsonl.gz", gzip.compress(b'{"text": "zipped"}\n' * 50))
    beam.write("a.in.txt", "film\r\nété\r\n".encode("utf-16"))
    beam.run(bundle, tmp_path / "*.in.*")
    assert sorted(row["text"] for row in beam.rows()) == ["film", *["zipped"] * 50, "été"]


def test_a_bad_line_has_a_reason_and_the_others_have_predictions(beam, bundle, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 600)
    monkeypatch.setattr(text_files, "CHUNK_BYTES", 300)
    content = b"\xef\xbb\xbfa film\nbad \xff\n" + b"x" * 1500 + b"\nboring\r\nnew"
    path = beam.write("in.txt", content)
    summary = beam.run(bundle, path)
    assert sorted(row["text"] for row in beam.rows()) == ["a film", "boring", "new"]
    assert sorted(beam.bad_lines(), key=lambda row: row["line"]) == [
        {
            "file": str(path),
            "line": 2,
            "content": "bad \\xff",
            "reason": "byte 0xff at column 5 is not UTF-8; save the text as UTF-8.",
        },
        {
            "file": str(path),
            "line": 3,
            "content": "",
            "reason": "a line may have 600 bytes, and this one has more; divide it "
            "or restore the file.",
        },
    ]
    assert summary.startswith("Wrote results for 3 of 5 lines")
    assert f"; 2 cannot be read, see {beam.output}/answers.bad-lines-*-of-*.jsonl." in summary


def test_json_lines_keep_their_fields(beam, bundle, tmp_path):
    rows = [{"text": SENTENCES[0], "id": 7}, {"tokens": ["a", "film"]}, {"text": 5}, {"id": 3}]
    path = beam.write("in.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    beam.run(bundle, path)
    good = beam.write("good.jsonl", "".join(json.dumps(row) + "\n" for row in rows[:2]).encode())
    assert_same_rows(beam.rows(), predicted(bundle, good, tmp_path))
    assert sorted((row["line"], row["reason"]) for row in beam.bad_lines()) == [
        (3, '"text" is not a string; write it in quotes.'),
        (4, 'there is no "text" or "tokens"; add one of them.'),
    ]


def test_the_column_of_the_training_is_read(beam, bundle, monkeypatch):
    columns = Columns({"sentence": ("review",)})
    monkeypatch.setattr(pipeline, "columns_of", lambda config, fields: columns)
    monkeypatch.setattr("disan_tf.serving.inference.model.columns_of", lambda *_: columns)
    beam.run(bundle, beam.write("in.jsonl", b'{"review": "a film"}\n{"text": "a film"}\n'))
    assert [row["review"] for row in beam.rows()] == ["a film"] and len(beam.bad_lines()) == 1


def test_pairs_have_predictions(beam, pair_bundle, tmp_path):
    path = write_pairs(tmp_path / "pairs.txt")
    with open(path, "a", encoding="utf-8") as file:
        file.write("alone\n")
    beam.run(pair_bundle, path)
    good = write_pairs(tmp_path / "good.txt")
    assert_same_rows(beam.rows(), predicted(pair_bundle, good, tmp_path))
    (row,) = beam.bad_lines()
    assert row["line"] == len(PAIRS) + 1 and row["reason"].startswith("1 column, not 2")


def test_vectors_are_those_of_encode_with_the_records(beam, bundle, tmp_path):
    records = [{"text": sentence, "id": number} for number, sentence in enumerate(SENTENCES)]
    path = beam.write("in.jsonl", "".join(json.dumps(row) + "\n" for row in records).encode())
    beam.run(bundle, path, "answers.tfrecord")
    written = tf.data.TFRecordDataset(list(map(str, beam.output.glob("answers-*-of-*.tfrecord"))))
    encode(bundle, path, tmp_path / "expected.npy")
    expected = np.load(tmp_path / "expected.npy")
    features = {
        "text": tf.io.FixedLenFeature([], tf.string),
        "id": tf.io.FixedLenFeature([], tf.int64),
        "vector": tf.io.FixedLenFeature(expected.shape[1:], tf.float32),
    }
    found = tf.io.parse_example(tf.stack(list(written)), features)
    order = np.argsort(found["id"])
    assert [found["text"][row].numpy().decode() for row in order] == SENTENCES
    np.testing.assert_allclose(found["vector"].numpy()[order], expected, atol=1e-6)


def test_two_workers_predict_for_each_line_once(beam, bundle, tmp_path):
    check_generated(beam, bundle, tmp_path, 500, THREADS)


def test_a_job_that_fails_writes_no_shard(beam, bundle, text, monkeypatch):
    def fail(model, records):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pipeline, "predictions", fail)
    with pytest.raises(Exception, match="No space left"):
        beam.run(bundle, beam.write("in.txt", text))
    assert list(beam.output.glob("answers*")) == []


@pytest.mark.parametrize(
    "name, input_format",
    [
        ("a", "text"),
        ("a.jsonl.gz", "jsonl"),
        ("a.JSON", "jsonl"),
        ("a.jsonl-00000-of-00009", "jsonl"),
    ],
)
def test_the_format_is_that_of_the_name(tmp_path, monkeypatch, name, input_format):
    (tmp_path / name).touch()
    (tmp_path / "a_folder").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_inputs("a*") == [(str(tmp_path / name), input_format)]
    assert find_inputs("a*", "text") == [(str(tmp_path / name), "text")]


@pytest.mark.parametrize("name", ["a.CSV", "a.tfrecord-00000-of-00009"])
def test_a_table_and_tfrecords_are_refused(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(UserError, match=f"{name} is no file of text or JSON lines; write its rows"):
        find_inputs(f"{tmp_path}/*")


@pytest.mark.parametrize(
    "pattern, message",
    [
        ("absent-*.txt", r"--input=absent-\*\.txt matches no file"),
        (".", r"--input=\. matches no file"),
        ("nothing://a/b.txt", "--input=nothing://a/b.txt: .*filesystem"),
    ],
)
def test_an_input_that_is_not_there_is_refused(pattern, message):
    with pytest.raises(UserError, match=message):
        find_inputs(pattern)


@pytest.mark.parametrize(
    "output, message",
    [
        ("answers.npy", r"--output=answers\.npy must end with \.jsonl or \.tfrecord"),
        ("answers*.jsonl", r"must have none of \*\?\[\] in its path"),
        ("nothing://a/b.jsonl", "--output=nothing://a/b.*filesystem"),
    ],
)
def test_an_output_that_cannot_be_is_refused(output, message):
    with pytest.raises(UserError, match=message):
        split_output(output)


@pytest.mark.parametrize("old", ["out-1-of-2.jsonl", "out.bad-lines-00000-of-00001.jsonl"])
def test_an_existing_output_is_refused(tmp_path, old):
    (tmp_path / old).touch()
    with pytest.raises(UserError, match=f"{old} exists already; name another output or delete it"):
        split_output(f"{tmp_path}/out.jsonl")
