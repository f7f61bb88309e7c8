"""The lean form's reason to be: memory that grows with the length, not with its square."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GIB = 1 << 30

# A process inherits the peak of the one that started it; only a fork's own child starts anew.
_PROGRAM = """
import os, resource, sys
child = os.fork()
if child:
    sys.exit(os.WEXITSTATUS(os.waitpid(child, 0)[1]))

import tensorflow as tf
from disan_tf.layers import DirectionalSelfAttention

block = DirectionalSelfAttention(300, direction="forward")
block.build([None, None, 300])

@tf.function
def gradients(x, mask):
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(tf.square(block(x, mask=mask)))
    return tape.gradient(total, [x, *block.trainable_weights])

x = tf.random.stateless_normal([64, 200, 300], [1, 2])
found = gradients(x, tf.ones([64, 200], tf.bool))
assert all(bool(tf.reduce_all(tf.math.is_finite(gradient))) for gradient in found)
unit = 1 if sys.platform == "darwin" else 1024
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
"""


def test_a_block_at_batch_64_and_length_200_stays_under_2_gib():
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    peak = int(done.stdout)
    print(f"peak of the whole process: {peak / GIB:.2f} GiB")
    assert 0.1 * GIB < peak < 2 * GIB, f"{peak / GIB:.2f} GiB"
