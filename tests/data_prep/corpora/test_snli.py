"""data_prep/corpora/snli.py and nli_files.py: tokens, labels, dropped pairs, counts."""

import numpy as np
import pytest

from data_prep.corpora import nli_files, snli
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from data_prep.synthetic.pairs import write_pairs
from disan_tf.input_pipeline.corpus_format import read_manifest
from tests.support.corpora.nli import (
    COLUMNS,
    options,
    row,
    sentences,
    text_options,
    write,
    write_columns,
)

PARSE, OTHER_PARSE = "sentence1_binary_parse", "sentence2_binary_parse"
SPLIT = {"split_words": True}


@pytest.mark.parametrize(
    "chosen, changed, expected",
    [
        (
            text_options(),
            {"sentence1": 'It isn\'t "hot".', "sentence2": "(A cook)"},
            ("It is n't `` hot '' .", "-LRB- A cook -RRB-"),
        ),
        (
            text_options(),
            {"sentence1": "\U0001f600 été \u2028"},
            ("\U0001f600 été", "Soup is hot ."),
        ),
        (
            options(),
            {PARSE: "( ( The ( well-known cook ) ) ( -LRB- ( Ann -RRB- ) ) )", OTHER_PARSE: "Soup"},
            ("The well-known cook -LRB- Ann -RRB-", "Soup"),
        ),
        (options(), {PARSE: "((A cook)(stirs soup))"}, ("A cook stirs soup", "Soup is hot .")),
        (options(), {PARSE: "( 1\u00a01/2 cups )"}, ("1\u00a01/2 cups", "Soup is hot .")),
        (
            options(**SPLIT),
            {PARSE: "( well-known ( cook 's ) )"},
            ("well - known cook ' s", "Soup is hot ."),
        ),
        (
            text_options(**SPLIT),
            {"sentence1": "well-known cook's"},
            ("well - known cook ' s", "Soup is hot ."),
        ),
        (options(), {PARSE: ""}, ("", "Soup is hot .")),
        (text_options(), {"sentence1": ""}, ("", "Soup is hot .")),
    ],
)
def test_texts_and_parses_become_tokens(tmp_path, chosen, changed, expected):
    write(tmp_path, dev=[{**row(), **changed}])
    assert sentences(snli.read(tmp_path, chosen).splits["dev"]) == [expected]


def test_more_pairs_than_a_batch_keep_their_order_and_blank_lines_are_no_pairs(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(nli_files, "BATCH", 2)
    names = ["one", "two", "three", "four", "five"]
    rows = [row(premise=name, hypothesis=f"{name}!", pairID=name) for name in names]
    for each in rows:
        del each[PARSE], each[OTHER_PARSE]  # the raw text needs none
    corpus = snli.read(write(tmp_path, dev=["", *rows, "  "]), text_options())
    assert [example.example_id for example in corpus.splits["dev"]] == names
    assert sentences(corpus.splits["dev"]) == [(name, f"{name} !") for name in names]
    assert corpus.counts["dev"]["pairs"] == 5


@pytest.mark.parametrize("chosen", [options(), text_options()])
def test_columns_hold_what_json_lines_hold(tmp_path, chosen):
    rows = [row("-"), row(pairID="a"), row("entailment", premise='"Soup", he said.')]
    for folder in ("json", "columns"):
        (tmp_path / folder).mkdir()
    theirs = snli.read(write(tmp_path / "json", train=rows, dev=rows), chosen)
    ours = snli.read(write_columns(tmp_path / "columns", train=rows, dev=rows), chosen)
    assert ours.splits == theirs.splits and ours.counts == theirs.counts
    assert [path.name for path in ours.inputs] == [f"snli_1.0_{s}.txt" for s in ours.splits]


def test_columns_are_found_by_name_and_quotes_are_characters(tmp_path):
    header = ("pairID", OTHER_PARSE, PARSE, "gold_label")
    dev = [row("entailment", pairID="one", **{PARSE: '( "Soup" , )'}), row(pairID='a "')]
    write_columns(tmp_path, header=header, dev=dev)
    first, second = snli.read(tmp_path, options()).splits["dev"]
    assert (first.example_id, first.label, second.example_id) == ("one", 2, 'a "')
    assert sentences([first]) == [('"Soup" ,', "Soup is hot .")]


@pytest.mark.parametrize("end", ["", "\t", "\t\t\t\t", "\r"])
def test_empty_columns_of_annotators_may_be_missing_at_the_end(tmp_path, end):
    values = {**row(), "label1": "neutral"}
    line = "\t".join(values.get(name, "") for name in COLUMNS[:10])
    write_columns(tmp_path, dev=[line + end])
    assert len(snli.read(tmp_path, options()).splits["dev"]) == 1


def test_json_lines_go_before_columns_file_by_file(tmp_path):
    write_columns(tmp_path, dev=[row(pairID="columns")], test=[row(pairID="columns")])
    write(tmp_path, dev=[row(pairID="json")])
    (tmp_path / "snli_1.0/snli_1.0_test.jsonl").unlink()
    corpus = snli.read(tmp_path, options())
    assert corpus.splits["dev"][0].example_id == "json"
    assert corpus.splits["test"][0].example_id == "columns"
    assert [path.suffix for path in corpus.inputs] == [".jsonl", ".jsonl", ".txt"]


def test_labels_are_0_contradiction_1_neutral_2_entailment_and_pairs_without_one_are_dropped(
    tmp_path,
):
    rows = [row(label) for label in ("-", "entailment", "contradiction", "-", "neutral")]
    corpus = snli.read(write(tmp_path, train=rows, dev=rows, test=rows), options())
    assert corpus.classes == ("contradiction", "neutral", "entailment")
    assert corpus.fields == ("premise", "hypothesis")
    for split, examples in corpus.splits.items():
        assert [example.label for example in examples] == [2, 0, 1]
        counts = corpus.counts[split]
        assert (counts["pairs"], counts["kept"]) == (5, 3)
        assert counts["dropped"] == {"without a gold label": 2}


def pair(first, second, name="", label="neutral"):
    return row(label, pairID=name, **{PARSE: first, OTHER_PARSE: second})


LONG = [pair("soup", "okra", f"short-{k}") for k in range(18)]
LONG += [pair("hot soup", "okra", "two"), pair("okra", "very hot soup", "three")]  # 40 sentences
UNLABELED = [pair("very hot soup", "very hot okra", label="-")] * 2


@pytest.mark.parametrize(
    "rows, share, limit, kept",
    [(LONG, 0.97, 2, 19), (LONG, 1.0, None, 20), (LONG + UNLABELED, 0.97, 3, 20)],
)
def test_training_pairs_longer_than_the_percentile_are_dropped(tmp_path, rows, share, limit, kept):
    corpus = snli.read(write(tmp_path, train=rows, dev=LONG), options(length_percentile=share))
    names = [example.example_id for example in corpus.splits["train"]]
    assert len(names) == kept and "two" in names and ("three" in names) == (kept == 20)
    dropped = {"without a gold label": len(rows) - 20}
    dropped.update({f"longer than {limit} tokens": 20 - kept} if limit else {})
    assert corpus.counts["train"]["dropped"] == dropped
    assert len(corpus.splits["dev"]) == 20


@pytest.mark.parametrize("labeled, warned", [(1, False), (2, True)])
def test_counts_that_differ_from_the_official_ones_are_a_warning(
    tmp_path, monkeypatch, labeled, warned
):
    write(tmp_path, dev=[row(), row("-")])
    warnings = snli.read(tmp_path, options()).warnings
    assert len(warnings) == 3 and warnings[1] == (
        "snli_1.0_dev.jsonl: SNLI dev has 2 pairs, 1 of them with a gold label; the official file "
        "has 10,000 and 9,842."
    )
    pairs, ones = {"train": 1, "dev": 2, "test": 1}, {"train": 1, "dev": labeled, "test": 1}
    monkeypatch.setattr(snli, "LAYOUT", snli.LAYOUT._replace(pairs=pairs, labeled=ones))
    warnings = snli.read(tmp_path, options()).warnings
    assert ["SNLI dev has 2 pairs, 1 of" in warning for warning in warnings] == [True] * warned


def load(folder, name):
    return np.load(folder / f"{name}.npy", allow_pickle=False)


def test_a_synthetic_corpus_is_prepared_alike_from_text_and_from_parses(tmp_path):
    write_pairs(tmp_path, 3, {"train": 30, "dev": 6, "test": 6})
    parse = prepare(options(**SPLIT), tmp_path, tmp_path / "prepared")
    text = prepare(text_options(**SPLIT), tmp_path, tmp_path / "prepared")
    assert parse != text
    for field in ("premise.ids", "premise.offsets", "hypothesis.ids", "label", "example_id"):
        np.testing.assert_array_equal(load(parse, f"train.{field}"), load(text, f"train.{field}"))
    words = (parse / "vocabulary.txt").read_text().split("\n")
    assert "fire" in words and "fire-fighter" not in words and "n't" not in words
    assert read_manifest(text)["tokenizer"] == {
        "name": "treebank",
        "version": 2,
        "lowercase": True,
        "split_words": True,
        "empty_tokens": False,
    }


def test_empty_strings_have_a_line_of_the_vocabulary_and_empty_sentences_are_unknown(tmp_path):
    rows = [row(**{PARSE: "", OTHER_PARSE: "( soup 's )"}), row("-"), row("-")]
    write(tmp_path, train=rows, dev=[row(), row("-")])
    folder = prepare(options(**SPLIT, empty_tokens=True), tmp_path, tmp_path / "prepared")
    words = (folder / "vocabulary.txt").read_text().split("\n")[:-1]
    assert words == ["soup", "", "'", "s"]
    assert load(folder, "train.hypothesis.ids").tolist() == [2, 3, 4, 5]
    assert load(folder, "train.premise.ids").tolist() == [1]
    text = describe_counts(read_manifest(folder))
    assert (
        "dev: 2 pairs (official count 10,000, difference -9,998), "
        "dropped 1 without a gold label, kept 1\n" in text
    )
    assert "trees" not in text and "warning: snli_1.0_train.jsonl: SNLI train has 3 pairs" in text
