"""Builds the library and prints its path or the error: `python -m disan_tf.ops.native`."""

from disan_tf.ops.native.build import library
from disan_tf.ops.native.runtime import unavailable

if __name__ == "__main__":
    reason = unavailable()
    print(f"portable operations: {reason}" if reason else f"native operations: {library()}")
