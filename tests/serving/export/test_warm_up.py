"""Warm-up requests are the messages that TensorFlow Serving reads."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.serving.export.warm_up import FILE, write_requests

# `PredictionLog` of tensorflow-serving-api 2.15.1 with the request of `_written`.
OFFICIAL = bytes.fromhex(
    "32310a2f0a0e0a0474696e791a06656e636f6465121d0a036964731216"
    "08031208120208011202080222080100000002000000"
)


INPUTS = OFFICIAL[-31:]
LONG = bytes.fromhex("32f8010af5010ad3010ac801") + b"a" * 200 + b"\x1a\x06encode" + INPUTS


def _written(folder, name="tiny"):
    inputs = {"ids": np.array([[1, 2]], np.int32)}
    write_requests(folder, name, [("encode", inputs)])
    (record,) = tf.data.TFRecordDataset(str(folder / FILE)).as_numpy_iterator()
    return record


def test_a_request_has_the_bytes_of_the_official_message(tmp_path):
    assert _written(tmp_path) == OFFICIAL
    assert _written(tmp_path, "a" * 200) == LONG  # lengths above 127 take two bytes


def test_the_official_classes_read_it(tmp_path):
    official = pytest.importorskip(
        "tensorflow_serving.apis.prediction_log_pb2", reason="tensorflow-serving-api is missing"
    )
    request = official.PredictionLog.FromString(_written(tmp_path)).predict_log.request
    assert request.model_spec.name == "tiny" and request.model_spec.signature_name == "encode"
    np.testing.assert_array_equal(tf.make_ndarray(request.inputs["ids"]), [[1, 2]])
