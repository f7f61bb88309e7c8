"""Warm-up requests, which TensorFlow Serving sends to a model before it opens it to clients.

A request is a `PredictionLog` of tensorflow_serving/apis/prediction_log.proto. It needs two kinds
of fields, and the package tensorflow-serving-api would fix the version of protobuf.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf

FILE = "assets.extra/tf_serving_warmup_requests"


def write_requests(
    saved_model: Path, name: str, requests: Iterable[tuple[str, Mapping[str, np.ndarray]]]
) -> None:
    """Writes the requests that warm a SavedModel up: signatures, and their inputs by name."""
    path = saved_model / FILE
    path.parent.mkdir(exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for signature, inputs in requests:
            writer.write(_prediction_log(name, signature, inputs))


def _prediction_log(name: str, signature: str, inputs: Mapping[str, np.ndarray]) -> bytes:
    """Returns PredictionLog{6: PredictLog{1: PredictRequest}} as protobuf encodes it."""
    request = _field(1, _field(1, name.encode()) + _field(3, signature.encode()))  # model_spec
    for key, array in inputs.items():
        tensor = tf.make_tensor_proto(array).SerializeToString()
        request += _field(2, _field(1, key.encode()) + _field(2, tensor))  # an entry of a map
    return _field(6, _field(1, request))


def _field(number: int, content: bytes) -> bytes:
    """Encodes a field that holds bytes, text or a message: its tag, its length, its content."""
    size, length = len(content), []
    while size > 127:
        length.append(size % 128 + 128)
        size //= 128
    return bytes([8 * number + 2, *length, size]) + content
