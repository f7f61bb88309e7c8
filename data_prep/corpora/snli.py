"""Stanford Natural Language Inference corpus (Bowman et al. 2015)."""

from collections.abc import Sequence
from pathlib import Path

from data_prep.corpora import nli_files, subsets
from data_prep.corpora.corpus import Corpus
from data_prep.corpora.nli_files import Layout

LAYOUT = Layout(
    title="SNLI",
    name="snli",
    folder="snli_1.0",
    pairs={"train": 550_152, "dev": 10_000, "test": 10_000},
    labeled={"train": 549_367, "dev": 9_842, "test": 9_824},
)


CHECKS = (nli_files.check_options, subsets.check_options)
FIELDS = nli_files.FIELDS
SPLITS = ("train", "dev", "test")


def files(data_dir: Path, options) -> list[Path]:
    """Returns the files of the splits and of the subset; raises UserError if one is missing."""
    return LAYOUT.files(data_dir, options)


def read(data_dir: Path, options, splits: Sequence[str] = SPLITS) -> Corpus:
    """Reads splits of SNLI, see `nli_files.read`; its parts are its splits."""
    return nli_files.read(data_dir, LAYOUT, options, splits)
