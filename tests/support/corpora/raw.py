"""Raw corpora of a few sentences of our own in every layout, and the options that read them."""

from pathlib import Path

from data_prep.corpora import multinli
from tests.support.corpora import nli
from tests.support.corpora.official_layouts import write_corpora
from tests.support.corpora.readers import make_options, table_options

_TEXTS = {"texts": "texts", "repetitions": True, "longest": 200, "split_seed": 1}
OPTIONS = {  # first part of a path -> options of its reader
    "sst": make_options("sst", level="phrase", classes=5, repetitions=True, rebalance=False),
    "sick": make_options("sick", tokenizer="treebank"),
    "trec": make_options("trec", classes=6, dev_share=0.25, split_seed=1),
    "polarity": make_options("cr", folds=4, fold=0, dev_share=0.25, split_seed=1),
    "snli_1.0": nli.options(),
    "text": nli.text_options(),
    "columns": nli.options(),
    "multinli_1.0": nli.text_options(corpus="multinli", split_seed=1),
    "a.csv": table_options("a.csv"),
    "a.tsv": table_options("a.tsv"),
    "a.jsonl": table_options("a.jsonl", second_text="second_text", label="", score="score"),
    "texts": make_options("text", **_TEXTS, dev_share=0.1, test_share=0.1),
}
FILES = {
    "a.csv": 'text,label\n"good, hot ""soup""",yes\n' + "cold tea,no\nsoup,yes\n" * 9,
    "a.tsv": "text\tlabel\n" + "cold tea\tno\nhot soup\tyes\n" * 9,
    "a.jsonl": '{"text": "soup", "second_text": "hot soup", "score": 2.5}\n' * 11
    + '{"text": "soup", "second_text": "tea", "score": 1}\n',
    "texts/a.txt": "the soup is hot .\na cook stirs it .\n" * 20,
}


def write_raw(folder: Path) -> Path:
    """Writes all corpora; those below `text` and `columns` are SNLI once more."""
    write_corpora(folder)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for name in ("text", "columns"):
        (folder / name).mkdir()
    nli.write(folder, train=[nli.row(), nli.row("-")])
    nli.write(folder / "text")
    nli.write(folder, multinli.LAYOUT, train=[nli.row(genre="slate")] * 3)
    nli.write_columns(folder / "columns", train=[nli.row(), nli.row("-")])
    return folder


def place_of(folder: Path, path: str) -> tuple:
    """The data directory and the options that read a file of `write_raw`."""
    first = path.partition("/")[0]
    return folder / first if first in ("text", "columns") else folder, OPTIONS[first]
