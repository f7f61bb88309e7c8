"""Chooses the format in which predictions are written."""

from typing import Union

from disan_tf.common.errors import UserError
from disan_tf.serving.inference.csv_lines import CsvLines
from disan_tf.serving.inference.submissions import CLASSES, SUBMISSIONS, JsonLines, Submission

PLAIN = {"jsonl": JsonLines, "csv": CsvLines}


def make_output_format(name: str, bundle, input_path, output_path) -> Union[JsonLines, Submission]:
    """Makes the output format of a `Bundle`'s predictions.

    Args:
      name: "jsonl", "csv" or a key of `SUBMISSIONS`.
      bundle, input_path, output_path: see `disan_tf.serving.inference.predict.predict`.

    Raises:
      UserError: there is no such format, or the model has other classes, or a submission would go
        to standard output, where its rows could not be counted first.
    """
    if name in PLAIN:
        return PLAIN[name]()
    if name not in SUBMISSIONS:
        known = ", ".join(SUBMISSIONS)
        raise UserError(f"There is no output format {name!r}; choose jsonl, csv or one of {known}.")
    if set(bundle.classes) != CLASSES:
        raise UserError(
            f"{bundle.directory} tells {', '.join(bundle.classes)} apart, and "
            f"--output_format={name} is for {', '.join(sorted(CLASSES))}; use jsonl or a model of "
            "language inference."
        )
    if output_path == "-":
        raise UserError(f"--output_format={name} needs --output: its rows are counted first.")
    return SUBMISSIONS[name](input_path, output_path)
