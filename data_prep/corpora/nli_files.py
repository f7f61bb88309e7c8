"""The common part of SNLI's and MultiNLI's readers: files, tokens, and the choice of pairs.

An example has a premise, a hypothesis, and a label: the premise contradicts the hypothesis (0), is
neutral to it (1) or entails it (2). Pairs on which the annotators did not agree, label "-", are
dropped.

As in the authors' code, training pairs with an overlong sentence are dropped. Unlike in the
authors' code, words that only dropped pairs have get no id: their vectors would never be trained.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Callable, NamedTuple, Optional

import numpy as np

from data_prep.corpora import subsets
from data_prep.corpora.corpus import Corpus, Example
from data_prep.corpora.official_files import find, is_synthetic, restore
from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.common.checks import check_choice
from disan_tf.common.errors import UserError
from disan_tf.text import table_files

CLASSES = ("contradiction", "neutral", "entailment")
NO_LABEL = -1
LABELS = {**{name: label for label, name in enumerate(CLASSES)}, "-": NO_LABEL}
TEXTS = {
    "parse": ("sentence1_binary_parse", "sentence2_binary_parse"),
    "text": ("sentence1", "sentence2"),
}
NO_PARSE = " (without parses, use --config.data.tokens=text --config.data.tokenizer=treebank)"
FIELDS = ("premise", "hypothesis")
SUFFIXES = (".jsonl", ".txt")  # in the order of preference
# Parses are tokenised. Text needs the tokenizer that the trained model applies to raw text.
TOKENIZERS = {"parse": "whitespace", "text": "treebank"}
BATCH = 8192  # pairs that are tokenised together
UNLABELED = "without a gold label"  # a reason for dropped pairs


class Layout(NamedTuple):
    """An official corpus, in files `<folder>/<folder>_<part>.jsonl` or `.txt`.

    Attributes:
      title: its name for people.
      name: its key in `READERS` and `data_prep.download.archives.ARCHIVES`.
      folder: its folder below the data directory.
      pairs: the official number of pairs by part.
      labeled: the number of pairs with a gold label by part.
    """

    title: str
    name: str
    folder: str
    pairs: Mapping[str, int]
    labeled: Mapping[str, int]

    def find(self, data_dir: Path, parts: Iterable[str]) -> dict[str, Path]:
        """Finds the files of some parts; raises UserError if one is missing."""
        stems = {part: f"{self.folder}/{self.folder}_{part}" for part in parts}
        return find(Path(data_dir), self.title, stems, SUFFIXES)

    def files(self, data_dir: Path, options) -> list[Path]:
        """Returns the files that `read` would read below `data_dir` for all parts; see `find`."""
        paths = self.find(data_dir, self.pairs)
        return _inputs(paths, _find_subset(data_dir, options, paths))


def read(data_dir: Path, layout: Layout, options, parts: Iterable[str]) -> Corpus:
    """Reads a corpus with parts of its layout as splits; only "train" loses long pairs.

    Args:
      data_dir: folder that holds the layout's folder. Where a part has both a `.jsonl` and a `.txt`
        file, the `.jsonl` file is read.
      options: has `tokens` ("parse": the leaves of the official binary parses; "text": the raw
        sentences), `tokenizer` ("whitespace" for parses, which are tokenised; "treebank" for text),
        `split_words` (divides tokens at hyphens, quotes and slashes, see
        `disan_tf.text.split_words`), `empty_tokens` (keeps the empty strings that the authors'
        split makes), and `length_percentile` (a share from 0 to 1: the limit is the smallest length
        that covers this share of training sentences, and training pairs with a longer sentence are
        dropped; 1 drops none); and `subset`, absent or "" for all pairs, the name of a subset of
        the training pairs, see `data_prep.corpora.subsets.find`. Its pairs keep the file's order.
      parts: the keys of `layout.pairs` to read.

    Raises:
      UserError: a missing file, malformed data (names file and line), or a training file that lacks
        pairs of the subset.
    """
    paths, remedy = layout.find(data_dir, parts), restore(layout.name)
    subset_file = _find_subset(data_dir, options, paths)
    inputs = _inputs(paths, subset_file)
    subset = subset_file and subsets.read(subset_file)
    corpus = Corpus(layout.name, FIELDS, CLASSES, {}, {}, inputs, unit="pairs")
    tokenizer = SentenceTokenizer.of(options)
    for part, path in paths.items():
        taken = subset if part == "train" else None
        examples = list(_examples(path, options.tokens, tokenizer, remedy, taken))
        if taken:
            corpus.warnings += _subset_warnings(taken, path, layout, remedy)
        if not examples:
            raise UserError(f"{path} contains no pair; {remedy}.")
        kept, dropped = _select(examples, options.length_percentile if part == "train" else 1.0)
        corpus.splits[part] = kept
        pairs, labeled = len(examples), len(examples) - dropped[UNLABELED]
        difference = (
            f"{layout.title} {part} has {pairs:,} pairs, {labeled:,} of them with a gold label; "
            f"the official file has {layout.pairs[part]:,} and {layout.labeled[part]:,}."
        )
        corpus.count(
            part,
            pairs,
            None if is_synthetic([path]) else layout.pairs[part],
            difference,
            labeled == layout.labeled[part],
            path,
            dropped=dropped,
            kept=len(kept),
        )
    return corpus


def length_limit(lengths: Sequence[int], share: float) -> int:
    """Returns the smallest length that covers at least this share, 0 to 1, of `lengths`."""
    covered = np.cumsum(np.bincount(lengths)) / len(lengths)
    return int(np.argmax(covered >= share))


def _find_subset(data_dir: Path, options, parts: Collection[str]) -> Optional[Path]:
    """Returns the file of the subset of "train" that the options name, or None."""
    name = getattr(options, "subset", "") if "train" in parts else ""
    return subsets.find(data_dir, name) if name else None


def _inputs(paths: Mapping[str, Path], subset: Optional[Path]) -> list[Path]:
    """Returns the files that are read, without a subset that comes with this package."""
    extra = [] if subset is None or subset.parent == subsets.PACKAGED else [subset]
    return [*paths.values(), *extra]


def _subset_warnings(subset: subsets.Subset, path: Path, layout: Layout, remedy: str) -> list[str]:
    """Describes pairs of a subset that its file lacks; raises UserError if there are too many."""
    missing = subset.check_missing(path, remedy)
    if not missing:
        return []
    return [
        f"{layout.title} train lacks {missing:,} of the {subset.pairs:,} pairs of the subset "
        f"{subset.name}."
    ]


def check_options(
    tokens: str, tokenizer: str, split_words: bool, empty_tokens: bool, length_percentile: float
) -> None:
    """Checks the options of `read`; raises ValueError if they are impossible or do not fit."""
    check_choice("tokens", tokens, TOKENIZERS)
    if tokenizer != TOKENIZERS[tokens]:
        raise ValueError(
            f"tokenizer={tokenizer} does not fit --config.data.tokens={tokens}; use "
            f"{TOKENIZERS[tokens]}."
        )
    if not 0 < length_percentile <= 1:
        raise ValueError(f"length_percentile={length_percentile} must be above 0 and at most 1.")


def _examples(
    path: Path,
    tokens: str,
    tokenizer: SentenceTokenizer,
    remedy: str,
    subset: Optional[subsets.Subset],
) -> Iterator[Example]:
    """Yields all pairs of a file or its subset; label `NO_LABEL` stands for "-"."""
    rows = read_rows(path, tokens, remedy, subset and subset.take)
    while batch := list(islice(rows, BATCH)):
        names, labels, premises, hypotheses, genres = zip(*batch)
        sentences = tokenizer(premises + hypotheses)
        yield from map(Example, names, zip(sentences, sentences[len(batch) :]), labels, genres)


def _select(examples: list[Example], share: float) -> tuple[list[Example], dict]:
    """Returns the kept examples, and the number of dropped examples by reason.

    The length limit includes pairs without a label, as in the authors' code.
    """
    sentences = chain.from_iterable(example.sentences for example in examples)
    limit = length_limit(list(map(len, sentences)), share)
    labeled = [example for example in examples if example.label != NO_LABEL]
    kept = [example for example in labeled if max(map(len, example.sentences)) <= limit]
    reasons = {UNLABELED: len(examples) - len(labeled)}
    if share < 1:
        reasons[f"longer than {limit} tokens"] = len(labeled) - len(kept)
    return kept, reasons


class Row(NamedTuple):
    """A pair: its two texts, or the leaves of their parses, separated by white space."""

    name: str
    label: int
    premise: str
    hypothesis: str
    genre: str


def read_rows(
    path: Path, tokens: str, remedy: str, take: Optional[Callable[[str, str], bool]] = None
) -> Iterator[Row]:
    """Yields a file's pairs.

    Args:
      path, remedy: see `disan_tf.text.table_files.read_rows`.
      tokens: a key of `TEXTS`.
      take: decides by the raw sentences which pairs with a gold label are yielded, and no others;
        None yields all pairs.
    """
    first, second = TEXTS[tokens]
    read_text = _leaves if tokens == "parse" else dict.__getitem__
    addition = NO_PARSE if tokens == "parse" else ""
    columns = {"gold_label": "", "pairID": "", first: addition, second: addition}
    if take:
        columns.update(dict.fromkeys(TEXTS["text"], ""))

    def convert(row: dict) -> Optional[Row]:
        label, genre = row["gold_label"], row.get("genre", "")
        if label not in LABELS:
            raise ValueError(f"gold_label {label[:40]!r} is not {', '.join(CLASSES)} or -")
        table_files.check_name("pairID", row["pairID"])
        table_files.check_name("genre", genre)
        if take and (LABELS[label] == NO_LABEL or not take(*map(row.get, TEXTS["text"]))):
            return None
        texts = read_text(row, first), read_text(row, second)
        return Row(row["pairID"], LABELS[label], *texts, genre)

    return filter(None, table_files.read_rows(path, columns, convert, remedy))


def _leaves(row: dict, name: str) -> str:
    """Returns a parse's leaves, separated by white space; raises ValueError with the reason."""
    parse = row[name]
    if parse.count("(") != parse.count(")"):
        raise ValueError(f"{name} is cut off, its brackets are not balanced")
    return parse.replace("(", " ").replace(")", " ")  # a quarter of the time of str.translate
