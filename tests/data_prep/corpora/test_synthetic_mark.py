"""Synthetic corpora have no official counts; a changed or damaged mark marks nothing."""

import pytest

from data_prep.corpora import READERS
from data_prep.corpora.synthetic_mark import is_synthetic
from data_prep.synthetic.pairs import write_pairs
from data_prep.synthetic.treebank import write_treebank
from tests.support.corpora.readers import make_options

SST = {"level": "sentence", "classes": 5, "repetitions": True, "rebalance": False}
SNLI = {"tokens": "parse", "split_words": False, "empty_tokens": False, "length_percentile": 1.0}
SIZES = {"train": 30, "dev": 20, "test": 20}


def test_a_synthetic_treebank_is_compared_with_no_official_count(tmp_path):
    write_treebank(tmp_path, 0, SIZES)
    corpus = READERS["sst"].read(tmp_path, make_options("sst", **SST))
    assert corpus.warnings == []
    assert {split: counts["expected"] for split, counts in corpus.counts.items()} == dict.fromkeys(
        SIZES
    )


def test_synthetic_pairs_are_compared_with_no_official_count(tmp_path):
    write_pairs(tmp_path, 0, SIZES)
    assert READERS["snli"].read(tmp_path, make_options("snli", **SNLI)).warnings == []


@pytest.mark.parametrize("change", ["corpus", "mark", "no mark"])
def test_another_corpus_in_its_place_is_compared(tmp_path, change):
    write_treebank(tmp_path, 0, SIZES)
    folder = tmp_path / "sst" / "trees"
    if change == "corpus":
        path = folder / "dev.txt"
        path.write_text(path.read_text() * 2)
    elif change == "mark":
        (folder / "synthetic.json").write_text("{")
    else:
        (folder / "synthetic.json").unlink()
    assert not is_synthetic([folder / f"{split}.txt" for split in SIZES])
    assert len(READERS["sst"].read(tmp_path, make_options("sst", **SST)).warnings) == 3
