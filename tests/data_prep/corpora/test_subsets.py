"""data_prep/corpora/subsets.py: digests of pairs, their files, and corpora read by them."""

import hashlib

import numpy as np
import pytest

from data_prep.corpora import multinli, snli, subsets
from data_prep.corpora.nli_rows import read_rows
from data_prep.prepare import prepare
from disan_tf.common.errors import UserError
from disan_tf.input_pipeline.format import read_manifest
from tests.support.corpora.nli import error_of, options, row, text_options, write

DISHES = ("soup", "stew", "rice", "okra", "bread", "tea")
PACKAGED = {"multinli_46974": 46_974, "snli_159549": 159_549, "snli_94108": 94_108}


def dish(name, label="neutral", **changed):
    return row(label, f"A cook stirs {name}.", f"Hot {name}!", pairID=name, **changed)


def write_digests(data_dir, names, file="mine"):
    digests = [subsets.digest(f"A cook stirs {name}.", f"Hot {name}!") for name in names]
    path = data_dir / "subsets" / f"{file}.digests"
    subsets.write(path, digests)
    return path


def ids_of(corpus, split="train"):
    return [example.example_id for example in corpus.splits[split]]


@pytest.fixture
def data_dir(tmp_path):
    """Six training pairs, of which the subset "mine" names three, in another order."""
    write(tmp_path, train=[dish(name) for name in DISHES], dev=[dish("soup"), dish("beans")])
    write_digests(tmp_path, ("tea", "soup", "okra"))
    return tmp_path


def test_a_digest_is_the_first_bytes_of_sha256_over_letters_and_digits():
    expected = hashlib.sha256(b"2cooksstirsoup\tsoupsnothot").digest()[:5]
    assert subsets.digest("2 cooks stir soup.", "Soup's not hot") == expected


@pytest.mark.parametrize(
    "pair",
    [
        ("a cook  stirs the SOUP .", "Its hot"),
        (" A cook stirs the soup", "It 's hot !"),
        ("A cook stirs the so\u00fcp.", "It\u2019s hot."),
    ],
)
def test_copies_that_differ_in_case_spaces_marks_or_accents_have_one_digest(pair):
    assert subsets.digest(*pair) == subsets.digest("A cook stirs the soup.", "It's hot.")


@pytest.mark.parametrize(
    "pair", [("Soup", "A cook"), ("A cooks", "oup"), ("A", "cook Soup"), ("A cook", "Soup 2")]
)
def test_other_pairs_have_other_digests(pair):
    assert subsets.digest(*pair) != subsets.digest("A cook", "Soup")


def test_a_file_has_a_count_and_the_sorted_digests(tmp_path):
    path = tmp_path / "two.digests"
    subsets.write(path, [b"bbbbb", b"aaaaa", b"bbbbb"])
    assert path.read_bytes() == b"disan_tf pairs 1 2\naaaaabbbbb"
    assert subsets.read(path).pairs == 2


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "does not begin with 'disan_tf pairs 1 <number>'"),
        (b"aaaaabbbbb", "does not begin with"),
        (b"disan_tf pairs 2 1\naaaaa", "does not begin with"),
        (b"disan_tf pairs 1 0\n", "does not begin with"),
        (b"disan_tf pairs 1 2\naaaaabbbb", "has 9 bytes of digests, and 2 pairs have 10"),
        (b"disan_tf pairs 1 2\naaaaabbbbb\n", "has 11 bytes of digests, and 2 pairs have 10"),
        (b"disan_tf pairs 1 2\nbbbbbaaaaa", "are not in ascending order"),
        (b"disan_tf pairs 1 2\naaaaaaaaaa", "are not in ascending order"),
    ],
)
def test_a_damaged_file_is_refused_with_the_remedy(data_dir, content, reason):
    path = data_dir / "subsets/mine.digests"
    path.write_bytes(content)
    message = error_of(data_dir, text_options(subset="mine"))
    assert str(path) in message and reason in message
    assert "write one with python -m data_prep.write_subset" in message


@pytest.mark.parametrize("make", [options, text_options])
def test_a_subset_keeps_its_training_pairs_in_the_order_of_the_file(data_dir, make):
    corpus = snli.read(data_dir, make(subset="mine"))
    assert ids_of(corpus) == ["soup", "okra", "tea"]
    assert ids_of(corpus, "dev") == ["soup", "beans"]
    assert corpus.counts["train"]["pairs"] == corpus.counts["train"]["kept"] == 3
    assert corpus.counts["train"]["expected"] == 550_152
    assert "SNLI train has 3 pairs, 3 of them with a gold label;" in " ".join(corpus.warnings)


def test_without_a_subset_all_pairs_are_read(data_dir):
    for chosen in (text_options(), text_options(subset="")):
        assert ids_of(snli.read(data_dir, chosen)) == list(DISHES)


def test_a_subset_of_a_file_is_prepared_like_a_file_of_its_pairs(data_dir, tmp_path):
    kept = [dish(name) for name in ("soup", "okra", "tea")]
    (tmp_path / "few").mkdir()
    write(tmp_path / "few", train=kept, dev=[dish("soup"), dish("beans")])
    chosen = text_options(subset="mine", length_percentile=0.9)
    ours = prepare(chosen, data_dir, tmp_path / "prepared")
    theirs = prepare(text_options(length_percentile=0.9), tmp_path / "few", tmp_path / "prepared")
    assert ours != theirs
    arrays = sorted(path.name for path in theirs.glob("*.npy"))
    assert arrays == sorted(path.name for path in ours.glob("*.npy"))
    for name in arrays:
        np.testing.assert_array_equal(np.load(ours / name), np.load(theirs / name))


def test_the_manifest_records_the_subset_and_another_one_is_prepared_anew(data_dir, tmp_path):
    chosen = text_options(subset="mine")
    folder = prepare(chosen, data_dir, tmp_path / "prepared")
    manifest = read_manifest(folder)
    assert manifest["options"]["subset"] == "mine"
    assert "subsets/mine.digests" in manifest["inputs"]
    assert manifest["splits"]["train"]["examples"] == 3
    write_digests(data_dir, ("stew", "rice"))
    folder = prepare(chosen, data_dir, tmp_path / "prepared")
    assert read_manifest(folder)["splits"]["train"]["examples"] == 2


def test_a_subset_of_the_package_is_no_input(data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(subsets, "PACKAGED", tmp_path / "package")
    (data_dir / "subsets").rename(tmp_path / "package")
    corpus = snli.read(data_dir, text_options(subset="mine"))
    assert ids_of(corpus) == ["soup", "okra", "tea"]
    assert [path.name for path in corpus.inputs] == [
        f"snli_1.0_{split}.jsonl" for split in ("train", "dev", "test")
    ]


def test_the_first_labelled_pair_of_a_digest_is_taken(data_dir):
    rows = [dish("soup", "-"), dish("soup", "entailment"), dish("soup"), dish("okra"), dish("tea")]
    corpus = snli.read(write(data_dir, train=rows), text_options(subset="mine"))
    found = [(example.example_id, example.label) for example in corpus.splits["train"]]
    assert found == [("soup", 2), ("okra", 1), ("tea", 1)]


def test_a_file_that_lacks_pairs_is_refused_with_their_number(data_dir):
    write(data_dir, train=[dish("soup"), dish("stew")])
    message = error_of(data_dir, text_options(subset="mine"))
    path = data_dir / "snli_1.0/snli_1.0_train.jsonl"
    assert message.startswith(f"{path} lacks 2 of the 3 pairs of the subset mine; restore the")
    assert "python -m data_prep.download snli" in message
    assert "or choose another --config.data.subset" in message


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_one_pair_in_a_hundred_may_be_missing_with_a_warning(tmp_path, missing):
    names = [f"dish {number}" for number in range(100)]
    write(tmp_path, train=[dish(name) for name in names[missing:]])
    write_digests(tmp_path, names)
    chosen = text_options(subset="mine")
    if missing == 2:
        assert "lacks 2 of the 100 pairs" in error_of(tmp_path, chosen)
        return
    warnings = snli.read(tmp_path, chosen).warnings
    expected = "SNLI train lacks 1 of the 100 pairs of the subset mine."
    assert (expected in warnings) == bool(missing)


def test_parses_need_the_raw_sentences_too(data_dir):
    line = {key: value for key, value in dish("soup").items() if key != "sentence1"}
    write(data_dir, train=[line])
    assert "line 1: there is no sentence1; " in error_of(data_dir, options(subset="mine"))


def test_an_unknown_name_is_named_with_the_subsets_of_the_package(data_dir):
    message = error_of(data_dir, text_options(subset="yours"))
    assert f"--config.data.subset=yours names no subset: there is no {data_dir}/subsets" in message
    assert f"the package has {', '.join(PACKAGED)}; write one with python" in message
    with pytest.raises(UserError, match="names no subset"):
        snli.files(data_dir, text_options(subset="yours"))


def test_multinli_has_subsets_too(tmp_path):
    rows = [dish(name) for name in DISHES]
    write(tmp_path, multinli.LAYOUT, train=rows, dev_matched=rows)
    write_digests(tmp_path, ("rice", "tea"))
    chosen = text_options(corpus="multinli", split_seed=1, subset="mine")
    corpus = multinli.read(tmp_path, chosen)
    assert ids_of(corpus) == ["rice", "tea"]
    assert len(corpus.splits["dev"]) + len(corpus.splits["test"]) == len(DISHES)


@pytest.mark.parametrize("name", PACKAGED)
def test_a_subset_of_the_package_has_the_pairs_of_its_name(name, tmp_path):
    path = subsets.find(tmp_path, name)
    assert path.parent == subsets.PACKAGED
    assert subsets.read(path).pairs == PACKAGED[name]


def test_no_other_subset_is_in_the_package():
    found = {path.name for path in subsets.PACKAGED.iterdir()}
    assert found == {"glove_840B_4180.words", *(f"{name}.digests" for name in PACKAGED)}


def test_the_real_training_pairs_are_those_of_the_package(real_data, tmp_path):
    path = real_data / "snli_1.0/snli_1.0_train.jsonl"
    subset = subsets.read(subsets.find(tmp_path, "snli_94108"))
    rows = list(read_rows(path, "text", "restore it", subset.take))
    assert len(rows) == PACKAGED["snli_94108"]
    assert subset.check_missing(path, "restore it") == 0
