"""The real corpora have their official counts."""

import gc

import pytest
from ml_collections import ConfigDict

from data_prep.corpora import READERS, nli_files, read_corpus, sick
from data_prep.corpora.corpus import overlap_warnings
from data_prep.training_texts import OPTIONS as TEXTS
from tests.support.corpora.raw import OPTIONS, write_raw
from tests.support.corpora.readers import make_options, split_at_spaces

TREC = ("trec/train_5500.label", "trec/TREC_10.label")
FOLDS = {"folds": 10, "fold": 0, "dev_share": 0.1, "split_seed": 1}
MULTINLI = {"train": 3, "dev": 4397, "test": 4397, "mismatched": 917}
SPLIT = {"dev_share": 0.1, "split_seed": 1}
REAL = {  # corpus -> options, files, numbers of examples by split or in all, splits with a warning
    "sick": (
        OPTIONS["sick"],
        sick.FILES.values(),
        {"train": 4500, "dev": 500, "test": 4927},
        [],
    ),
    "trec, 6": (
        make_options("trec", classes=6, **SPLIT),
        TREC,
        {"train": 4907, "dev": 545, "test": 500},
        [],
    ),
    "trec, 50": (
        make_options("trec", classes=50, **SPLIT),
        TREC,
        {"train": 4907, "dev": 545, "test": 500},
        [],
    ),
    "cr": (make_options("cr", **FOLDS), ["polarity/custrev.all"], 3774, ["has"]),
    "mpqa": (make_options("mpqa", **FOLDS), ["polarity/mpqa.all"], 10_605, ["has"]),
    "subj": (make_options("subj", **FOLDS), ["polarity/subj.all"], 10_000, []),
    "snli": (
        OPTIONS["text"],
        [f"snli_1.0/snli_1.0_{split}.jsonl" for split in ("dev", "test")],
        {"train": 1, "dev": 9842, "test": 9824},
        ["train"],
    ),
    "multinli": (
        OPTIONS["multinli_1.0"],
        [f"multinli_1.0/multinli_1.0_dev_{part}.jsonl" for part in ("matched", "mismatched")],
        MULTINLI,
        ["train", "dev_matched", "dev_mismatched"],
    ),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files_have_their_official_counts(name, real_data, tmp_path, monkeypatch):
    for module in (nli_files, sick):
        monkeypatch.setattr(module, "SentenceTokenizer", split_at_spaces)
    options, files, expected, warned = REAL[name]
    write_raw(tmp_path)
    for path in files:
        (tmp_path / path).unlink()
        (tmp_path / path).symlink_to(real_data / path)
    corpus = READERS[options.corpus].read(tmp_path, options)
    sizes = {split: len(examples) for split, examples in corpus.splits.items()}
    assert sizes == expected if isinstance(expected, dict) else sum(sizes.values()) == expected
    assert [warning.split(": ", 1)[-1].split()[1] for warning in corpus.warnings] == warned
    labels = {example.label for example in corpus.splits["test"]}
    if name == "sick":
        assert min(labels) >= 1 and max(labels) <= 5
    elif name != "trec, 50":
        assert labels == set(range(len(corpus.classes)))
    if name == "multinli":
        assert corpus.genres == ["fiction", "government", "slate", "telephone", "travel"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sst", "snli", "sick", "trec", "cr", "mpqa", "subj"])
def test_the_corpora_of_released_models_have_equal_tokens_in_both_versions(name, real_data):
    options = ConfigDict({"corpus": name, **TEXTS[name]})
    first, second = (read_corpus(real_data, options, version) for version in (1, 2))
    assert first.splits == second.splits


@pytest.mark.slow
def test_the_real_treebank_has_its_official_counts_and_few_sentences_twice(real_data):
    gc.disable()  # spares Python the search for cycles among a million tuples, as `prepare` does
    corpus = READERS["sst"].read(real_data, OPTIONS["sst"])
    gc.enable()
    sizes = {split: len(examples) for split, examples in corpus.splits.items()}
    assert sizes == {"train": 318582, "dev": 1101, "test": 2210}
    assert corpus.counts["train"]["trees"] == 8544 and corpus.warnings == []
    assert overlap_warnings(corpus) == [
        "train and dev share 2 examples (2 with the same label).",
        "train and test share 2 examples (2 with the same label).",
    ]
