"""A tiny sentiment treebank with word vectors, and the options that prepare it."""

from pathlib import Path

from tests.support.corpora.readers import make_options

TREES = {
    "train": "(3 (2 This) (3 (2 Soup) (3 (2 is) (3 fine))))\n(1 (2 Cold) (1 soup))\n",
    "dev": "(0 (1 Cold) (2 tea))\n",
    "test": "(4 (2 Tea) (4 (2 is) (4 okra)))\n(1 (2 This) (1 gruel))\n",
}
VECTORS = "soup 1 2\nTea 3 4\nRice 5 6\nis 7 8\n"


def options(**changed):
    trees = {"level": "sentence", "classes": 5, "repetitions": True, "rebalance": False}
    return make_options("sst", **{**trees, "vectors": "glove/tiny.txt", **changed})


def write(data_dir: Path) -> Path:
    """Writes the trees and the vectors."""
    trees = data_dir / "sst/trees"
    trees.mkdir(parents=True)
    for split, text in TREES.items():
        (trees / f"{split}.txt").write_text(text, encoding="utf-8")
    (data_dir / "glove").mkdir()
    (data_dir / "glove/tiny.txt").write_text(VECTORS, encoding="utf-8")
    return data_dir
