"""Many lines on Apache Beam: each answered once, as `predict` answers it, or told to be bad."""

import gzip
import json

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.files import LONGEST_LINE
from disan_tf.serving.inference.encode import encode
from disan_tf.serving.inference.predict import predict
from disan_tf.serving.inference.records import Columns
from disan_tf.text import text_files
from tests.support.models.bundles import PAIRS, SENTENCES, WORDS, write_pairs

THREADS = ["--direct_num_workers=2", "--direct_running_mode=multi_threading"]
PROCESSES = ["--direct_num_workers=2", "--direct_running_mode=multi_processing"]


def predicted(bundle, path, tmp_path) -> bytes:
    predict(bundle, path, tmp_path / "expected.jsonl")
    return (tmp_path / "expected.jsonl").read_bytes()


def parsed(lines: bytes) -> list:
    return [json.loads(line) for line in lines.split(b"\n")[:-1]]


def assert_same_answers(answers, expected):
    """Equal but for the rounding of other batches."""
    assert [(row["text"], row["label"]) for row in answers] == [
        (row["text"], row["label"]) for row in expected
    ]
    found, wanted = (
        [[*row["probabilities"].values()] for row in rows] for rows in (answers, expected)
    )
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


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
    """Every line is answered once or told to be bad, by two workers."""
    content, good, bad = generated(count)
    path = beam.write("in.txt", content)
    summary = beam.run(bundle, path, options=options, shard_bytes=count * 20)
    assert summary.counts == {"lines": count, "bad": len(bad)}
    shards = beam.shards()
    assert len(shards) > 2 and all(shards)
    expected = predicted(bundle, beam.write("good.txt", good), tmp_path)
    assert_same_answers(parsed(b"".join(shards)), parsed(expected))
    assert [row["line"] for row in beam.bad_lines()] == bad


def test_answers_are_those_of_predict_to_the_byte_in_the_order_of_the_input(
    beam, bundle, text, tmp_path
):
    path = beam.write("in.txt", text)
    summary = beam.run(bundle, path, shard_bytes=len(text) // 3 + 1)
    shards = beam.shards()
    assert len(shards) == 3 and all(shards)
    assert b"".join(shards) == predicted(bundle, path, tmp_path)
    assert sorted(each.name for each in beam.output.iterdir())[0] == "answers-00000-of-00003.jsonl"
    assert str(summary) == f"63 of 63 lines are answered in {beam.output}/answers-*-of-*.jsonl"


def test_files_follow_each_other_by_name(beam, bundle, text, tmp_path):
    beam.write("b.txt", text)
    beam.write("a.txt", b"a film\n")
    beam.run(bundle, tmp_path / "*.txt")
    first, second = beam.shards()
    assert [row["text"] for row in parsed(first)] == ["a film"] and second.count(b"\n") == 63


def test_a_bad_line_is_told_with_its_reason_and_the_others_are_answered(beam, bundle, monkeypatch):
    monkeypatch.setattr(text_files, "LONGEST_LINE", 600)
    content = b"\xef\xbb\xbfa film\nbad \xff\n" + b"x" * 1500 + b"\nboring\r\nnew"
    path = beam.write("in.txt", content)
    summary = beam.run(bundle, path)
    (shard,) = beam.shards()
    assert [row["text"] for row in parsed(shard)] == ["a film", "boring", "new"]
    assert beam.bad_lines() == [
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
            "reason": f"a line may have {LONGEST_LINE:,} bytes, and this one has more; divide it "
            "or restore the file.",
        },
    ]
    assert str(summary).startswith("3 of 5 lines are answered") and "2 cannot be read" in str(
        summary
    )


def test_json_lines_keep_their_fields(beam, bundle, tmp_path):
    rows = [{"text": SENTENCES[0], "id": 7}, {"tokens": ["a", "film"]}, {"text": 5}, {"id": 3}]
    path = beam.write("in.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    beam.run(bundle, path)
    (shard,) = beam.shards()
    good = beam.write("good.jsonl", "".join(json.dumps(row) + "\n" for row in rows[:2]).encode())
    assert shard == predicted(bundle, good, tmp_path)
    assert [row["reason"] for row in beam.bad_lines()] == [
        '"text" is not a string; write it in quotes.',
        'there is no "text" or "tokens"; add one of them.',
    ]


def test_an_array_has_a_record_in_each_object(beam, bundle, tmp_path):
    rows = [{"text": SENTENCES[0], "label": "gold"}, {"text": 5}]
    path = beam.write("in.json", json.dumps(rows, indent=1).encode())
    beam.run(bundle, path)
    (shard,) = beam.shards()
    good = beam.write("good.json", json.dumps(rows[:1]).encode())
    assert shard == predicted(bundle, good, tmp_path)
    (row,) = parsed(shard)
    assert row["label"] == "gold" and "predicted_label" in row
    assert [row["line"] for row in beam.bad_lines()] == [2]


def test_the_column_of_the_training_is_read(beam, bundle, monkeypatch):
    from disan_tf.serving.beam import kinds

    columns = Columns({"sentence": ("review",)})
    monkeypatch.setattr(kinds, "columns_of", lambda config, fields: columns)
    beam.run(bundle, beam.write("in.jsonl", b'{"review": "a film"}\n{"text": "a film"}\n'))
    (shard,) = beam.shards()
    assert [row["review"] for row in parsed(shard)] == ["a film"] and len(beam.bad_lines()) == 1


def test_texts_in_utf_16_are_read(beam, bundle, tmp_path):
    beam.run(bundle, beam.write("in.txt", "a film\r\nété\r\n".encode("utf-16")))
    (shard,) = beam.shards()
    assert [row["text"] for row in parsed(shard)] == ["a film", "été"]


def test_pairs_are_answered(beam, pair_bundle, tmp_path):
    path = write_pairs(tmp_path / "pairs.txt")
    with open(path, "a", encoding="utf-8") as file:
        file.write("alone\n")
    beam.run(pair_bundle, path)
    (shard,) = beam.shards()
    assert shard == predicted(pair_bundle, write_pairs(tmp_path / "good.txt"), tmp_path)
    (row,) = beam.bad_lines()
    assert row["line"] == len(PAIRS) + 1 and row["reason"].startswith("1 column, not 2")


def test_a_compressed_file_is_one_shard(beam, bundle, text, tmp_path):
    beam.run(
        bundle,
        beam.write("in.jsonl.gz", gzip.compress(b'{"text": "a film"}\n' * 50)),
        shard_bytes=100,
    )
    (shard,) = beam.shards()
    assert shard.count(b'"a film"') == 50


def test_an_array_has_a_row_for_each_line_and_nothing_in_those_of_bad_ones(
    beam, bundle, text, tmp_path
):
    path = beam.write("in.txt", text)
    encode(bundle, path, tmp_path / "expected.npy", dtype="float16")
    beam.write("in.txt", text.replace(b"boring 3\n", b"\xff\n"))
    beam.run(bundle, path, "answers.npy", vector_dtype="float16", shard_bytes=len(text) // 3 + 1)
    shards = [np.load(path) for path in sorted(beam.output.glob("*.npy"))]
    vectors, expected = np.concatenate(shards), np.load(tmp_path / "expected.npy")
    assert len(shards) == 3 and vectors.dtype == np.float16 and vectors.shape == expected.shape
    (bad,) = np.flatnonzero(np.isnan(vectors).any(axis=1))
    assert bad == 3 * len(SENTENCES) + 3 and np.isnan(vectors[bad]).all()
    assert [row["line"] for row in beam.bad_lines()] == [bad + 1]
    others = np.arange(len(vectors)) != bad
    np.testing.assert_allclose(vectors[others], expected[others], atol=1e-3)


@pytest.mark.parametrize("name", ["answers.jsonl", "answers.npy"])
def test_an_empty_file_gives_an_empty_shard(beam, bundle, name):
    beam.run(bundle, beam.write("in.txt", b""), name)
    (path,) = beam.output.iterdir()
    if path.suffix == ".npy":
        vectors = np.load(path)
        assert len(vectors) == 0 and vectors.dtype == np.float32
    else:
        assert path.read_bytes() == b""


def test_two_workers_answer_each_line_once(beam, bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "CHUNK_BYTES", 5000)
    check_generated(beam, bundle, tmp_path, 500, THREADS)


@pytest.mark.slow
def test_two_processes_answer_each_of_20_000_lines_once(beam, bundle, tmp_path, monkeypatch):
    monkeypatch.undo()  # chunks of the usual size
    check_generated(beam, bundle, tmp_path, 20_000, PROCESSES)


def test_an_existing_output_is_refused_and_kept(beam, bundle):
    beam.output.mkdir()
    old = beam.output / "answers-00000-of-00007.jsonl"
    old.write_text("old")
    with pytest.raises(
        UserError, match=r"answers-00000-of-00007\.jsonl exists already; name another"
    ):
        beam.run(bundle, beam.write("in.txt", b"a film\n"))
    assert [path.read_text() for path in beam.output.iterdir()] == ["old"]


def test_a_job_that_fails_leaves_nothing(beam, bundle, text, monkeypatch):
    from disan_tf.serving.beam import kinds

    def fail(file, rows):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kinds, "write_lines", fail)
    with pytest.raises(Exception, match="No space left"):
        beam.run(bundle, beam.write("in.txt", text), shard_bytes=1000)
    assert list(beam.output.iterdir()) == []


def test_shards_that_appear_meanwhile_are_not_replaced(beam, bundle, monkeypatch):
    from disan_tf.serving.beam import kinds

    def write(file, rows):
        (beam.output / "answers-00000-of-00001.jsonl").write_text("of another run")

    monkeypatch.setattr(kinds, "write_lines", write)
    with pytest.raises(Exception, match="exists already"):
        beam.run(bundle, beam.write("in.txt", b"a film\n"))
    assert beam.shards() == [b"of another run"]
