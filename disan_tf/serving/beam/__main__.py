"""Predictions or vectors of many sentences, on any runner of Apache Beam.

    python -m disan_tf.serving.beam --checkpoint=disan_sst5 --input='reviews-*.txt' \
      --output=predictions.jsonl

writes predictions-00000-of-00012.jsonl and so on. Beam reads the other flags, such as --runner.
"""

import argparse
import importlib.util
import logging
import sys
from collections.abc import Sequence
from typing import Optional

from disan_tf.common.checks import suggestion
from disan_tf.common.errors import UserError, exit_status


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Runs the pipeline, and prints a summary."""
    parser = argparse.ArgumentParser(
        prog="disan_tf.serving.beam",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--checkpoint", required=True, help="work directory or name of a released model")
    add("--input", required=True, help="path or quoted pattern of input files")
    add("--output", required=True, help="output file: .jsonl (predictions) or .tfrecord (vectors)")
    add("--input_format", choices=("text", "jsonl"), help="format (default: by file name)")
    encoder = "module that defines the model's encoder"
    add("--allow_module", action="append", default=[], help=encoder)
    add("--threads", type=int, default=0, help="TensorFlow threads in a worker; 0: one a core")
    ours, others = parser.parse_known_args(arguments)
    if ours.threads < 0:
        raise UserError(f"--threads={ours.threads} must be at least 0.")
    if importlib.util.find_spec("apache_beam") is None:
        raise UserError(
            "Apache Beam is not installed; pip install -r requirements-beam.txt, or "
            "pip install 'disan_tf[beam]', installs it."
        )
    options = _beam_options(others, vars(ours))
    from disan_tf.serving.beam.pipeline import run

    workers = "apache_beam.runners.portability.local_job_service"
    logging.getLogger(workers).setLevel(logging.ERROR)  # its services warn of Beam's own flags
    print(run(options=options, **vars(ours)))


def _beam_options(words: Sequence[str], ours: dict):
    """Parses Beam's options; raises UserError for a word that belongs to no flag.

    A runner on other machines may have flags that Beam does not know.
    """
    from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions, TypeOptions

    for before, word in zip(["", *words], words):
        if not word.startswith("-") and ("=" in before or not before.startswith("--")):
            raise UserError(f"{word} is not a flag; put a pattern of --input in quotes.")
    options = PipelineOptions(list(words))
    if options.view_as(StandardOptions).runner in (None, "DirectRunner"):
        known = {*options.get_all_options(), *ours}
        for name in options.get_all_options(retain_unknown_options=True).keys() - known:
            raise UserError(
                f"--{name} is not a flag of this command or of Beam{suggestion(name, known)}"
            )
        # Otherwise Beam tries to download another program first, which does the same.
        options.view_as(TypeOptions).allow_unsafe_triggers = True
    return options


if __name__ == "__main__":
    sys.exit(exit_status(main))
