"""Warm-up requests, which TensorFlow Serving sends to a model before it opens it to clients.

The messages come from tensorflow-serving-api (`PredictionLog` in
tensorflow_serving/apis/prediction_log.proto). A request needs three of them, and the package would
fix the version of protobuf. A tensor is here its serialized `TensorProto`, which has the same
bytes.
"""

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FILE = "assets.extra/tf_serving_warmup_requests"

_PACKAGE = "disan_tf.warm_up"
_Field = descriptor_pb2.FieldDescriptorProto
_MESSAGES = {  # name -> field -> its number and its type, or the name of its message
    "PredictionLog": {"predict_log": (6, "PredictLog")},
    "PredictLog": {"request": (1, "PredictRequest")},
    "PredictRequest": {"model_spec": (1, "ModelSpec"), "inputs": (2, "Input")},
    "Input": {"key": (1, _Field.TYPE_STRING), "value": (2, _Field.TYPE_BYTES)},  # an entry of a map
    "ModelSpec": {"name": (1, _Field.TYPE_STRING), "signature_name": (3, _Field.TYPE_STRING)},
}
_REPEATED = "inputs"


def write_requests(
    saved_model: Path, name: str, requests: Iterable[tuple[str, Mapping[str, np.ndarray]]]
) -> None:
    """Writes the requests that warm a SavedModel up.

    Args:
      saved_model: the SavedModel's folder.
      name: the model's name.
      requests: signatures, and their inputs by name.
    """
    path = saved_model / FILE
    path.parent.mkdir(exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for signature, inputs in requests:
            writer.write(_message(name, signature, inputs).SerializeToString(deterministic=True))


def _message(name, signature, inputs):
    log = _classes()["PredictionLog"]()
    request = log.predict_log.request
    request.model_spec.name, request.model_spec.signature_name = name, signature
    for key, array in inputs.items():
        request.inputs.add(key=key, value=tf.make_tensor_proto(array).SerializeToString())
    return log


@functools.cache
def _classes() -> dict:
    """Makes the classes of `_MESSAGES`, in a pool of their own."""
    file = descriptor_pb2.FileDescriptorProto(
        name="disan_tf/warm_up.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            label = _Field.LABEL_REPEATED if field == _REPEATED else _Field.LABEL_OPTIONAL
            described = message.field.add(name=field, number=number, label=label)
            if kind in _MESSAGES:
                described.type, described.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                described.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }
