"""Stanford Natural Language Inference corpus (Bowman et al. 2015), from its JSON lines.

An example is a premise, a hypothesis, and whether the first contradicts (0), leaves open (1) or
entails (2) the second. Pairs on which the annotators did not agree, label "-", are dropped.

As in the authors' code, training pairs with an overlong sentence are dropped. Unlike there, words
that only dropped pairs have get no id: their vectors would never be trained.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np

from data_prep.corpora.corpus import Corpus, Example
from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.errors import UserError
from disan_tf.files import read_lines

FILES = {split: f"snli_1.0/snli_1.0_{split}.jsonl" for split in ("train", "dev", "test")}
OFFICIAL_PAIRS = {"train": 550_152, "dev": 10_000, "test": 10_000}
OFFICIAL_LABELED = {"train": 549_367, "dev": 9_842, "test": 9_824}
CLASSES = ("contradiction", "neutral", "entailment")
NO_LABEL = -1
LABELS = {**{name: label for label, name in enumerate(CLASSES)}, "-": NO_LABEL}
TEXTS = {
    "text": ("sentence1", "sentence2"),
    "parse": ("sentence1_binary_parse", "sentence2_binary_parse"),
}
# Parses are tokenised. Text needs the tokenizer that raw text meets when the model is used.
TOKENIZERS = {"parse": "whitespace", "text": "treebank"}
BATCH = 8192  # pairs that are tokenised together
RESTORE = "restore the official file with python -m data_prep.download snli"
NO_PARSE = "use --config.data.tokens=text --config.data.tokenizer=treebank, or "

_NO_BRACKETS = str.maketrans("()", "  ")


def read(data_dir: Path, options) -> Corpus:
    """Reads SNLI.

    Args:
      data_dir: folder that holds `snli_1.0/snli_1.0_{train,dev,test}.jsonl`.
      options: has `tokens` ("parse": the leaves of the official binary parses; "text": the raw
        sentences), `tokenizer` ("whitespace" for parses, which are tokenised; "treebank" for text),
        `split_words` (divides tokens at hyphens, quotes and slashes, see
        `disan_tf.text.split_words`), `empty_tokens` (keeps the empty strings that the authors' way
        of dividing makes), and `length_percentile` (training pairs are dropped that have a sentence
        longer than the smallest length that covers this share, 0 to 1, of all training sentences;
        1 drops none).

    Raises:
      UserError: an unknown option, a missing file, or malformed data (names file and line).
    """
    _check_options(options)
    paths = _find(Path(data_dir))
    corpus = Corpus(
        "snli", ("premise", "hypothesis"), CLASSES, {}, {}, list(paths.values()), unit="pairs"
    )
    for split, path in paths.items():
        examples = _read_split(path, options)
        share = options.length_percentile if split == "train" else 1.0
        kept, dropped = _select(examples, share)
        corpus.splits[split] = kept
        corpus.counts[split] = {
            "pairs": len(examples),
            "expected": OFFICIAL_PAIRS[split],
            "dropped": dropped,
            "kept": len(kept),
        }
        corpus.warnings += _count_warnings(split, examples)
    return corpus


def length_limit(lengths: Sequence[int], share: float) -> int:
    """The smallest length that at least this share, 0 to 1, of `lengths` does not exceed."""
    covered = np.cumsum(np.bincount(lengths)) / len(lengths)
    return int(np.argmax(covered >= share))


def _check_options(options) -> None:
    if options.tokens not in TOKENIZERS:
        raise UserError(
            f"--config.data.tokens={options.tokens} is not known for SNLI; "
            f"use {' or '.join(TOKENIZERS)}."
        )
    if options.tokenizer != TOKENIZERS[options.tokens]:
        raise UserError(
            f"--config.data.tokenizer={options.tokenizer} does not fit "
            f"--config.data.tokens={options.tokens}; use {TOKENIZERS[options.tokens]}."
        )
    if not 0 < options.length_percentile <= 1:
        raise UserError(
            f"--config.data.length_percentile={options.length_percentile} is not a share; "
            "use a number above 0 and up to 1."
        )


def _find(data_dir: Path) -> dict[str, Path]:
    paths = {split: data_dir / name for split, name in FILES.items()}
    missing = [FILES[split] for split, path in paths.items() if not path.is_file()]
    if missing:
        raise UserError(
            f"SNLI is not in {data_dir} (there is no {', no '.join(missing)}); "
            f"python -m data_prep.download snli --data_dir={data_dir} fetches it."
        )
    return paths


def _select(examples: list[Example], share: float) -> tuple[list[Example], dict]:
    """Examples that stay, and how many went for which reason.

    Pairs without a label count when the length is chosen, as in the authors' code.
    """
    limit = length_limit([len(each) for each in chain(*(e.sentences for e in examples))], share)
    labeled = [example for example in examples if example.label != NO_LABEL]
    kept = [example for example in labeled if max(map(len, example.sentences)) <= limit]
    reasons = {"without a gold label": len(examples) - len(labeled)}
    if share < 1:
        reasons[f"longer than {limit} tokens"] = len(labeled) - len(kept)
    return kept, reasons


def _count_warnings(split: str, examples: list[Example]) -> list[str]:
    pairs, labeled = len(examples), sum(example.label != NO_LABEL for example in examples)
    if (pairs, labeled) == (OFFICIAL_PAIRS[split], OFFICIAL_LABELED[split]):
        return []
    return [
        f"SNLI {split} has {pairs:,} pairs, {labeled:,} of them with a gold label; the official "
        f"split has {OFFICIAL_PAIRS[split]:,} and {OFFICIAL_LABELED[split]:,}."
    ]


def _read_split(path: Path, options) -> list[Example]:
    """All pairs of a file; label `NO_LABEL` stands for "-". Memory holds one batch of texts."""
    tokenizer = SentenceTokenizer(options.tokenizer, options.split_words, options.empty_tokens)
    examples, rows = [], _rows(path, options.tokens)
    while batch := list(islice(rows, BATCH)):
        names, labels, premises, hypotheses = zip(*batch)
        sentences = tokenizer(premises + hypotheses)
        pairs = zip(sentences, sentences[len(batch) :])
        examples += map(Example, names, pairs, labels)
    if not examples:
        raise UserError(f"{path} holds no pair; {RESTORE}.")
    return examples


def _rows(path: Path, tokens: str) -> Iterator[tuple[str, int, str, str]]:
    """Yields pairID, label, and both texts of each line that is not blank."""
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            yield _row(line, tokens)
        except ValueError as error:
            raise UserError(f"{path}, line {number}: {error}.") from None


def _row(line: str, tokens: str) -> tuple[str, int, str, str]:
    """Raises ValueError with what is wrong and what to do."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the line is not JSON ({error}); {RESTORE}") from None
    if not isinstance(row, dict):
        raise ValueError(f"the line is not a JSON object; {RESTORE}")
    label, name = _field(row, "gold_label"), _field(row, "pairID")
    if label not in LABELS:
        raise ValueError(f"gold_label {label!r} is not {', '.join(CLASSES)} or -; {RESTORE}")
    premise, hypothesis = (_text(row, key, tokens) for key in TEXTS[tokens])
    return name, LABELS[label], premise, hypothesis


def _text(row: dict, key: str, tokens: str) -> str:
    """A sentence, or the leaves of its parse, separated by white space."""
    if tokens == "text":
        return _field(row, key)
    parse = _field(row, key, NO_PARSE)
    if parse.count("(") != parse.count(")"):
        raise ValueError(f"{key} is cut off, its brackets are not balanced; {RESTORE}")
    return parse.translate(_NO_BRACKETS)


def _field(row: dict, key: str, remedy: str = "") -> str:
    value = row.get(key)
    if key not in row:
        raise ValueError(f"there is no field {key}; {remedy}{RESTORE}")
    if not isinstance(value, str):
        raise ValueError(f"{key} is not a string ({json.dumps(value)[:40]}); {remedy}{RESTORE}")
    if not value.isascii():
        _check_unicode(key, value)
    return value


def _check_unicode(key: str, value: str) -> None:
    """JSON can escape half of a surrogate pair, which is no character and cannot be written."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"\\u{ord(value[error.start]):04x}"
        raise ValueError(f"{key} holds {half}, half of a surrogate pair; {RESTORE}") from None
