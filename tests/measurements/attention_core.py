"""Directional attention alone, forward and backward, in every form that this machine has.

    python -m tests.measurements.attention_core --lengths 14 40

Batch 64, 300 features, one direction, in one process. `run.py --mode=benchmark` measures more.
"""

import argparse

from configs.disan_snli import get_config
from disan_tf.benchmark.core import LENGTHS, measure_core
from disan_tf.benchmark.tables import core_table


def main() -> None:
    """Prints a line for every length and form."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--repetitions", type=int, default=9)
    options = parser.parse_args()
    print(core_table(measure_core(get_config(), options.repetitions, options.lengths)))


if __name__ == "__main__":
    main()
