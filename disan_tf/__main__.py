"""The command line from any folder: `python -m disan_tf --mode=train --config=disan_sst ...`."""

from disan_tf.cli.command_line import run

if __name__ == "__main__":
    run()
