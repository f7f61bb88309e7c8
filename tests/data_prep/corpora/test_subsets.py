"""data_prep/corpora/subsets.py and write_subset.py: digests, their files, corpora read by them."""

import hashlib

import numpy as np
import pytest

from data_prep import write_subset
from data_prep.corpora import multinli, snli, subsets
from data_prep.corpora.nli_files import read_rows
from data_prep.prepare import prepare
from disan_tf.input_pipeline.corpus_format import read_manifest
from tests.support.corpora.nli import error_of, options, row, text_options, write
from tests.support.errors import user_error

DISHES = ("soup", "stew", "rice", "okra", "bread", "tea")
MINE = ["soup", "okra", "tea"]
PACKAGED = {"multinli_46974": 46_974, "snli_159549": 159_549, "snli_94108": 94_108}


def dish(name, label="neutral", **changed):
    return row(label, f"A cook stirs {name}.", f"Hot {name}!", pairID=name, **changed)


def write_digests(data_dir, names):
    digests = [subsets.digest(f"A cook stirs {name}.", f"Hot {name}!") for name in names]
    path = data_dir / "subsets/mine.digests"
    subsets.write(path, digests)
    return path


def ids_of(corpus, split="train"):
    return [example.example_id for example in corpus.splits[split]]


@pytest.fixture
def data_dir(tmp_path):
    """Six training pairs, of which the subset "mine" names three, in another order."""
    write(tmp_path, train=[dish(name) for name in DISHES], dev=[dish("soup"), dish("beans")])
    write_digests(tmp_path, MINE[::-1])
    return tmp_path


def test_a_digest_is_the_first_bytes_of_sha256_over_letters_and_digits():
    expected = hashlib.sha256(b"2cooksstirsoup\tsoupsnothot").digest()[:5]
    assert subsets.digest("2 cooks stir soup.", "Soup's not hot") == expected


@pytest.mark.parametrize(
    "pair, is_same",
    [
        (("a cook  stirs the SOUP .", "Its hot"), True),
        ((" A cook stirs the soup", "It 's hot !"), True),
        (("A cook stirs the so\u00fcp.", "It\u2019s hot."), True),
        (("It's hot.", "A cook stirs the soup."), False),
        (("A cook stirs the soups", "It's hot."), False),
        (("A cook stirs the", "soup It's hot."), False),
        (("A cook stirs the soup.", "It's hot 2"), False),
    ],
)
def test_copies_that_differ_in_case_spaces_marks_or_accents_have_one_digest(pair, is_same):
    same = subsets.digest(*pair) == subsets.digest("A cook stirs the soup.", "It's hot.")
    assert same == is_same


def test_a_file_has_a_count_and_the_sorted_digests(tmp_path):
    path = tmp_path / "two.digests"
    subsets.write(path, [b"bbbbb", b"aaaaa", b"bbbbb"])
    assert path.read_bytes() == b"disan_tf pairs 1 2\naaaaabbbbb"
    assert subsets.read(path).pairs == 2


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "does not begin with 'disan_tf pairs 1 <number>'"),
        (b"disan_tf pairs 2 1\naaaaa", "does not begin with"),
        (b"disan_tf pairs 1 0\n", "does not begin with"),
        (b"disan_tf pairs 1 2\naaaaabbbb", "has 9 bytes of digests, and 2 pairs have 10"),
        (b"disan_tf pairs 1 2\naaaaabbbbb\n", "has 11 bytes of digests, and 2 pairs have 10"),
        (b"disan_tf pairs 1 2\nbbbbbaaaaa", "are not in ascending order"),
        (b"disan_tf pairs 1 2\naaaaaaaaaa", "are not in ascending order"),
    ],
)
def test_a_damaged_file_is_refused_with_the_remedy(tmp_path, content, reason):
    path = tmp_path / "mine.digests"
    path.write_bytes(content)
    message = user_error(subsets.read, path)
    assert str(path) in message and reason in message
    assert "write one with python -m data_prep.write_subset" in message


@pytest.mark.parametrize("make", [options, text_options])
def test_a_subset_keeps_its_training_pairs_in_the_order_of_the_file(data_dir, make):
    corpus = snli.read(data_dir, make(subset="mine"))
    assert ids_of(corpus) == MINE and ids_of(corpus, "dev") == ["soup", "beans"]
    assert corpus.counts["train"]["pairs"] == corpus.counts["train"]["kept"] == 3
    assert corpus.counts["train"]["expected"] == 550_152
    assert "SNLI train has 3 pairs, 3 of them with a gold label;" in " ".join(corpus.warnings)
    assert ids_of(snli.read(data_dir, make(subset=""))) == list(DISHES)


def test_a_subset_is_prepared_like_a_file_of_its_pairs_and_anew_where_it_changed(
    data_dir, tmp_path
):
    (tmp_path / "few").mkdir()
    write(tmp_path / "few", train=list(map(dish, MINE)), dev=[dish("soup"), dish("beans")])
    chosen = text_options(subset="mine", length_percentile=0.9)
    ours = prepare(chosen, data_dir, tmp_path / "prepared")
    theirs = prepare(text_options(length_percentile=0.9), tmp_path / "few", tmp_path / "prepared")
    arrays = sorted(path.name for path in theirs.glob("*.npy"))
    assert ours != theirs and arrays == sorted(path.name for path in ours.glob("*.npy"))
    for name in arrays:
        np.testing.assert_array_equal(np.load(ours / name), np.load(theirs / name))
    manifest = read_manifest(ours)
    assert manifest["options"]["subset"] == "mine"
    assert "subsets/mine.digests" in manifest["inputs"]
    write_digests(data_dir, ("stew", "rice"))
    folder = prepare(chosen, data_dir, tmp_path / "prepared")
    assert read_manifest(folder)["splits"]["train"]["examples"] == 2


def test_a_subset_of_the_package_is_no_input(data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(subsets, "PACKAGED", tmp_path / "package")
    (data_dir / "subsets").rename(tmp_path / "package")
    corpus = snli.read(data_dir, options(subset="mine"))
    assert ids_of(corpus) == MINE
    names = [f"snli_1.0_{split}.jsonl" for split in ("train", "dev", "test")]
    assert [path.name for path in corpus.inputs] == names


def test_the_first_labelled_pair_of_a_digest_is_taken(data_dir):
    rows = [dish("soup", "-"), dish("soup", "entailment"), dish("soup"), dish("okra"), dish("tea")]
    corpus = snli.read(write(data_dir, train=rows), options(subset="mine"))
    found = [(example.example_id, example.label) for example in corpus.splits["train"]]
    assert found == [("soup", 2), ("okra", 1), ("tea", 1)]


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_one_pair_in_a_hundred_may_be_missing_with_a_warning(tmp_path, missing):
    names = [f"dish {number}" for number in range(100)]
    write(tmp_path, train=[dish(name) for name in names[missing:]])
    write_digests(tmp_path, names)
    chosen = options(subset="mine")
    if missing == 2:
        message, path = error_of(tmp_path, chosen), tmp_path / "snli_1.0/snli_1.0_train.jsonl"
        assert message.startswith(
            f"{path} lacks 2 of the 100 pairs of the subset mine; restore the"
        )
        assert "python -m data_prep.download snli" in message
        assert "or choose another --config.data.subset" in message
        return
    warnings = snli.read(tmp_path, chosen).warnings
    expected = "SNLI train lacks 1 of the 100 pairs of the subset mine."
    assert (expected in warnings) == bool(missing)


def test_parses_need_the_raw_sentences_and_an_unknown_name_is_named(data_dir):
    message = error_of(data_dir, options(subset="yours"))
    assert f"--config.data.subset=yours names no subset: there is no {data_dir}/subsets" in message
    assert f"the package has {', '.join(PACKAGED)}; write one with python" in message
    line = {key: value for key, value in dish("soup").items() if key != "sentence1"}
    write(data_dir, train=[line])
    assert "line 1: there is no sentence1; " in error_of(data_dir, options(subset="mine"))


def test_multinli_has_subsets_too(tmp_path):
    rows = [dish(name) for name in DISHES]
    write(tmp_path, multinli.LAYOUT, train=rows, dev_matched=rows)
    write_digests(tmp_path, ("rice", "tea"))
    corpus = multinli.read(tmp_path, options(corpus="multinli", split_seed=1, subset="mine"))
    assert ids_of(corpus) == ["rice", "tea"]
    assert len(corpus.splits["dev"]) + len(corpus.splits["test"]) == len(DISHES)


def test_the_subsets_of_the_package_have_the_pairs_of_their_names(tmp_path):
    found = {path.name for path in subsets.PACKAGED.iterdir()}
    assert found == {"glove_840B_4180.words", *(f"{name}.digests" for name in PACKAGED)}
    for name, pairs in PACKAGED.items():
        path = subsets.find(tmp_path, name)
        assert path.parent == subsets.PACKAGED and subsets.read(path).pairs == pairs


@pytest.mark.slow
def test_the_real_training_pairs_are_those_of_the_package(real_data, tmp_path):
    path = real_data / "snli_1.0/snli_1.0_train.jsonl"
    subset = subsets.read(subsets.find(tmp_path, "snli_94108"))
    rows = list(read_rows(path, "text", "restore it", subset.take))
    assert len(rows) == PACKAGED["snli_94108"]
    assert subset.check_missing(path, "restore it") == 0


ROWS = [dish("soup"), dish("soup"), dish("rice", "-"), dish("okra")]


def test_the_command_writes_the_distinct_labelled_pairs_by_which_others_train(tmp_path, capsys):
    (tmp_path / "few").mkdir()
    write(tmp_path / "few", train=ROWS)
    arguments = [f"--data_dir={tmp_path}/few", f"--output={tmp_path}/subsets"]
    assert write_subset.main(arguments) == 0
    expected = f"{tmp_path}/subsets/snli_2.digests: 2 pairs; 1 more have an equal digest\n"
    assert capsys.readouterr().out == expected
    corpus = snli.read(write(tmp_path, train=[dish("tea"), *ROWS]), options(subset="snli_2"))
    assert ids_of(corpus) == ["soup", "okra"]
    assert write_subset.write_subset("snli", tmp_path)[0] == tmp_path / "subsets/snli_3.digests"


def test_the_command_explains_a_missing_corpus_and_one_without_gold_labels(tmp_path, capsys):
    assert write_subset.main([f"--data_dir={tmp_path}", "--corpus=multinli"]) == 2
    assert "MultiNLI is not in" in capsys.readouterr().err
    write(tmp_path, train=[row("-")])
    message = user_error(write_subset.write_subset, "snli", tmp_path)
    assert "contains no pair with a gold label; restore" in message
