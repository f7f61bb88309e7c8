"""Writes digests of the training pairs at hand, with which others train on the same pairs.

    python -m data_prep.write_subset --data_dir=data --corpus=snli

writes `<data_dir>/subsets/snli_<number of pairs>.digests`, or into `--output`. The file holds no
text, see `data_prep.corpora.subsets`; pairs without a gold label are left out.
`--config.data.subset=snli_<number of pairs>` trains on these pairs of any file that has them.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from data_prep.corpora import multinli, snli, subsets
from data_prep.corpora.nli_files import NO_LABEL, read_rows
from data_prep.corpora.official_files import restore
from disan_tf.common.errors import UserError, exit_status
from disan_tf.common.paths import home_path

LAYOUTS = {layout.name: layout for layout in (snli.LAYOUT, multinli.LAYOUT)}


def write_subset(corpus: str, data_dir: Path, output: Optional[Path] = None) -> tuple[Path, int]:
    """Writes the digests of a corpus' training pairs.

    Args:
      corpus: a key of `LAYOUTS`.
      data_dir: folder that holds the corpus.
      output: folder of the new file; None = `<data_dir>/subsets`.

    Returns:
      The new file, and the number of pairs that have the digest of another pair.

    Raises:
      UserError: the corpus is missing or damaged, or has no pair with a gold label.
    """
    layout, data_dir = LAYOUTS[corpus], Path(data_dir)
    path = layout.find(data_dir, ["train"])["train"]
    rows = read_rows(path, "text", restore(corpus))
    digests = [subsets.digest(row.premise, row.hypothesis) for row in rows if row.label != NO_LABEL]
    if not digests:
        raise UserError(f"{path} contains no pair with a gold label; {restore(corpus)}.")
    pairs = len(set(digests))
    folder = data_dir / subsets.FOLDER if output is None else Path(output)
    target = folder / f"{corpus}_{pairs}{subsets.SUFFIX}"
    subsets.write(target, digests)
    return target, len(digests) - pairs


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Writes the digests and prints their number; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="data_prep.write_subset",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data_dir", type=home_path, default=Path("data"))
    parser.add_argument("--corpus", choices=LAYOUTS, default="snli")
    parser.add_argument(
        "--output", type=home_path, help="output folder (default: <data_dir>/subsets)"
    )
    options = parser.parse_args(arguments)
    return exit_status(lambda: _write_and_print(options))


def _write_and_print(options):
    path, repeated = write_subset(options.corpus, options.data_dir, options.output)
    print(f"{path}: {subsets.read(path).pairs:,} pairs; {repeated:,} more have an equal digest")


if __name__ == "__main__":
    sys.exit(main())
