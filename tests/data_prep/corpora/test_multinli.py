"""data_prep/corpora/multinli.py: splits, genres, counts, and the real corpus."""

import json

import numpy as np
import pytest

from data_prep.corpora import multinli, nli_files
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from tests.support.corpora.nli import COLUMNS, options, row, text_options, write, write_columns
from tests.support.corpora.readers import split_at_spaces

MATCHED = [
    row(label, premise=f"{label} {number}", pairID=f"{label}-{number}", genre=genre)
    for label in ("contradiction", "neutral", "entailment", "-")
    for number, genre in enumerate(("fiction", "travel", "", "slate"))
]
MISMATCHED = [
    row("-", pairID="open"),
    row("entailment", premise="Okra is green.", pairID="oup-1", genre="oup"),
]


def chosen(**changed):
    return text_options(**{"corpus": "multinli", "split_seed": 1, **changed})


def names(examples):
    return [example.example_id for example in examples]


@pytest.fixture
def data_dir(tmp_path):
    train = [row(genre="fiction"), row("-", genre="slate")]
    return write(
        tmp_path, multinli.LAYOUT, train=train, dev_matched=MATCHED, dev_mismatched=MISMATCHED
    )


def test_the_splits_are_train_two_halves_of_matched_and_mismatched(data_dir):
    splits = multinli.read(data_dir, chosen()).splits
    sizes = {split: len(examples) for split, examples in splits.items()}
    assert sizes == {"train": 1, "dev": 6, "test": 6, "mismatched": 1}
    assert names(splits["mismatched"]) == ["oup-1"]


def test_the_halves_share_no_pair_and_have_every_labelled_pair_in_the_order_of_the_file(data_dir):
    splits = multinli.read(data_dir, chosen()).splits
    labelled = [pair["pairID"] for pair in MATCHED if pair["gold_label"] != "-"]
    for half in (names(splits["dev"]), names(splits["test"])):
        assert half == [name for name in labelled if name in half]
    assert sorted(names(splits["dev"]) + names(splits["test"])) == sorted(labelled)


def test_each_half_has_half_of_each_class(data_dir):
    splits = multinli.read(data_dir, chosen()).splits
    for half in ("dev", "test"):
        assert sorted(example.label for example in splits[half]) == [0, 0, 1, 1, 2, 2]


def test_the_split_seed_alone_decides_the_halves(data_dir):
    first, again, other = (
        names(multinli.read(data_dir, chosen(seed=seed, split_seed=split_seed)).splits["dev"])
        for seed, split_seed in ((1, 1), (2, 1), (1, 2))
    )
    assert first == again != other


def test_counts_are_those_of_the_files(data_dir):
    corpus = multinli.read(data_dir, chosen())
    assert corpus.unit == "pairs" and list(corpus.counts) == list(multinli.LAYOUT.pairs)
    assert corpus.counts["dev_matched"] == {
        "pairs": 16,
        "expected": 10_000,
        "dropped": {"without a gold label": 4},
        "kept": 12,
        "in dev": 6,
        "in test": 6,
    }
    assert (
        "MultiNLI dev_mismatched has 2 pairs, 1 of them with a gold label; "
        "the official file has 10,000 and 9,832." in corpus.warnings
    )


def test_the_official_counts_are_those_of_the_paper():
    assert multinli.LAYOUT.labeled == {
        "train": 392_702,
        "dev_matched": 9_815,
        "dev_mismatched": 9_832,
    }


def test_only_training_pairs_are_dropped_for_their_length(tmp_path):
    rows = [row(premise="soup", pairID=str(k), hypothesis="okra") for k in range(40)]
    rows.append(row(premise="very hot soup", pairID="long"))
    write(tmp_path, multinli.LAYOUT, train=rows, dev_matched=rows, dev_mismatched=rows)
    corpus = multinli.read(tmp_path, chosen(length_percentile=0.97))
    assert len(corpus.splits["train"]) == 40 and len(corpus.splits["mismatched"]) == 41
    assert len(corpus.splits["dev"]) + len(corpus.splits["test"]) == 41


@pytest.mark.parametrize("tokens", ["parse", "text"])
def test_columns_hold_what_json_lines_hold(tmp_path, tokens):
    tokenised = options(corpus="multinli", split_seed=1) if tokens == "parse" else chosen()
    corpora = []
    for folder, writer in (("json", write), ("columns", write_columns)):
        (tmp_path / folder).mkdir()
        header = {"header": (*COLUMNS, "genre")} if writer is write_columns else {}
        writer(tmp_path / folder, multinli.LAYOUT, dev_matched=MATCHED, **header)
        corpora.append(multinli.read(tmp_path / folder, tokenised))
    assert corpora[0].splits == corpora[1].splits
    assert corpora[1].genres == ["fiction", "slate", "travel"]


# Prepared


def test_genres_are_prepared_beside_the_labels(data_dir, tmp_path):
    folder = prepare(chosen(), data_dir, tmp_path / "prepared")
    for split in ("train", "dev", "test", "mismatched"):
        genres, examples = (np.load(folder / f"{split}.{k}.npy") for k in ("genre", "example_id"))
        known = {pair["pairID"]: pair.get("genre", "") for pair in MATCHED + MISMATCHED}
        known["pair-7"] = "fiction"
        assert genres.dtype.kind == "S"
        assert genres.tolist() == [known[name.decode()].encode() for name in examples]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["genres"] == ["fiction", "oup", "slate", "travel"]
    assert list(manifest["splits"]) == ["train", "dev", "test", "mismatched"]


def test_a_corpus_without_genres_has_no_file_of_them(tmp_path):
    write(tmp_path, multinli.LAYOUT, dev_matched=[{**row(), "genre": ""}] * 2)
    write(tmp_path)
    folder = prepare(options(), tmp_path, tmp_path / "prepared")
    assert not list(folder.glob("*.genre.npy"))
    assert json.loads((folder / "manifest.json").read_text())["genres"] == []


def test_the_summary_has_the_counts_of_files_and_halves(data_dir, tmp_path):
    folder = prepare(chosen(), data_dir, tmp_path / "prepared")
    text = describe_counts(json.loads((folder / "manifest.json").read_text()))
    assert (
        "dev_matched: 16 pairs (official count 10,000, difference -9,984), 6 in dev, 6 in test, "
        "dropped 4 without a gold label, kept 12\n" in text
    )
    assert "warning: MultiNLI train has 2 pairs, 1 of them with a gold label; " in text


# The real corpus


def test_the_real_development_files_are_read_whole(tmp_path, real_data, monkeypatch):
    monkeypatch.setattr(nli_files, "SentenceTokenizer", split_at_spaces)
    write(tmp_path, multinli.LAYOUT)
    for part in ("dev_matched", "dev_mismatched"):
        name = f"multinli_1.0/multinli_1.0_{part}.jsonl"
        (tmp_path / name).unlink()
        (tmp_path / name).symlink_to(real_data / name)
    corpus = multinli.read(tmp_path, chosen())
    counts = [corpus.counts[part] for part in ("dev_matched", "dev_mismatched")]
    assert [count["pairs"] for count in counts] == [9_815, 9_832]
    assert [count["dropped"]["without a gold label"] for count in counts] == [1_021, 8_915]
    sizes = [len(corpus.splits[split]) for split in ("dev", "test", "mismatched")]
    assert sizes == [4397, 4397, 917]
    assert {"fiction", "government", "slate", "telephone", "travel"} == set(corpus.genres)
