"""The number of threads changes no bit of a native result or gradient."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ops.backends import needs_native

pytestmark = needs_native
ROOT = Path(__file__).resolve().parents[3]

# Prints digests of results and gradients, all large enough to be split, for a number of threads.
DIGESTS = """
import hashlib, sys
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
from disan_tf.ops.co_attention_scores import additive_scores
from disan_tf.ops.dropout import keep_mask
from disan_tf.ops.recurrence import recurrence
from tests.support.ops.attention_problems import attend, make_inputs, make_mask
from tests.support.ops.elementwise_problems import NATIVE, Problem

def digest(name, parts):
    print(name, hashlib.sha256(b"".join(part.numpy().tobytes() for part in parts)).hexdigest())

def gradients(function, *shapes):
    inputs = [tf.random.stateless_normal(shape, [1, k]) for k, shape in enumerate(shapes)]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(*inputs)
        total = tf.reduce_sum(tf.square(result))
    return [result, *tape.gradient(total, inputs)]

digest("dropout", [keep_mask(tf.constant(3000017), tf.constant([1, 2], tf.int64), 0.25)])
inputs, mask = make_inputs(64, 40, 100), make_mask(64, 40)
digest("attention", attend("native", inputs, mask, direction="forward"))
for name in NATIVE:
    for dtype in ("float32", "bfloat16"):
        digest(name, Problem(name, [64, 40, 100], dtype).evaluate())
digest("scores", gradients(additive_scores, [64, 14, 200], [64, 8, 200], [200]))
digest("recurrence", gradients(
    lambda x, bias, kernel: recurrence(
        x, bias, tf.constant(mask), kernel, cell="lstm", backward=False),
    [64, 40, 64], [64], [16, 64]))
"""


@pytest.mark.slow
def test_the_number_of_threads_changes_no_bit():
    """Sums over rows too: rows are added up in blocks of 64, and the blocks in order."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", DIGESTS, threads],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for threads in ("1", "5")
    ]
    (one, one_errors), (five, five_errors) = (process.communicate() for process in processes)
    assert one == five and len(one.splitlines()) == 16, one_errors + five_errors
