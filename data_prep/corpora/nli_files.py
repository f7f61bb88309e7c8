"""What the readers of SNLI and MultiNLI share: their files, tokens, and which pairs stay.

An example is a premise, a hypothesis, and whether the first contradicts (0), leaves open (1) or
entails (2) the second. Pairs on which the annotators did not agree, label "-", are dropped.

As in the authors' code, training pairs with an overlong sentence are dropped. Unlike there, words
that only dropped pairs have get no id: their vectors would never be trained.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data_prep.corpora.corpus import Corpus, Example
from data_prep.corpora.nli_rows import CLASSES, NO_LABEL, read_rows
from data_prep.corpora.official_files import find
from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.errors import UserError
from disan_tf.options import check_choice

SUFFIXES = (".jsonl", ".txt")  # in the order of preference
# Parses are tokenised. Text needs the tokenizer that raw text meets when the model is used.
TOKENIZERS = {"parse": "whitespace", "text": "treebank"}
BATCH = 8192  # pairs that are tokenised together
UNLABELED = "without a gold label"  # a reason to drop pairs


class Layout(NamedTuple):
    """An official corpus, in files `<folder>/<folder>_<part>.jsonl` or `.txt`.

    Attributes:
      title: its name for people.
      name: its key in `READERS` and among the downloads.
      folder: below the data directory.
      pairs: the official number of pairs by part.
      labeled: how many of them have a gold label.
    """

    title: str
    name: str
    folder: str
    pairs: Mapping[str, int]
    labeled: Mapping[str, int]

    @property
    def restore(self) -> str:
        """What to do about a damaged file."""
        return f"restore the official file with python -m data_prep.download {self.name}"

    def find(self, data_dir: Path) -> dict[str, Path]:
        """The file of each part. Raises UserError where one is missing."""
        stems = {part: f"{self.folder}/{self.folder}_{part}" for part in self.pairs}
        return find(data_dir, self.title, stems, SUFFIXES)


def read(data_dir: Path, layout: Layout, options) -> Corpus:
    """Reads a corpus whose splits are the parts of its layout; only "train" loses long pairs.

    Args:
      data_dir: folder that holds the layout's folder. A `.jsonl` file goes before a `.txt` file.
      options: has `tokens` ("parse": the leaves of the official binary parses; "text": the raw
        sentences), `tokenizer` ("whitespace" for parses, which are tokenised; "treebank" for text),
        `split_words` (divides tokens at hyphens, quotes and slashes, see
        `disan_tf.text.split_words`), `empty_tokens` (keeps the empty strings that the authors' way
        of dividing makes), and `length_percentile` (training pairs are dropped that have a sentence
        longer than the smallest length that covers this share, 0 to 1, of all training sentences;
        1 drops none).

    Raises:
      UserError: a missing file, or malformed data (names file and line).
    """
    paths = layout.find(Path(data_dir))
    fields, inputs = ("premise", "hypothesis"), list(paths.values())
    corpus = Corpus(layout.name, fields, CLASSES, {}, {}, inputs, unit="pairs")
    tokenizer = SentenceTokenizer(options.tokenizer, options.split_words, options.empty_tokens)
    for part, path in paths.items():
        examples = list(_examples(path, options.tokens, tokenizer, layout.restore))
        if not examples:
            raise UserError(f"{path} holds no pair; {layout.restore}.")
        kept, dropped = _select(examples, options.length_percentile if part == "train" else 1.0)
        corpus.splits[part] = kept
        pairs, labeled = len(examples), len(examples) - dropped[UNLABELED]
        difference = (
            f"{layout.title} {part} has {pairs:,} pairs, {labeled:,} of them with a gold label; "
            f"the official file has {layout.pairs[part]:,} and {layout.labeled[part]:,}."
        )
        corpus.count(
            part, pairs, layout.pairs[part], difference, labeled == layout.labeled[part],
            dropped=dropped, kept=len(kept),
        )  # fmt: skip
    return corpus


def length_limit(lengths: Sequence[int], share: float) -> int:
    """The smallest length that at least this share, 0 to 1, of `lengths` does not exceed."""
    covered = np.cumsum(np.bincount(lengths)) / len(lengths)
    return int(np.argmax(covered >= share))


def check_options(
    tokens: str, tokenizer: str, split_words: bool, empty_tokens: bool, length_percentile: float
) -> None:
    """The options of `read`; raises ValueError for values that are impossible or do not fit."""
    check_choice("tokens", tokens, TOKENIZERS)
    if tokenizer != TOKENIZERS[tokens]:
        raise ValueError(
            f"tokenizer={tokenizer} does not fit --config.data.tokens={tokens}; use "
            f"{TOKENIZERS[tokens]}."
        )
    if not 0 < length_percentile <= 1:
        raise ValueError(f"length_percentile={length_percentile} must be above 0 and at most 1.")


def _examples(
    path: Path, tokens: str, tokenizer: SentenceTokenizer, restore: str
) -> Iterator[Example]:
    """All pairs of a file; label `NO_LABEL` stands for "-"."""
    rows = read_rows(path, tokens, restore)
    while batch := list(islice(rows, BATCH)):
        names, labels, premises, hypotheses, genres = zip(*batch)
        sentences = tokenizer(premises + hypotheses)
        yield from map(Example, names, zip(sentences, sentences[len(batch) :]), labels, genres)


def _select(examples: list[Example], share: float) -> tuple[list[Example], dict]:
    """Examples that stay, and how many went for which reason.

    Pairs without a label count when the length is chosen, as in the authors' code.
    """
    sentences = chain.from_iterable(example.sentences for example in examples)
    limit = length_limit(list(map(len, sentences)), share)
    labeled = [example for example in examples if example.label != NO_LABEL]
    kept = [example for example in labeled if max(map(len, example.sentences)) <= limit]
    reasons = {UNLABELED: len(examples) - len(labeled)}
    if share < 1:
        reasons[f"longer than {limit} tokens"] = len(labeled) - len(kept)
    return kept, reasons
