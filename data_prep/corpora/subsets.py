"""Subsets of a corpus' training pairs, named by files of digests, which hold no text.

A pair's digest is the first 5 bytes of the SHA-256 of "premise<tab>hypothesis" in ASCII letters
and digits alone: both texts are decomposed (NFKD) and lower-cased, and all other characters are
dropped. So copies of a corpus that differ in white space, punctuation, accents or case have equal
digests. A label is no part of a pair; labels come from the file that is read.

A file, `<name>.digests`, has the line "disan_tf pairs 1 <number of pairs>" and then the digests in
ascending order, without separators.
"""

import re
import unicodedata
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path

from disan_tf.common.atomic import write_atomically
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_lines

BYTES = 5  # of a digest
FOLDER = "subsets"  # below the data directory; and the subsets that come with this package
SUFFIX = ".digests"
PACKAGED = Path(__file__).parents[1] / FOLDER
MAX_MISSING = 0.01  # share of a subset's pairs that a file may lack
_HEADER = b"disan_tf pairs 1 %d\n"
_KNOWN_HEADER = re.compile(b"disan_tf pairs 1 ([1-9][0-9]{0,8})\n")
_NAME = re.compile("[A-Za-z0-9_-]*")
_DROPPED = re.compile("[^a-z0-9]+")
_REMEDY = "restore it, or write one with python -m data_prep.write_subset"


class Subset:
    """The pairs of a subset that are still to be found in a file.

    Several pairs of a file may have one digest, mostly because the corpus repeats a pair. The first
    of them belongs to the subset.

    Args:
      name: the subset's name.
      digests: the digests of its pairs.
    """

    def __init__(self, name: str, digests: Collection[bytes]):
        self.name = name
        self.pairs = len(digests)
        self._missing = set(digests)

    def take(self, premise: str, hypothesis: str) -> bool:
        """Returns whether the pair is in the subset and was not taken before."""
        pair = digest(premise, hypothesis)
        if pair not in self._missing:
            return False
        self._missing.remove(pair)
        return True

    def check_missing(self, path: Path, remedy: str) -> int:
        """Returns the number of pairs that `path`, which was read, does not have.

        Raises:
          UserError: the number is over `MAX_MISSING` of the pairs.
        """
        missing = len(self._missing)
        if missing > MAX_MISSING * self.pairs:
            raise UserError(
                f"{path} lacks {missing:,} of the {self.pairs:,} pairs of the subset {self.name}; "
                f"{remedy}, or choose another --config.data.subset."
            )
        return missing


def digest(premise: str, hypothesis: str) -> bytes:
    """Returns a pair's digest, see this module."""
    return sha256(f"{_plain(premise)}\t{_plain(hypothesis)}".encode("ascii")).digest()[:BYTES]


def _plain(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return _DROPPED.sub("", text.lower())


def check_options(subset: str = "") -> None:
    """Raises ValueError unless `subset` is "" or a plain file name."""
    if not _NAME.fullmatch(subset):
        raise ValueError(f"subset={subset} may contain only ASCII letters, digits, - and _.")


def find(data_dir: Path, name: str) -> Path:
    """Finds `<data_dir>/subsets/<name>.digests`, or the subset that comes with this package.

    Raises:
      UserError: there is neither.
    """
    remedy = "write one with python -m data_prep.write_subset."
    return _find(Path(data_dir), f"{name}{SUFFIX}", f"subset={name} names no subset", remedy)


def _find(data_dir: Path, file: str, complaint: str, remedy: str) -> Path:
    path = data_dir / FOLDER / file
    for candidate in (path, PACKAGED / file):
        if candidate.is_file():
            return candidate
    known = ", ".join(sorted(path.stem for path in PACKAGED.glob(f"*{path.suffix}")))
    raise UserError(
        f"--config.data.{complaint}: there is no {path}, and the package has {known}; {remedy}"
    )


def read(path: Path) -> Subset:
    """Reads a file of digests.

    Raises:
      UserError: the file is damaged, or no such file.
    """
    with open(path, "rb") as file:
        header = file.readline(80)
        match = _KNOWN_HEADER.fullmatch(header)
        if not match:
            raise UserError(f"{path} does not begin with 'disan_tf pairs 1 <number>'; {_REMEDY}.")
        pairs, size = int(match[1]), path.stat().st_size - len(header)
        if size != pairs * BYTES:
            raise UserError(
                f"{path} has {size:,} bytes of digests, and {pairs:,} pairs have "
                f"{pairs * BYTES:,}; {_REMEDY}."
            )
        content = file.read()
    digests = [content[start : start + BYTES] for start in range(0, len(content), BYTES)]
    if any(first >= second for first, second in zip(digests, digests[1:])):
        raise UserError(f"the digests of {path} are not in ascending order; {_REMEDY}.")
    return Subset(path.stem, digests)


def write(path: Path, digests: Collection[bytes]) -> None:
    """Writes a file of digests; equal digests are written once."""
    distinct = sorted(set(digests))
    write_atomically(path, _HEADER % len(distinct) + b"".join(distinct))


def find_words(data_dir: Path, name: str) -> Path:
    """Finds `<data_dir>/subsets/<name>.words`, or the list of words that this package has.

    Raises:
      UserError: there is neither.
    """
    complaint = f"vector_words={name} names no list of words"
    remedy = "write a file with one word in each line, or choose one of these."
    return _find(data_dir, f"{name}.words", complaint, remedy)


def read_words(path: Path) -> frozenset[str]:
    """Reads a list of words, one in each line.

    Raises:
      UserError: the file has no words.
    """
    words = frozenset(word for _, word in read_lines(path) if word)
    if not words:
        raise UserError(f"{path} has no words; write one in each line.")
    return words
