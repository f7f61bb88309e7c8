"""data_prep/prepare.py: the files of a prepared corpus and a summary of them."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from data_prep.corpora import READERS, Corpus, Example
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from disan_tf.input_pipeline.format import FORMAT
from tests.support.corpora.readers import make_options
from tests.support.corpora.tiny_trees import VECTORS, options
from tests.support.errors import user_error


def load(folder, name):
    return np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def sentences(folder, split):
    """The words of each example, read back through the vocabulary file."""
    words = ["<pad>", "<unk>"]
    words += (folder / "vocabulary.txt").read_bytes().decode().split("\n")[:-1]
    ids, offsets = load(folder, f"{split}.sentence.ids"), load(folder, f"{split}.sentence.offsets")
    return [" ".join(words[k] for k in ids[a:b]) for a, b in zip(offsets, offsets[1:])]


def test_arrays_hold_the_examples_of_each_split(data_dir, prepared_dir):
    folder = prepare(options(), data_dir, prepared_dir)
    assert sentences(folder, "train") == ["this soup is fine", "cold soup"]
    assert sentences(folder, "dev") == ["cold tea"]
    assert sentences(folder, "test") == ["tea is <unk>", "this <unk>"]
    assert load(folder, "train.label").tolist() == [3, 1]
    assert load(folder, "test.example_id").tolist() == [b"test-1", b"test-2"]


def test_array_types_are_the_documented_ones(data_dir, prepared_dir):
    folder = prepare(options(), data_dir, prepared_dir)
    types = {name: load(folder, f"train.{name}").dtype for name in ("sentence.ids", "label")}
    assert types == {"sentence.ids": np.int32, "label": np.int32}
    assert load(folder, "train.sentence.offsets").dtype == np.int64
    assert load(folder, "train.example_id").dtype.kind == "S"
    assert load(folder, "embeddings").dtype == np.float32


def test_vocabulary_lines_and_embedding_rows_follow_the_ids(data_dir, prepared_dir):
    folder = prepare(options(), data_dir, prepared_dir)
    text = (folder / "vocabulary.txt").read_bytes()
    assert text == b"this\nsoup\nis\nfine\ncold\ntea\n"  # tea: fixed, found as Tea
    matrix = load(folder, "embeddings")
    assert matrix.shape == (6, 2)
    np.testing.assert_array_equal(matrix[[1, 2, 5]], [[1, 2], [7, 8], [3, 4]])
    assert np.abs(matrix[[0, 3, 4]]).max() <= np.float32(0.05)


def test_without_lower_casing_cased_words_differ(data_dir, prepared_dir):
    folder = prepare(options(lowercase=False), data_dir, prepared_dir)
    assert (folder / "vocabulary.txt").read_text().split() == [
        "This",
        "Soup",
        "is",
        "fine",
        "Cold",
        "soup",
        "tea",
        "Tea",
    ]
    matrix = load(folder, "embeddings")
    np.testing.assert_array_equal(matrix[[1, 5]], [[1, 2], [1, 2]])


def test_fixed_words_all_keeps_the_whole_vector_file_lower_cased(data_dir, prepared_dir):
    folder = prepare(options(fixed_words="all"), data_dir, prepared_dir)
    words = (folder / "vocabulary.txt").read_text().split()
    assert words == ["this", "soup", "is", "fine", "cold", "tea", "rice"]
    assert manifest_of(folder)["fixed_words"] == 2
    np.testing.assert_array_equal(load(folder, "embeddings")[6], [5, 6])


@pytest.mark.parametrize("fixed_words", ["corpus", "all"])
def test_a_list_restricts_a_vector_file_to_its_words(fixed_words, data_dir, prepared_dir):
    whole = data_dir / "glove/tiny.txt"
    (data_dir / "subsets").mkdir()
    (data_dir / "subsets/few.words").write_text("Rice\nis\nokra\n", encoding="utf-8")
    chosen = options(vector_words="few", fixed_words=fixed_words)
    folder = prepare(chosen, data_dir, prepared_dir)
    assert "subsets/few.words" in manifest_of(folder)["inputs"]
    whole.write_text("Rice 5 6\nis 7 8\n", encoding="utf-8")
    part = prepare(options(fixed_words=fixed_words), data_dir, prepared_dir)
    assert (folder / "vocabulary.txt").read_bytes() == (part / "vocabulary.txt").read_bytes()
    np.testing.assert_array_equal(load(folder, "embeddings"), load(part, "embeddings"))
    (data_dir / "subsets/few.words").write_text("is\n", encoding="utf-8")
    assert manifest_of(prepare(chosen, data_dir, prepared_dir))["vectors"]["rows"] == 2
    assert "rice" not in (folder / "vocabulary.txt").read_text().split()


def test_the_list_of_the_package_is_no_input(data_dir, prepared_dir):
    folder = prepare(options(vector_words="glove_840B_4180"), data_dir, prepared_dir)
    assert not [name for name in manifest_of(folder)["inputs"] if name.endswith(".words")]
    assert manifest_of(folder)["vectors"]["training_words_found"] == 2  # soup, is


def test_a_list_that_is_missing_or_empty_is_named(data_dir, prepared_dir):
    message = user_error(prepare, options(vector_words="few"), data_dir, prepared_dir)
    assert "few names no list of words" in message and "glove_840B_4180" in message
    (data_dir / "subsets").mkdir()
    (data_dir / "subsets/few.words").write_text("\n", encoding="utf-8")
    message = user_error(prepare, options(vector_words="few"), data_dir, prepared_dir)
    assert "few.words has no words; write one in each line." in message


def test_a_narrower_vector_file_is_padded_to_the_embedding(data_dir, prepared_dir):
    folder = prepare(options(embedding_dim=5, vector_dim=2), data_dir, prepared_dir)
    words = (folder / "vocabulary.txt").read_text().split()
    row = load(folder, "embeddings")[words.index("soup")]
    assert row.tolist()[:2] == [1, 2] and np.all(row[2:]) and np.all(np.abs(row[2:]) <= 0.05)


def test_without_vectors_every_training_word_is_drawn_and_nothing_is_fixed(data_dir, prepared_dir):
    folder = prepare(options(vectors=""), data_dir, prepared_dir)
    manifest = manifest_of(folder)
    assert (manifest["trainable_words"], manifest["fixed_words"]) == (5, 0)
    assert np.abs(load(folder, "embeddings")).max() <= np.float32(0.05)
    assert sentences(folder, "dev") == ["cold <unk>"]


def test_the_manifest_records_what_the_model_and_the_user_need(data_dir, prepared_dir):
    folder = prepare(options(), data_dir, prepared_dir)
    manifest = manifest_of(folder)
    assert manifest["format"] == FORMAT
    assert manifest["corpus"] == "sst"
    assert manifest["options"] == options().to_dict()
    assert manifest["tokenizer"]["name"] == "whitespace" and manifest["tokenizer"]["lowercase"]
    assert manifest["fields"] == ["sentence"]
    assert manifest["unit"] == "trees"
    assert manifest["classes"][0] == "very negative"
    assert manifest["trainable_words"] == 5
    class_counts = [0, 1, 0, 1, 0]
    assert manifest["splits"]["train"] == {
        "examples": 2,
        "tokens": 6,
        "contexts": 0,
        "class_counts": class_counts,
    }
    assert manifest["vectors"] == {
        "file": "glove/tiny.txt",
        "without": {"cold": 1, "fine": 1, "this": 1},
        "rows": 4,
        "training_words_found": 2,
        "training_tokens_covered": 0.5,
    }
    assert set(manifest["inputs"]) == {
        "sst/trees/train.txt",
        "sst/trees/dev.txt",
        "sst/trees/test.txt",
        "glove/tiny.txt",
    }
    assert manifest["inputs"]["glove/tiny.txt"]["bytes"] == len(VECTORS)
    assert manifest["counts"]["train"]["expected"] == 8544
    assert "8,544" in manifest["warnings"][0]


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
    assert manifest_of(folder)["splits"]["dev"]["tokens"] == 8


def test_the_summary_names_counts_differences_reasons_and_coverage(data_dir, prepared_dir):
    folder = prepare(options(level="phrase", classes=2), data_dir, prepared_dir)
    text = describe_counts(manifest_of(folder))
    assert "train: 2 trees (official count 8,544, difference -8,542), 10 nodes" in text
    assert "dropped 4 neutral" in text and "kept 6" in text
    assert "\n  classes of train: negative 33.3%, positive 66.7%\n" in text
    assert "glove/tiny.txt" in text and "% of the training tokens" in text
    assert "warning: SST train has 2 trees" in text
