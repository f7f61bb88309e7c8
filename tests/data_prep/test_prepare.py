"""data_prep/prepare.py: the files of a prepared corpus, its reuse, failures."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

from data_prep.corpora import READERS, Corpus, Example
from data_prep.manifest import describe_counts
from data_prep.prepare import is_prepared, prepare
from disan_tf.common.atomic import write_json
from disan_tf.common.files import read_json
from disan_tf.input_pipeline.corpus_format import FORMAT, read_manifest
from tests.support.corpora import nli
from tests.support.corpora.readers import make_options, table_options
from tests.support.corpora.tiny_trees import VECTORS, options
from tests.support.errors import user_error


def load(folder, name):
    return np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)


def words_of(folder):
    return (folder / "vocabulary.txt").read_bytes().decode().split("\n")[:-1]


def sentences(folder, split):
    """The words of each example, read back through the vocabulary file."""
    words = ["<pad>", "<unk>", *words_of(folder)]
    ids, offsets = load(folder, f"{split}.sentence.ids"), load(folder, f"{split}.sentence.offsets")
    return [" ".join(words[k] for k in ids[a:b]) for a, b in zip(offsets, offsets[1:])]


def test_arrays_hold_the_examples_of_each_split(data_dir, prepared_dir):
    folder = prepare(options(), data_dir, prepared_dir)
    assert sentences(folder, "train") == ["this soup is fine", "cold soup"]
    assert sentences(folder, "dev") == ["cold tea"]
    assert sentences(folder, "test") == ["tea is <unk>", "this <unk>"]
    assert load(folder, "train.label").tolist() == [3, 1]
    assert load(folder, "test.example_id").tolist() == [b"test-1", b"test-2"]
    types = {name: load(folder, f"train.{name}").dtype for name in ("sentence.ids", "label")}
    assert types == {"sentence.ids": np.int32, "label": np.int32}
    assert load(folder, "train.sentence.offsets").dtype == np.int64
    assert words_of(folder) == ["this", "soup", "is", "fine", "cold", "tea"]  # fixed, found as Tea
    matrix = load(folder, "embeddings")
    assert matrix.shape == (6, 2) and matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix[[1, 2, 5]], [[1, 2], [7, 8], [3, 4]])
    assert np.abs(matrix[[0, 3, 4]]).max() <= np.float32(0.05)


LOWERED = ["this", "soup", "is", "fine", "cold", "tea"]


@pytest.mark.parametrize(
    "changed, words, row, vector",
    [
        (
            {"lowercase": False},
            ["This", "Soup", "is", "fine", "Cold", "soup", "tea", "Tea"],
            5,
            [1, 2],
        ),
        ({"fixed_words": "all"}, [*LOWERED, "rice"], 6, [5, 6]),
        ({"embedding_dim": 5, "vector_dim": 2}, LOWERED, 1, [1, 2]),
        ({"vectors": ""}, LOWERED[:5], None, None),
    ],
)
def test_words_and_vectors_are_those_of_the_options(
    data_dir, prepared_dir, changed, words, row, vector
):
    folder = prepare(options(**changed), data_dir, prepared_dir)
    matrix = load(folder, "embeddings")
    assert words_of(folder) == words and len(matrix) == len(words)
    if row is None:
        assert np.abs(matrix).max() <= np.float32(0.05)
        assert sentences(folder, "dev") == ["cold <unk>"]
    else:
        assert matrix[row, :2].tolist() == vector
        assert np.all(matrix[row, 2:]) and np.all(np.abs(matrix[row, 2:]) <= 0.05)
    assert read_manifest(folder)["fixed_words"] == len(words) - len(words[: 5 + ("Tea" in words)])


@pytest.mark.parametrize("fixed_words", ["corpus", "all"])
def test_a_list_restricts_a_vector_file_to_its_words(fixed_words, data_dir, prepared_dir):
    (data_dir / "subsets").mkdir()
    (data_dir / "subsets/few.words").write_text("Rice\nis\nokra\n", encoding="utf-8")
    chosen = options(vector_words="few", fixed_words=fixed_words)
    folder = prepare(chosen, data_dir, prepared_dir)
    assert "subsets/few.words" in read_manifest(folder)["inputs"]
    (data_dir / "glove/tiny.txt").write_text("Rice 5 6\nis 7 8\n", encoding="utf-8")
    part = prepare(options(fixed_words=fixed_words), data_dir, prepared_dir)
    assert words_of(folder) == words_of(part)
    np.testing.assert_array_equal(load(folder, "embeddings"), load(part, "embeddings"))
    (data_dir / "subsets/few.words").write_text("is\n", encoding="utf-8")
    assert read_manifest(prepare(chosen, data_dir, prepared_dir))["vectors"]["rows"] == 2
    assert "rice" not in words_of(folder)


def test_the_list_of_the_package_is_no_input_and_another_must_be_there(data_dir, prepared_dir):
    manifest = read_manifest(
        prepare(options(vector_words="glove_840B_4180"), data_dir, prepared_dir)
    )
    assert not [name for name in manifest["inputs"] if name.endswith(".words")]
    assert manifest["vectors"]["training_words_found"] == 2  # soup, is
    message = user_error(prepare, options(vector_words="few"), data_dir, prepared_dir)
    assert "few names no list of words" in message and "glove_840B_4180" in message
    (data_dir / "subsets").mkdir()
    (data_dir / "subsets/few.words").write_text("\n", encoding="utf-8")
    message = user_error(prepare, options(vector_words="few"), data_dir, prepared_dir)
    assert "few.words has no words; write one in each line." in message


def test_the_manifest_records_what_the_model_and_the_user_need(data_dir, prepared_dir):
    manifest = read_manifest(prepare(options(), data_dir, prepared_dir))
    expected = {"format": FORMAT, "corpus": "sst", "options": options().to_dict(), "unit": "trees"}
    expected.update({"fields": ["sentence"], "trainable_words": 5, "fixed_words": 1})
    assert {key: manifest[key] for key in expected} == expected
    assert manifest["tokenizer"]["name"] == "whitespace" and manifest["tokenizer"]["lowercase"]
    assert manifest["classes"][0] == "very negative"
    split = {"examples": 2, "tokens": 6, "contexts": 0, "class_counts": [0, 1, 0, 1, 0]}
    assert manifest["splits"]["train"] == split
    assert manifest["vectors"] == {
        "file": "glove/tiny.txt",
        "without": {"cold": 1, "fine": 1, "this": 1},
        "rows": 4,
        "training_words_found": 2,
        "training_tokens_covered": 0.5,
    }
    trees = {f"sst/trees/{name}.txt" for name in ("train", "dev", "test")}
    assert set(manifest["inputs"]) == {*trees, "glove/tiny.txt"}
    assert manifest["inputs"]["glove/tiny.txt"]["bytes"] == len(VECTORS)
    assert manifest["counts"]["train"]["expected"] == 8544 and "8,544" in manifest["warnings"][0]


def test_an_empty_sentence_becomes_one_unknown_token(data_dir, prepared_dir, monkeypatch):
    fields = ("premise", "hypothesis")

    def read(data_dir, options):
        pairs = [((), ("soup",)), (("tea",), ()), ((), ("soup",)), ((), ())]
        examples = [Example(f"a-{number}", pair, 1) for number, pair in enumerate(pairs)]
        splits = dict.fromkeys(("train", "dev", "test"), examples)
        return Corpus("pairs", fields, ("no", "yes"), splits, {}, [])

    reader = SimpleNamespace(CHECKS=(), FIELDS=fields, read=read, files=lambda *_: [])
    monkeypatch.setitem(READERS, "pairs", reader)
    chosen = make_options("pairs", vectors="glove/tiny.txt")
    folder = prepare(chosen, data_dir, prepared_dir)
    assert load(folder, "dev.premise.ids").tolist() == [1, 3, 1, 1]
    assert load(folder, "dev.premise.offsets").tolist() == [0, 1, 2, 3, 4]
    assert load(folder, "dev.hypothesis.ids").tolist() == [2, 1, 2, 1]
    assert read_manifest(folder)["splits"]["dev"]["tokens"] == 8


def test_the_summary_names_counts_differences_reasons_and_coverage(data_dir, prepared_dir):
    folder = prepare(options(level="phrase", classes=2), data_dir, prepared_dir)
    text = describe_counts(read_manifest(folder))
    assert "train: 2 trees (official count 8,544, difference -8,542), 10 nodes" in text
    assert "dropped 4 neutral" in text and "kept 6" in text
    assert "\n  classes of train: negative 33.3%, positive 66.7%\n" in text
    assert "glove/tiny.txt" in text and "% of the training tokens" in text
    assert "warning: train.txt: SST train has 2 trees" in text


# Reuse


def _touch(data_dir):
    os.utime(data_dir / "glove/tiny.txt", ns=(1, 1))


def _change(data_dir):
    path = data_dir / "glove/tiny.txt"
    path.write_text(VECTORS.replace("soup 1", "soup 9"), encoding="utf-8")
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize("edit, soup", [(lambda _: None, 1), (_touch, 1), (_change, 9)])
def test_inputs_that_are_equal_are_reused_and_changed_ones_prepared_anew(
    data_dir, prepared_dir, edit, soup
):
    first = prepare(options(), data_dir, prepared_dir)
    before = (first / "embeddings.npy").stat().st_ino
    edit(data_dir)
    assert prepare(options(), data_dir, prepared_dir) == first
    assert ((first / "embeddings.npy").stat().st_ino == before) == (soup == 1)
    assert load(first, "embeddings")[1].tolist() == [soup, 2]
    assert os.listdir(prepared_dir) == [first.name]


def test_a_corpus_of_an_older_format_is_prepared_anew(data_dir, prepared_dir):
    folder = prepare(options(), data_dir, prepared_dir)
    manifest = read_json(folder / "manifest.json", "")
    write_json(folder / "manifest.json", {**manifest, "format": FORMAT - 1, "inputs": None})
    assert prepare(options(), data_dir, prepared_dir) == folder
    assert read_json(folder / "manifest.json", "") == manifest


@pytest.mark.parametrize(
    "bad, shown",
    [
        ([2], "; 1 line not in UTF-8 skipped (2)"),
        (range(1, 13), "(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...)"),
    ],
)
def test_lines_of_the_vectors_that_are_not_utf8_are_counted(bad, shown, data_dir, prepared_dir):
    path = data_dir / "glove/tiny.txt"
    lines = path.read_bytes().splitlines(keepends=True)
    for number in bad:
        lines.insert(number - 1, b"caf\xe9 1 2\n")
    path.write_bytes(b"".join(lines))
    manifest = read_manifest(prepare(options(), data_dir, prepared_dir))
    assert manifest["vectors"]["rows"] == 4
    assert shown in describe_counts(manifest)


def test_each_version_of_the_tokenizer_has_its_corpus(tmp_path, prepared_dir):
    text = "text,label\n" + "".join(f"su\u200eperb cafe\u0301 {n},{n % 2}\n" for n in range(20))
    (tmp_path / "own.csv").write_text(text, encoding="utf-8")
    chosen = table_options("own.csv", tokenizer="treebank")
    old = prepare(chosen, tmp_path, prepared_dir, version=1)
    new = prepare(chosen, tmp_path, prepared_dir)
    assert prepare(chosen, tmp_path, prepared_dir, version=1) == old != new
    assert {"su\u200eperb", "cafe\u0301"} < {*words_of(old)}
    assert {"superb", "caf\u00e9"} < {*words_of(new)}
    versions = [read_manifest(folder)["tokenizer"]["version"] for folder in (old, new)]
    assert versions == [1, 2]


def test_a_file_that_would_be_read_now_and_was_not_is_read(tmp_path, prepared_dir):
    nli.write_columns(tmp_path, dev=[nli.row(pairID="columns")])
    first = prepare(nli.options(), tmp_path, prepared_dir)
    nli.write(tmp_path, dev=[nli.row(pairID="json")])
    assert prepare(nli.options(), tmp_path, prepared_dir) == first
    assert load(first, "dev.example_id").tolist() == [b"json"]


def test_inputs_outside_of_a_linked_folder_are_found_again(data_dir, prepared_dir, tmp_path):
    link = tmp_path / "deep/er/link"
    link.parent.mkdir(parents=True)
    link.symlink_to(data_dir)
    (data_dir / "glove/tiny.txt").rename(tmp_path / "vectors.txt")
    chosen = options(vectors=str(tmp_path / "vectors.txt"))
    prepare(chosen, link, prepared_dir)
    assert is_prepared(chosen, link, prepared_dir)
    assert is_prepared(chosen, data_dir, prepared_dir)


def test_a_vector_file_that_fits_a_pattern_better_is_read(data_dir, prepared_dir):
    (data_dir / "glove/tiny.txt").rename(data_dir / "glove/tiny_subset.txt")
    chosen = options(vectors="glove/tiny*.txt")
    first = prepare(chosen, data_dir, prepared_dir)
    (data_dir / "glove/tiny.txt").write_text("soup 9 2\n", encoding="utf-8")
    assert prepare(chosen, data_dir, prepared_dir) == first
    assert read_manifest(first)["vectors"]["rows"] == 1


def test_a_list_of_words_that_replaces_the_one_of_the_package_is_read(data_dir, prepared_dir):
    chosen = options(vector_words="glove_840B_4180")
    first = prepare(chosen, data_dir, prepared_dir)
    before = (first / "embeddings.npy").stat().st_ino
    assert (prepare(chosen, data_dir, prepared_dir) / "embeddings.npy").stat().st_ino == before
    (data_dir / "subsets").mkdir()
    (data_dir / "subsets/glove_840B_4180.words").write_text("is\n", encoding="utf-8")
    manifest = read_manifest(prepare(chosen, data_dir, prepared_dir))
    assert manifest["vectors"]["training_words_found"] == 1


def test_two_preparations_have_the_same_bytes_and_other_options_another_name(data_dir, tmp_path):
    first, second = (prepare(options(), data_dir, tmp_path / name) for name in ("a", "b"))
    assert first.name == second.name
    assert first.name.startswith("sst-") and len(first.name) == len("sst-") + 12
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name
    assert prepare(options(seed=6), data_dir, tmp_path / "a").name != first.name


@pytest.mark.parametrize(
    "text, share",
    [("这部电影很好", "0.0%"), ("soup mit salz und brot", "20.0%"), ("soup tea", None)],
)
def test_few_words_with_a_vector_are_a_warning(text, share, tmp_path, prepared_dir):
    rows = "".join(f"{text},{k % 2}\n" for k in range(20))
    (tmp_path / "own.csv").write_text(f"text,label\n{rows}", encoding="utf-8")
    (tmp_path / "v.txt").write_text("soup 1 2\ntea 3 4\n")
    chosen = table_options("own.csv", tokenizer="treebank", vectors="v.txt")
    warnings = read_manifest(prepare(chosen, tmp_path, prepared_dir))["warnings"]
    found = [it for it in warnings if "of the training tokens; choose vectors" in it]
    assert found == [it for it in found if f"v.txt has vectors for only {share} of" in it]
    assert len(found) == (share is not None)
    chosen = table_options("own.csv", tokenizer="treebank")
    warnings = read_manifest(prepare(chosen, tmp_path, prepared_dir))["warnings"]
    assert not any("training tokens" in it for it in warnings)
