"""TFRecord files of `tf.train.Example`s, each with a record of `serving.inference.records`.

A string is a bytes feature with one value, a list of strings a feature with several; numbers
likewise. Other values, such as objects, are written as the bytes of their JSON.
"""

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, Optional, Union

import tensorflow as tf
from apache_beam.io.filesystems import FileSystems
from google.protobuf.message import DecodeError

from disan_tf.common.errors import UserError
from disan_tf.serving.inference.records import DEFAULT, Columns, check_record, tokens_name

CHUNK_RECORDS = 2048


class ExampleFiles:
    """Reads TFRecord files of `tf.train.Example`s.

    Args:
      fields: the sentences that a record must have.
      columns: the names under which a record holds them.

    Attributes:
      unit: the name of a numbered item, for errors.
    """

    unit = "record"

    def __init__(self, fields: Sequence[str], columns: Columns = DEFAULT):
        self._fields, self._columns = fields, columns
        self._lists = {tokens_name(field) for field in fields}

    def chunks(self, path: str) -> Iterator[list[Optional[bytes]]]:
        """Yields the serialised examples of a file, in order; None where the file is damaged.

        Nothing can be read after that place.
        """
        with tempfile.NamedTemporaryFile() as copy:  # TensorFlow reads only its own file systems
            with FileSystems.open(path) as file:
                shutil.copyfileobj(file, copy)
            copy.flush()
            dataset, count = tf.data.TFRecordDataset(copy.name), 0
            try:
                for batch in dataset.batch(CHUNK_RECORDS).as_numpy_iterator():
                    yield batch.tolist()
                    count += len(batch)
            except tf.errors.DataLossError:
                yield [*_whole(dataset.skip(count)), None]

    def record(self, example: Optional[bytes], number: int, path: str) -> dict:
        """Parses an example into its record.

        Raises:
          UserError: the example cannot be read, is not UTF-8 or lacks the model's sentences.
        """
        where = f"{path}, {self.unit} {number}"
        if example is None:
            raise UserError(
                f"{where}: the file is damaged, and cannot be read from here on; restore it."
            )
        try:
            features = tf.train.Example.FromString(example).features.feature
            record = {name: _value(features[name], name in self._lists) for name in features}
        except DecodeError:
            raise UserError(f"{where}: not a tf.train.Example; write one a record.") from None
        except UnicodeDecodeError:
            raise UserError(f"{where}: a text is not UTF-8; convert the input to UTF-8.") from None
        return check_record(record, self._fields, where, self._columns)


def to_example(record: dict) -> bytes:
    """Serialises a record as a `tf.train.Example`."""
    features = {name: _feature(value) for name, value in record.items()}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString(
        deterministic=True
    )


def write_examples(file: BinaryIO, examples: Iterable[bytes]) -> None:
    """Writes serialised examples as TFRecords."""
    with tempfile.NamedTemporaryFile() as copy:
        with tf.io.TFRecordWriter(copy.name) as writer:
            for example in examples:
                writer.write(example)
        with open(copy.name, "rb") as written:
            shutil.copyfileobj(written, file)


def _whole(dataset) -> Iterator[bytes]:
    """Yields the records before the first damaged one."""
    try:
        yield from dataset.as_numpy_iterator()
    except tf.errors.DataLossError:
        return


def _value(feature: tf.train.Feature, is_list: bool) -> Union[str, int, float, list]:
    kind = feature.WhichOneof("kind")
    values = list(getattr(feature, kind).value) if kind else []
    if kind == "bytes_list":
        values = [value.decode("utf-8") for value in values]
    return values[0] if len(values) == 1 and not is_list else values


def _feature(value) -> tf.train.Feature:
    values = value if isinstance(value, list) else [value]
    types = {type(item) for item in values}
    if types == {float}:
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    if types == {int} and all(-(1 << 63) <= number < 1 << 63 for number in values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    if types - {str}:
        values = [json.dumps(value, ensure_ascii=False)]
    texts = [text.encode("utf-8") for text in values]
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=texts))
