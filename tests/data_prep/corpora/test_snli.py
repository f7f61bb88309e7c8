"""data_prep/corpora/snli.py: labels, dropped pairs, counts, and the real corpus."""

import json

import numpy as np

from data_prep.corpora import nli_files, snli
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from data_prep.synthetic.pairs import write_pairs
from tests.support.corpora.nli import options, row, text_options, write
from tests.support.corpora.readers import split_at_spaces


def test_labels_are_0_contradiction_1_neutral_2_entailment(tmp_path):
    write(tmp_path, dev=[row("entailment"), row("contradiction"), row("neutral")])
    corpus = snli.read(tmp_path, options())
    assert [example.label for example in corpus.splits["dev"]] == [2, 0, 1]
    assert corpus.classes == ("contradiction", "neutral", "entailment")
    assert corpus.fields == ("premise", "hypothesis")
    assert corpus.splits["dev"][0].example_id == "pair-7"


def test_pairs_without_a_gold_label_are_dropped_everywhere_and_counted(tmp_path):
    rows = [row("-"), row(), row("-")]
    corpus = snli.read(write(tmp_path, train=rows, dev=rows, test=rows), options())
    for split, examples in corpus.splits.items():
        assert [example.label for example in examples] == [1]
        counts = corpus.counts[split]
        assert counts["pairs"] == 3 and counts["kept"] == 1
        assert counts["dropped"] == {"without a gold label": 2}


def long_rows():
    """40 sentences: 38 of one word, one of two, one of three."""
    rows = [row(premise="soup", hypothesis="okra", pairID=f"short-{k}") for k in range(18)]
    rows.append(row(premise="hot soup", hypothesis="okra", pairID="two"))
    rows.append(row(premise="okra", hypothesis="very hot soup", pairID="three"))
    return rows


def test_training_pairs_longer_than_the_percentile_are_dropped_and_the_length_is_told(tmp_path):
    write(tmp_path, train=long_rows(), dev=long_rows())
    corpus = snli.read(tmp_path, text_options(length_percentile=0.97))
    kept = [example.example_id for example in corpus.splits["train"]]
    assert len(kept) == 19 and "two" in kept and "three" not in kept
    assert corpus.counts["train"]["dropped"] == {
        "without a gold label": 0,
        "longer than 2 tokens": 1,
    }
    assert len(corpus.splits["dev"]) == 20


def test_a_percentile_of_one_drops_no_pair(tmp_path):
    corpus = snli.read(write(tmp_path, train=long_rows()), text_options())
    assert len(corpus.splits["train"]) == 20
    assert corpus.counts["train"]["dropped"] == {"without a gold label": 0}


def test_sentences_without_a_gold_label_count_for_the_percentile(tmp_path):
    rows = [row("-", premise="very hot soup", hypothesis="very hot okra")] * 2
    write(tmp_path, train=long_rows() + rows)
    corpus = snli.read(tmp_path, text_options(length_percentile=0.97))
    assert corpus.counts["train"]["dropped"]["longer than 3 tokens"] == 0


def test_counts_that_differ_from_the_official_ones_are_a_warning(tmp_path):
    corpus = snli.read(write(tmp_path, dev=[row(), row("-")]), options())
    assert corpus.counts["dev"]["expected"] == 10_000
    assert (
        "SNLI dev has 2 pairs, 1 of them with a gold label; "
        "the official file has 10,000 and 9,842." in corpus.warnings
    )
    assert len(corpus.warnings) == 3


def test_official_counts_are_no_warning(tmp_path, monkeypatch):
    pairs, labeled = {"train": 1, "dev": 2, "test": 1}, dict.fromkeys(("train", "dev", "test"), 1)
    monkeypatch.setattr(snli, "LAYOUT", snli.LAYOUT._replace(pairs=pairs, labeled=labeled))
    assert snli.read(write(tmp_path, dev=[row(), row("-")]), options()).warnings == []


def test_missing_gold_labels_are_a_warning_even_if_all_pairs_are_there(tmp_path, monkeypatch):
    ones = dict.fromkeys(("train", "dev", "test"), 1)
    monkeypatch.setattr(snli, "LAYOUT", snli.LAYOUT._replace(pairs=ones, labeled=ones))
    (warning,) = snli.read(write(tmp_path, dev=[row("-")]), options()).warnings
    assert warning.startswith("SNLI dev has 1 pairs, 0 of them with a gold label; ")


def load(folder, name):
    return np.load(folder / f"{name}.npy", allow_pickle=False)


def test_a_synthetic_corpus_is_prepared_alike_from_text_and_from_parses(tmp_path):
    write_pairs(tmp_path, 3, {"train": 30, "dev": 6, "test": 6})
    parse = prepare(options(), tmp_path, tmp_path / "prepared")
    text = prepare(text_options(), tmp_path, tmp_path / "prepared")
    assert parse != text
    for field in ("premise.ids", "premise.offsets", "hypothesis.ids", "label", "example_id"):
        np.testing.assert_array_equal(load(parse, f"train.{field}"), load(text, f"train.{field}"))
    words = (parse / "vocabulary.txt").read_text().split("\n")
    assert "fire" in words and "fire-fighter" not in words and "n't" not in words


def test_empty_strings_have_a_line_of_the_vocabulary(tmp_path):
    write(tmp_path, train=[row(sentence2_binary_parse="( soup 's )")])
    folder = prepare(options(empty_tokens=True), tmp_path, tmp_path / "prepared")
    words = (folder / "vocabulary.txt").read_text().split("\n")[:-1]
    assert words == ["a", "cook", "stirs", "soup", ".", "", "'", "s"]
    assert load(folder, "train.hypothesis.ids").tolist() == [5, 7, 8, 9]


def test_an_empty_sentence_is_prepared_as_one_unknown_word(tmp_path):
    write(tmp_path, train=[row(sentence1_binary_parse="")])
    folder = prepare(options(), tmp_path, tmp_path / "prepared")
    assert load(folder, "train.premise.ids").tolist() == [1]


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_text())


def test_the_manifest_says_how_raw_text_is_tokenised(tmp_path):
    folder = prepare(text_options(), write(tmp_path), tmp_path / "prepared")
    assert manifest_of(folder)["tokenizer"] == {
        "name": "treebank",
        "version": 1,
        "lowercase": True,
        "split_words": True,
        "empty_tokens": False,
    }


def test_the_summary_counts_pairs(tmp_path):
    folder = prepare(options(), write(tmp_path, dev=[row(), row("-")]), tmp_path / "prepared")
    text = describe_counts(manifest_of(folder))
    assert (
        "dev: 2 pairs (official count 10,000, difference -9,998), "
        "dropped 1 without a gold label, kept 1\n" in text
    )
    assert "trees" not in text and "nodes" not in text
    assert "warning: SNLI train has 1 pairs" in text


def test_the_real_dev_and_test_files_have_their_official_counts(tmp_path, real_data, monkeypatch):
    monkeypatch.setattr(nli_files, "SentenceTokenizer", split_at_spaces)
    write(tmp_path)
    official = ("dev", "test")
    for split in official:
        name = f"snli_1.0/snli_1.0_{split}.jsonl"
        (tmp_path / name).unlink()
        (tmp_path / name).symlink_to(real_data / name)
    corpus = snli.read(tmp_path, text_options())
    dropped = {split: corpus.counts[split]["dropped"]["without a gold label"] for split in official}
    assert dropped == {"dev": 158, "test": 176}
    assert {split: corpus.counts[split]["pairs"] for split in official} == dict.fromkeys(
        official, 10_000
    )
    assert [warning.split()[1] for warning in corpus.warnings] == ["train"]
