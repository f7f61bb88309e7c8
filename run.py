"""The command line of disan_tf: `python run.py --mode=train --config=configs/disan_sst.py ...`."""

import sys

try:
    from disan_tf.cli.command_line import run
except ModuleNotFoundError as error:  # of a package, before the command line can say so
    sys.exit(
        f"run.py: {sys.executable} has no package {error.name}; run `make install`, then "
        ".venv/bin/python run.py, or `pip install .`, then disan-tf."
    )

if __name__ == "__main__":
    run()
