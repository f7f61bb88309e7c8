"""data_prep/corpora/multinli.py: splits, genres, counts."""

import numpy as np
import pytest

from data_prep.corpora import multinli
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from disan_tf.input_pipeline.corpus_format import read_manifest
from tests.support.corpora.nli import COLUMNS, options, row, write, write_columns

MATCHED = [
    row(label, premise=f"{label} {number}", pairID=f"{label}-{number}", genre=genre)
    for label in ("contradiction", "neutral", "entailment", "-")
    for number, genre in enumerate(("fiction", "travel", "", "slate"))
]
MISMATCHED = [
    row("-", pairID="open"),
    row("entailment", premise="Okra is green.", pairID="oup-1", genre="oup"),
]
PARTS = {
    "train": [row(genre="fiction"), row("-", genre="slate")],
    "dev_matched": MATCHED,
    "dev_mismatched": MISMATCHED,
}


def chosen(make=options, **changed):
    return make(**{"corpus": "multinli", "split_seed": 1, **changed})


def names(examples):
    return [example.example_id for example in examples]


@pytest.fixture
def data_dir(tmp_path):
    return write(tmp_path, multinli.LAYOUT, **PARTS)


def test_the_splits_are_train_two_halves_of_matched_and_mismatched(data_dir):
    corpus = multinli.read(data_dir, chosen())
    assert list(corpus.splits) == ["train", "dev", "test", "mismatched"]
    assert names(corpus.splits["mismatched"]) == ["oup-1"] and len(corpus.splits["train"]) == 1
    labelled = [pair["pairID"] for pair in MATCHED if pair["gold_label"] != "-"]
    halves = [names(corpus.splits[split]) for split in ("dev", "test")]
    for split, half in zip(("dev", "test"), halves):
        assert half == [name for name in labelled if name in half]  # in the order of the file
        assert sorted(example.label for example in corpus.splits[split]) == [0, 0, 1, 1, 2, 2]
    assert sorted(sum(halves, [])) == sorted(labelled)
    # With other halves, scores do not compare.
    assert [name[-1] for name in halves[0]] == ["0", "1", "2", "3", "2", "3"]
    for changed, is_same in (({"seed": 2}, True), ({"split_seed": 2}, False)):
        again = names(multinli.read(data_dir, chosen(**changed)).splits["dev"])
        assert (again == halves[0]) == is_same


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
        "multinli_1.0_dev_mismatched.jsonl: MultiNLI dev_mismatched has 2 pairs, 1 of them with a "
        "gold label; the official file has 10,000 and 9,832." in corpus.warnings
    )
    figures = {"train": 392_702, "dev_matched": 9_815, "dev_mismatched": 9_832}  # of the paper
    assert multinli.LAYOUT.labeled == figures


def test_columns_hold_what_json_lines_hold(tmp_path):
    corpora = []
    for folder, writer in (("json", write), ("columns", write_columns)):
        (tmp_path / folder).mkdir()
        header = {"header": (*COLUMNS, "genre")} if writer is write_columns else {}
        writer(tmp_path / folder, multinli.LAYOUT, dev_matched=MATCHED, **header)
        corpora.append(multinli.read(tmp_path / folder, chosen()))
    assert corpora[0].splits == corpora[1].splits
    assert corpora[1].genres == ["fiction", "slate", "travel"]


def test_genres_and_counts_are_prepared(data_dir, tmp_path):
    folder = prepare(chosen(), data_dir, tmp_path / "prepared")
    known = {pair["pairID"]: pair.get("genre", "") for pair in MATCHED + MISMATCHED}
    known["pair-7"] = "fiction"
    for split in ("train", "dev", "test", "mismatched"):
        genres, examples = (np.load(folder / f"{split}.{k}.npy") for k in ("genre", "example_id"))
        assert genres.dtype.kind == "S"
        assert genres.tolist() == [known[name.decode()].encode() for name in examples]
    manifest = read_manifest(folder)
    assert manifest["genres"] == ["fiction", "oup", "slate", "travel"]
    text = describe_counts(manifest)
    assert (
        "dev_matched: 16 pairs (official count 10,000, difference -9,984), 6 in dev, 6 in test, "
        "dropped 4 without a gold label, kept 12\n" in text
    )
    assert "warning: multinli_1.0_train.jsonl: MultiNLI train has 2 pairs, 1 of them with" in text
    write(tmp_path)
    folder = prepare(options(), tmp_path, tmp_path / "prepared")  # a corpus without genres
    assert not list(folder.glob("*.genre.npy")) and read_manifest(folder)["genres"] == []
