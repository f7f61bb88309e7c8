"""Invented files of SNLI and MultiNLI, and the options that read them."""

import json
from pathlib import Path

from data_prep.corpora import snli
from tests.support.corpora.readers import make_options, refusal

COLUMNS = (
    "gold_label",
    *(f"sentence{n}_{kind}" for kind in ("binary_parse", "parse") for n in (1, 2)),
    *("sentence1", "sentence2", "captionID", "pairID"),
    *(f"label{n}" for n in range(1, 6)),
)


def options(**changed):
    values = {"corpus": "snli", "tokens": "parse", "split_words": False, "empty_tokens": False}
    return make_options(**{**values, "length_percentile": 1.0, **changed})


def text_options(**changed):
    return options(tokens="text", tokenizer="treebank", **changed)


def row(label="neutral", premise="A cook stirs soup.", hypothesis="Soup is hot.", **changed):
    return {
        "gold_label": label,
        "pairID": "pair-7",
        "sentence1": premise,
        "sentence2": hypothesis,
        "sentence1_binary_parse": "( ( A cook ) ( ( stirs soup ) . ) )",
        "sentence2_binary_parse": "( Soup ( ( is hot ) . ) )",
        **changed,
    }


def write(data_dir: Path, layout=snli.LAYOUT, **rows) -> Path:
    """Writes the JSON lines of every part; a row is a dictionary or a line."""
    for part in layout.pairs:
        lines = [line if isinstance(line, str) else json.dumps(line) for line in _of(rows, part)]
        _write_lines(data_dir, layout, f"{part}.jsonl", lines)
    return data_dir


def write_columns(data_dir: Path, layout=snli.LAYOUT, header=COLUMNS, **rows) -> Path:
    """Writes the tab-separated files of every part; a row is a dictionary or a line."""
    for part in layout.pairs:
        lines = [
            line if isinstance(line, str) else "\t".join(line.get(name, "") for name in header)
            for line in _of(rows, part)
        ]
        _write_lines(data_dir, layout, f"{part}.txt", ["\t".join(header), *lines])
    return data_dir


def _of(rows, part):
    """The rows of a part, or one with a text of its own."""
    return rows.get(part, [row(premise=part, sentence1_binary_parse=part)])


def _write_lines(data_dir, layout, ending, lines):
    path = data_dir / layout.folder / f"{layout.folder}_{ending}"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def error_of(data_dir: Path, chosen=None) -> str:
    return refusal(data_dir, chosen or options())


def sentences(examples):
    return [tuple(" ".join(tokens) for tokens in example.sentences) for example in examples]
