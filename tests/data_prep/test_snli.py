"""data_prep/corpora/snli.py: texts and parses, dropped pairs, the authors' examples, bad input."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from ml_collections import ConfigDict

from data_prep.corpora import READERS, snli
from data_prep.prepare import prepare, report
from data_prep.synthetic_pairs import write_pairs
from disan_tf.errors import UserError

ROOT = Path(__file__).parents[2]
GOLDEN = Path(os.environ.get("DISAN_TF_GOLDEN", ROOT / "tests/golden/official"))
AUTHORS = json.loads((GOLDEN / "snli_data.json").read_text(encoding="utf-8"))


def options(**changed):
    values = {
        "corpus": "snli",
        "tokens": "parse",
        "tokenizer": "whitespace",
        "split_words": True,
        "empty_tokens": False,
        "length_percentile": 1.0,
        "lowercase": True,
        "vectors": "",
        "embedding_dim": 2,
        "fixed_words": "corpus",
        "oov": "uniform",
        "seed": 5,
    }
    return ConfigDict({**values, **changed})


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


def write(data_dir, **rows):
    """Writes the three files; a row is a dictionary or a line."""
    for split in ("train", "dev", "test"):
        lines = [
            each if isinstance(each, str) else json.dumps(each) for each in rows.get(split, [row()])
        ]
        path = data_dir / f"snli_1.0/snli_1.0_{split}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return data_dir


def error_of(data_dir, chosen=None):
    with pytest.raises(UserError) as caught:
        snli.read(data_dir, chosen or options())
    message = str(caught.value)
    assert "\n" not in message and message.endswith(".")
    return message


def sentences(examples):
    return [tuple(" ".join(tokens) for tokens in example.sentences) for example in examples]


# Texts and parses


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
    monkeypatch.setattr(snli, "BATCH", 2)
    names = ["one", "two", "three", "four", "five"]
    write(tmp_path, dev=[row(premise=name, hypothesis=f"{name}!", pairID=name) for name in names])
    examples = snli.read(tmp_path, text_options()).splits["dev"]
    assert [each.example_id for each in examples] == names
    assert sentences(examples) == [(name, f"{name} !") for name in names]


# Labels, ids, dropped pairs, counts


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


@pytest.mark.parametrize(("lengths", "share", "limit"), AUTHORS["dynamic_length"])
def test_the_length_limit_is_the_authors(lengths, share, limit):
    assert snli.length_limit(lengths, share) == limit


def test_counts_that_differ_from_the_official_ones_are_a_warning(tmp_path):
    corpus = snli.read(write(tmp_path, dev=[row(), row("-")]), options())
    assert corpus.counts["dev"]["expected"] == 10_000
    assert (
        "SNLI dev has 2 pairs, 1 of them with a gold label; "
        "the official split has 10,000 and 9,842." in corpus.warnings
    )
    assert len(corpus.warnings) == 3


def test_official_counts_are_no_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(snli, "OFFICIAL_PAIRS", {"train": 1, "dev": 2, "test": 1})
    monkeypatch.setattr(snli, "OFFICIAL_LABELED", dict.fromkeys(("train", "dev", "test"), 1))
    assert snli.read(write(tmp_path, dev=[row(), row("-")]), options()).warnings == []


# The authors' code on invented pairs


def authors_corpus(data_dir, **changed):
    """The golden rows, with the pairIDs and the dev split that they lack."""
    train, test = (
        [{**each, "pairID": str(number)} for number, each in enumerate(AUTHORS[f"{split}_rows"])]
        for split in ("train", "test")
    )
    write(data_dir, train=train, test=test)
    return snli.read(data_dir, options(length_percentile=0.97, **changed))


@pytest.mark.parametrize("split", ["train", "test"])
def test_pairs_tokens_and_labels_are_the_authors(tmp_path, split):
    examples = authors_corpus(tmp_path, empty_tokens=True).splits[split]
    ours = [(*example.sentences, snli.CLASSES[example.label]) for example in examples]
    theirs = [(tuple(pair["s1"]), tuple(pair["s2"]), pair["gold"]) for pair in AUTHORS[split]]
    assert ours == theirs


def test_the_default_lacks_the_authors_empty_strings_alone(tmp_path):
    examples = authors_corpus(tmp_path).splits["train"]
    theirs = [
        [[word for word in pair[s] if word] for s in ("s1", "s2")] for pair in AUTHORS["train"]
    ]
    assert [list(map(list, example.sentences)) for example in examples] == theirs


def authors_prepared(tmp_path):
    """The golden rows and vectors, prepared: the manifest, and the vocabulary."""
    authors_corpus(tmp_path)
    lines = (f"{word} {' '.join(map(str, row))}\n" for word, row in AUTHORS["glove"].items())
    (tmp_path / "glove.txt").write_text("".join(lines), encoding="utf-8")
    chosen = {"vectors": "glove.txt", "embedding_dim": 6, "fixed_words": "all"}
    chosen.update(empty_tokens=True, length_percentile=0.97)
    folder = prepare(options(**chosen), tmp_path, tmp_path / "prepared")
    manifest = json.loads((folder / "manifest.json").read_text())
    return manifest, (folder / "vocabulary.txt").read_text().split("\n")[:-1]


def test_the_known_words_are_the_authors(tmp_path):
    _, words = authors_prepared(tmp_path)
    theirs = AUTHORS["token_vocab_trainable_sorted"] + AUTHORS["glove_fixed_vocab_sorted"]
    assert sorted(words) == sorted(theirs)


def test_the_trained_words_are_the_authors_but_for_words_of_dropped_pairs(tmp_path):
    manifest, words = authors_prepared(tmp_path)
    kept = {word.lower() for pair in AUTHORS["train"] for word in pair["s1"] + pair["s2"]}
    assert set(words[: manifest["trainable_words"]]) == kept
    assert kept < set(AUTHORS["token_vocab_trainable_sorted"])


# Prepared


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


def test_the_manifest_tells_how_raw_text_is_tokenised(tmp_path):
    folder = prepare(text_options(), write(tmp_path), tmp_path / "prepared")
    assert manifest_of(folder)["tokenizer"] == {
        "name": "treebank", "version": 1, "lowercase": True,
        "split_words": True, "empty_tokens": False,
    }  # fmt: skip


def test_the_report_counts_pairs(tmp_path):
    folder = prepare(options(), write(tmp_path, dev=[row(), row("-")]), tmp_path / "prepared")
    text = report(manifest_of(folder))
    assert (
        "dev: 2 pairs (official count 10,000, difference -9,998), "
        "dropped 1 without a gold label, kept 1\n" in text
    )
    assert "trees" not in text and "nodes" not in text
    assert "warning: SNLI train has 1 pairs" in text


# Bad input


def test_missing_files_are_named_with_the_command_that_fetches_them(tmp_path):
    write(tmp_path)
    (tmp_path / "snli_1.0/snli_1.0_dev.jsonl").unlink()
    message = error_of(tmp_path)
    assert "there is no snli_1.0/snli_1.0_dev.jsonl)" in message
    assert f"python -m data_prep.download snli --data_dir={tmp_path}" in message


def bad(data_dir, line, chosen=None):
    """The message about a training file whose second line is `line`."""
    message = error_of(write(data_dir, train=[row(), line]), chosen)
    assert message.startswith(f"{data_dir}/snli_1.0/snli_1.0_train.jsonl, line 2: ")
    assert "python -m data_prep.download snli" in message
    return message


@pytest.mark.parametrize("line", ['{"gold_label": "neutral", "pair', "neutral\ta\tb", "[" * 100000])
def test_a_line_that_is_not_json_is_named(tmp_path, line):
    assert "the line is not JSON" in bad(tmp_path, line)


def test_a_line_that_is_no_object_is_named(tmp_path):
    assert "not a JSON object" in bad(tmp_path, '["neutral"]')


def test_an_unknown_label_is_named_with_the_known_ones(tmp_path):
    message = bad(tmp_path, row("maybe"))
    assert "gold_label 'maybe' is not contradiction, neutral, entailment or -" in message


@pytest.mark.parametrize("field", ["gold_label", "pairID", "sentence1", "sentence2"])
@pytest.mark.parametrize("value", [None, 3, ["a"], {}])
def test_a_field_that_is_no_string_is_named(tmp_path, field, value):
    message = bad(tmp_path, {**row(), field: value}, text_options())
    assert f"{field} is not a string ({json.dumps(value)})" in message


@pytest.mark.parametrize("field", ["gold_label", "pairID", "sentence1", "sentence2"])
def test_a_missing_field_is_named(tmp_path, field):
    line = {key: value for key, value in row().items() if key != field}
    assert f"there is no field {field}" in bad(tmp_path, line, text_options())


@pytest.mark.parametrize("field", ["sentence1_binary_parse", "sentence2_binary_parse"])
def test_a_missing_parse_points_to_the_raw_text(tmp_path, field):
    line = {key: value for key, value in row().items() if key != field}
    message = bad(tmp_path, line)
    assert f"there is no field {field}" in message
    assert "use --config.data.tokens=text --config.data.tokenizer=treebank" in message


def test_the_raw_text_needs_no_parse(tmp_path):
    line = {key: value for key, value in row().items() if "parse" not in key}
    corpus = snli.read(write(tmp_path, train=[line], dev=[line], test=[line]), text_options())
    assert len(corpus.splits["train"]) == 1


def test_a_parse_that_is_cut_off_is_named(tmp_path):
    line = row(sentence1_binary_parse="( ( A cook ) ( stirs")
    assert "sentence1_binary_parse is cut off" in bad(tmp_path, line)


def test_half_a_surrogate_pair_is_named(tmp_path):
    line = row(premise="caf\u00e9 \ud83d")
    assert "sentence1 holds \\ud83d, half of a surrogate pair" in bad(
        tmp_path, line, text_options()
    )


def test_emoji_and_escaped_characters_are_read(tmp_path):
    write(tmp_path, dev=[row(premise="\U0001f600 été \u2028")])
    corpus = snli.read(tmp_path, text_options())
    assert corpus.splits["dev"][0].sentences[0] == ("\U0001f600", "été")


def test_blank_lines_are_no_pairs(tmp_path):
    corpus = snli.read(write(tmp_path, dev=["", row(), "  "]), options())
    assert corpus.counts["dev"]["pairs"] == 1


def test_a_file_without_pairs_is_refused(tmp_path):
    assert "snli_1.0_test.jsonl holds no pair" in error_of(write(tmp_path, test=[""]))


def test_bytes_that_are_not_utf8_are_named(tmp_path):
    write(tmp_path)
    path = tmp_path / "snli_1.0/snli_1.0_dev.jsonl"
    path.write_bytes(path.read_bytes() + b"\xff\n")
    assert f"{path}, line 2: byte 0xff" in error_of(tmp_path)


def test_an_unknown_source_of_tokens_is_refused(tmp_path):
    message = error_of(write(tmp_path), options(tokens="tree"))
    assert "--config.data.tokens=tree is not known for SNLI; use parse or text" in message


@pytest.mark.parametrize(
    ("tokens", "tokenizer", "fitting"),
    [("parse", "treebank", "whitespace"), ("text", "whitespace", "treebank")],
)
def test_a_tokenizer_that_does_not_fit_the_tokens_is_refused(tmp_path, tokens, tokenizer, fitting):
    message = error_of(write(tmp_path), options(tokens=tokens, tokenizer=tokenizer))
    assert f"does not fit --config.data.tokens={tokens}; use {fitting}." in message


@pytest.mark.parametrize("share", [0.0, -0.5, 97.0])
def test_a_percentile_that_is_no_share_is_refused(tmp_path, share):
    message = error_of(write(tmp_path), options(length_percentile=share))
    assert f"length_percentile={share} is not a share" in message


# The real corpus


def test_the_official_dev_and_test_files_have_their_official_counts(tmp_path, real_data):
    write(tmp_path)
    official = ("dev", "test")
    for split in official:
        name = f"snli_1.0/snli_1.0_{split}.jsonl"
        (tmp_path / name).unlink()
        (tmp_path / name).symlink_to(real_data / name)
    corpus = READERS["snli"](tmp_path, text_options())
    dropped = {split: corpus.counts[split]["dropped"]["without a gold label"] for split in official}
    assert dropped == {"dev": 158, "test": 176}
    assert {split: corpus.counts[split]["pairs"] for split in official} == dict.fromkeys(
        official, 10_000
    )
    assert [warning.split()[1] for warning in corpus.warnings] == ["train"]
