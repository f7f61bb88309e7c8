"""data_prep/corpora/nli_rows.py and nli_files.py: from texts and parses to tokens."""

import pytest

from data_prep.corpora import nli_files, snli
from tests.support.corpora.nli import (
    COLUMNS,
    options,
    row,
    sentences,
    text_options,
    write,
    write_columns,
)


def test_raw_sentences_are_tokenised_as_treebanks_are(tmp_path):
    write(tmp_path, dev=[row(premise='It isn\'t "hot".', hypothesis="(A cook)")])
    corpus = snli.read(tmp_path, text_options(split_words=False))
    assert sentences(corpus.splits["dev"]) == [("It is n't `` hot '' .", "-LRB- A cook -RRB-")]


def test_leaves_of_a_parse_are_its_tokens_without_the_brackets(tmp_path):
    parse = "( ( The ( well-known cook ) ) ( -LRB- ( Ann -RRB- ) ) )"
    write(tmp_path, dev=[row(sentence1_binary_parse=parse, sentence2_binary_parse="Soup")])
    corpus = snli.read(tmp_path, options(split_words=False))
    assert sentences(corpus.splits["dev"]) == [("The well-known cook -LRB- Ann -RRB-", "Soup")]


def test_brackets_need_no_space_around_them(tmp_path):
    write(tmp_path, dev=[row(sentence1_binary_parse="((A cook)(stirs soup))")])
    assert sentences(snli.read(tmp_path, options()).splits["dev"])[0][0] == "A cook stirs soup"


def test_a_no_break_space_belongs_to_its_leaf(tmp_path):
    write(tmp_path, dev=[row(sentence1_binary_parse="( 1\u00a01/2 cups )")])
    corpus = snli.read(tmp_path, options(split_words=False))
    assert corpus.splits["dev"][0].sentences[0] == ("1\u00a01/2", "cups")


@pytest.mark.parametrize("tokens", ["parse", "text"])
def test_words_are_divided_in_either_source(tmp_path, tokens):
    changed = {"sentence1_binary_parse": "( well-known ( cook 's ) )"}
    write(tmp_path, dev=[row(premise="well-known cook's", **changed)])
    chosen = options() if tokens == "parse" else text_options()
    corpus = snli.read(tmp_path, chosen)
    assert sentences(corpus.splits["dev"])[0][0] == "well - known cook ' s"


def test_an_empty_sentence_has_no_tokens(tmp_path):
    write(tmp_path, dev=[row(hypothesis="", sentence2_binary_parse="")])
    for chosen in (options(), text_options()):
        assert snli.read(tmp_path, chosen).splits["dev"][0].sentences[1] == ()


def test_more_pairs_than_a_batch_keep_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr(nli_files, "BATCH", 2)
    names = ["one", "two", "three", "four", "five"]
    write(tmp_path, dev=[row(premise=name, hypothesis=f"{name}!", pairID=name) for name in names])
    examples = snli.read(tmp_path, text_options()).splits["dev"]
    assert [example.example_id for example in examples] == names
    assert sentences(examples) == [(name, f"{name} !") for name in names]


def test_the_raw_text_needs_no_parse(tmp_path):
    line = {key: value for key, value in row().items() if "parse" not in key}
    corpus = snli.read(write(tmp_path, train=[line], dev=[line], test=[line]), text_options())
    assert len(corpus.splits["train"]) == 1


def test_emoji_and_escaped_characters_are_read(tmp_path):
    write(tmp_path, dev=[row(premise="\U0001f600 été \u2028")])
    corpus = snli.read(tmp_path, text_options())
    assert corpus.splits["dev"][0].sentences[0] == ("\U0001f600", "été")


def test_blank_lines_are_no_pairs(tmp_path):
    corpus = snli.read(write(tmp_path, dev=["", row(), "  "]), options())
    assert corpus.counts["dev"]["pairs"] == 1


# Columns


def read_columns(data_dir, chosen=None, **rows):
    write_columns(data_dir, **rows)
    return snli.read(data_dir, chosen or options(split_words=False))


@pytest.mark.parametrize("chosen", [options(), text_options()])
def test_columns_hold_what_json_lines_hold(tmp_path, chosen):
    rows = [row("-"), row(pairID="a"), row("entailment", premise='"Soup", he said.')]
    for folder in ("json", "columns"):
        (tmp_path / folder).mkdir()
    theirs = snli.read(write(tmp_path / "json", train=rows, dev=rows), chosen)
    ours = snli.read(write_columns(tmp_path / "columns", train=rows, dev=rows), chosen)
    assert ours.splits == theirs.splits and ours.counts == theirs.counts
    assert [path.name for path in ours.inputs] == [f"snli_1.0_{s}.txt" for s in ours.splits]


def test_columns_are_found_by_name(tmp_path):
    header = ("pairID", "sentence2_binary_parse", "sentence1_binary_parse", "gold_label")
    corpus = read_columns(tmp_path, header=header, dev=[row("entailment", pairID="one")])
    (example,) = corpus.splits["dev"]
    assert (example.example_id, example.label) == ("one", 2)
    assert sentences([example]) == [("A cook stirs soup .", "Soup is hot .")]


@pytest.mark.parametrize("end", ["", "\t", "\t\t\t\t", "\r"])
def test_empty_columns_of_annotators_may_be_missing_at_the_end(tmp_path, end):
    values = {**row(), "label1": "neutral"}
    line = "\t".join(values.get(name, "") for name in COLUMNS[:10])
    assert len(read_columns(tmp_path, dev=[line + end]).splits["dev"]) == 1


def test_quotes_in_columns_are_characters(tmp_path):
    dev = [row(premise='"Soup" , he said'), row(hypothesis='a "')]
    corpus = read_columns(tmp_path, text_options(split_words=False), dev=dev)
    assert sentences(corpus.splits["dev"])[0][0] == "`` Soup '' , he said"
    assert len(corpus.splits["dev"]) == 2


def test_json_lines_go_before_columns_file_by_file(tmp_path):
    write_columns(tmp_path, dev=[row(pairID="columns")], test=[row(pairID="columns")])
    write(tmp_path, dev=[row(pairID="json")])
    (tmp_path / "snli_1.0/snli_1.0_test.jsonl").unlink()
    corpus = snli.read(tmp_path, options())
    assert corpus.splits["dev"][0].example_id == "json"
    assert corpus.splits["test"][0].example_id == "columns"
    assert [path.suffix for path in corpus.inputs] == [".jsonl", ".jsonl", ".txt"]
