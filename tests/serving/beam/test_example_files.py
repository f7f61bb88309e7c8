"""TFRecords of `tf.train.Example`s, as input and as output."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.serving.inference.encode import encode
from tests.support.models.bundles import SENTENCES

pytest.importorskip("apache_beam", reason="needs Apache Beam: requirements-beam.txt")
from disan_tf.serving.beam import example_files  # noqa: E402
from disan_tf.serving.beam.example_files import ExampleFiles, to_example  # noqa: E402

FIELDS = ("sentence",)


def write(path, examples):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for example in examples:
            writer.write(example)
    return path


def text(sentence: bytes) -> bytes:
    feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[sentence]))
    return tf.train.Example(
        features=tf.train.Features(feature={"text": feature})
    ).SerializeToString()


@pytest.mark.parametrize(
    "record",
    [
        {"text": "été", "id": 7, "weight": 0.5},
        {"tokens": ["a", "film"], "ids": [1, 2, 3], "weights": [0.5, 0.25]},
        {"tokens": ["film"], "text": "", "none": []},
    ],
)
def test_a_record_is_the_same_after_it_was_an_example(record):
    assert ExampleFiles(FIELDS).record(to_example(record), 1, "a") == record


def test_what_an_example_cannot_hold_is_json():
    record = {"text": "a", "nested": {"b": [None, "é"]}, "mixed": [1, "b"], "large": 1 << 63}
    assert ExampleFiles(FIELDS).record(to_example(record), 1, "a") == {
        "text": "a",
        "nested": '{"b": [null, "é"]}',
        "mixed": '[1, "b"]',
        "large": str(1 << 63),
    }


@pytest.mark.parametrize(
    "example, message",
    [
        (b"no example", "a, record 3: not a tf.train.Example"),
        (text(b"\xff"), "a, record 3: a text is not UTF-8"),
        (to_example({"id": 3}), 'a, record 3: there is no "text" or "tokens"'),
        (None, "a, record 3: the file is damaged, and cannot be read from here on"),
    ],
)
def test_an_example_that_cannot_be_read_is_named(example, message):
    with pytest.raises(UserError, match=message):
        ExampleFiles(FIELDS).record(example, 3, "a")


@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_what_precedes_a_damaged_place_is_read(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(example_files, "CHUNK_RECORDS", 4)
    examples = [text(b"%d" % number) for number in range(10)]
    content = bytearray(write(tmp_path / "a", examples).read_bytes())
    start = 7 * len(content) // 10
    if damage == "cut":
        del content[start + 13 :]
    else:
        content[start + 13] ^= 1
    (tmp_path / "a").write_bytes(content)
    chunks = list(ExampleFiles(FIELDS).chunks(str(tmp_path / "a")))
    assert chunks == [examples[:4], [*examples[4:7], None]]


def test_vectors_come_with_the_records_of_the_input(beam, bundle, tmp_path):
    examples = [to_example({"text": sentence, "id": 3}) for sentence in SENTENCES]
    source = write(tmp_path / "in.tfrecord", [*examples[:2], b"no example", *examples[2:]])
    beam.run(bundle, source, "answers.tfrecord")
    written = list(tf.data.TFRecordDataset([str(path) for path in beam.output.glob("*.tfrecord")]))
    found = tf.io.parse_example(
        tf.stack(written),
        {
            "text": tf.io.FixedLenFeature([], tf.string),
            "id": tf.io.FixedLenFeature([], tf.int64),
            "vector": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
        },
    )
    assert [each.decode() for each in found["text"].numpy()] == SENTENCES
    assert found["id"].numpy().tolist() == [3] * len(SENTENCES)
    (tmp_path / "in.txt").write_text("".join(f"{each}\n" for each in SENTENCES), encoding="utf-8")
    encode(bundle, tmp_path / "in.txt", tmp_path / "expected.npy")
    np.testing.assert_allclose(found["vector"], np.load(tmp_path / "expected.npy"), atol=1e-6)
    (bad,) = beam.bad_lines()
    assert bad["line"] == 3 and bad["reason"].startswith("not a tf.train.Example")
