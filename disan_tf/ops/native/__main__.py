"""Loads the library and prints its path or the error: `python -m disan_tf.ops.native`.

The exit status is 1 if there is no library although there is a compiler.
"""

import contextlib
import sys

from disan_tf.ops.native.compiler import BuildError, find_compiler
from disan_tf.ops.native.runtime import excluded, library, unavailable

if __name__ == "__main__":
    if reason := unavailable():
        print(f"portable operations: {reason}")
        with contextlib.suppress(BuildError):  # there is no compiler
            if not excluded() and find_compiler():
                sys.exit(1)
    else:
        print(f"native operations, {library().origin}: {library().path}")
