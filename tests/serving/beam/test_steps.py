"""Steps alone: features of `tf.train.Example`s, and what a worker does before it loads a model."""

import os

import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError

pytest.importorskip("apache_beam", reason="needs Apache Beam: requirements-beam.txt")
from disan_tf.serving.beam.pipeline import (  # noqa: E402
    SentenceModelHandler,
    predictions,
    to_example,
)


@pytest.mark.parametrize(
    "value, kind, values",
    [
        ("été", "bytes_list", ["été".encode()]),
        (["a", "film"], "bytes_list", [b"a", b"film"]),
        (7, "int64_list", [7]),
        ([0.5, 0.25], "float_list", [0.5, 0.25]),
        ([], "bytes_list", []),
        ({"b": [None, "é"]}, "bytes_list", ['{"b": [null, "é"]}'.encode()]),
        ([1, "b"], "bytes_list", [b'[1, "b"]']),
        (1 << 63, "bytes_list", [str(1 << 63).encode()]),
    ],
)
def test_a_value_is_the_feature_of_its_type(value, kind, values):
    feature = tf.train.Example.FromString(to_example({"name": value})).features.feature["name"]
    assert feature.WhichOneof("kind") == kind
    assert list(getattr(feature, kind).value) == values


def test_a_worker_imports_the_allowed_modules():
    handler = SentenceModelHandler("demo", predictions, threads=0, modules=["no_such_module"])
    with pytest.raises(UserError, match="--allow_module=no_such_module must name a module"):
        handler.load_model()


@pytest.mark.parametrize("threads, expected", [(0, [None, None]), (3, ["3", "3"])])
def test_a_worker_gets_its_number_of_threads(monkeypatch, threads, expected):
    names = ["TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"]
    for name in names:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    SentenceModelHandler("demo", predictions, threads).set_environment_vars()
    assert [os.environ.get(name) for name in names] == expected
