"""The command line of disan_tf: `python run.py --mode=train --config=configs/disan_sst.py ...`."""

from disan_tf.command_line import run

if __name__ == "__main__":
    run()
