"""The tutorial's REST request fits the exported signature: a stand-in for the server answers it."""

import json
import shlex
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401 - registers the operations of the tokenizer

from tests.support.pages import blocks_of, text_of
from tests.support.runs.training import ROOT

PATH = "/v1/models/messages:predict"


def _command() -> list:
    """Returns the words of the tutorial's curl command."""
    blocks = blocks_of(text_of(ROOT / "docs/tutorials/serving.ipynb"))
    (text,) = (block.text for block in blocks if block.text.startswith("curl"))
    return shlex.split(text.replace("\\\n", ""))


@pytest.fixture
def server(export):
    """Serves the model of text in TensorFlow Serving's columnar format; yields the address."""
    signature = tf.saved_model.load(str(export[0])).signatures["serving_default"]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            inputs = {name: tf.constant(value) for name, value in body["inputs"].items()}
            outputs = {name: _plain(value) for name, value in signature(**inputs).items()}
            self.send_response(200 if self.path == PATH else 404)
            self.end_headers()
            self.wfile.write(json.dumps({"outputs": outputs}).encode())

        def log_message(self, *_):
            pass

    with HTTPServer(("localhost", 0), Handler) as http:
        threading.Thread(target=http.serve_forever).start()
        yield f"http://localhost:{http.server_port}"
        http.shutdown()


def _plain(tensor: tf.Tensor) -> list:
    values = tensor.numpy()
    return (np.char.decode(values.astype(bytes)) if tensor.dtype == tf.string else values).tolist()


def test_request_of_the_tutorial_is_answered(server):
    program, flag, body, address = _command()
    assert (program, flag) == ("curl", "-d") and address == f"http://localhost:8501{PATH}"
    request = urllib.request.Request(f"{server}{PATH}", data=body.encode())
    with urllib.request.urlopen(request) as response:
        outputs = json.load(response)["outputs"]
    (label,), (names,) = outputs["class"], outputs["class_names"]
    (probabilities,) = outputs["probabilities"]
    assert label == names[int(np.argmax(probabilities))]
    assert sum(probabilities) == pytest.approx(1.0)
