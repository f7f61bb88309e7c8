"""Loads the library and prints its path or the error: `python -m disan_tf.ops.native`."""

from disan_tf.ops.native.runtime import library, unavailable

if __name__ == "__main__":
    if reason := unavailable():
        print(f"portable operations: {reason}")
    else:
        print(f"native operations, {library().origin}: {library().path}")
