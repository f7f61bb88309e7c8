"""The commands that follow a training."""

import shlex
from pathlib import Path

from disan_tf.common.installation import command


def what_next(workdir, data_dir, prepared_dir) -> str:
    """Returns three lines: how to score the trained model, to use it and to export it."""
    work = f"--workdir={shlex.quote(str(workdir))}"
    data = f"--data_dir={shlex.quote(str(data_dir))}"
    if Path(prepared_dir) != Path(workdir) / "prepared":
        data += f" --prepared_dir={shlex.quote(str(prepared_dir))}"
    return "\n".join(
        [
            f"score it:  {command()} --mode=evaluate {work} {data}",
            f"use it:    {command()} --mode=predict {work} --input=lines.txt",
            f"export it: {command()} --mode=export {work}",
        ]
    )
