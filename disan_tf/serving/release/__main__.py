"""The command `python -m disan_tf.serving.release`, see `disan_tf.serving.release.release`."""

import sys

from disan_tf.serving.release.release import main

if __name__ == "__main__":
    sys.exit(main())
