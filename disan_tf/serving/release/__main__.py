"""Publishes a trained model: `checkpoints/<name>/`, a model card, and a row of the manifest.

With `--prepared`, the model gets all words of its vector file, and is stored in half precision.
"""

import argparse
import sys
from pathlib import Path

from disan_tf.common.errors import exit_status
from disan_tf.serving.release.release import release


def main() -> None:
    """Releases the model that the command line names."""
    parser = argparse.ArgumentParser(
        prog="disan_tf.serving.release",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--workdir", type=Path, required=True, help="folder of an evaluated training")
    add("--name", required=True, help="name of the released model")
    add("--command", default="", help="training command (default: from run.json)")
    add("--prepared", type=Path, help="corpus prepared with fixed_words=all")
    add("--result", default="", help="name of the recorded series")
    print(release(**vars(parser.parse_args())))


if __name__ == "__main__":
    sys.exit(exit_status(main))
