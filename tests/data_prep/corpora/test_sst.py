"""data_prep/corpora/sst.py: both layouts, the options, the authors' examples."""

import zipfile

import pytest

from data_prep.corpora import sst, sst_trees
from disan_tf.text import make_tokenizer
from tests.support.corpora.readers import make_options, refusal
from tests.support.errors import user_error
from tests.support.golden.official import golden_json

TREES = {
    "train": "(3 (2 This) (3 (2 soup) (3 (2 is) (3 fine))))\n(1 (2 Cold) (2 soup))\n(2 (2 soup))\n",
    "dev": "(0 (1 Cold) (2 tea))\n(2 Tea)\n",
    "test": "(4 (2 Tea) (4 (2 is) (4 fine)))\n",
}


def options(**changed):
    known = {"level": "phrase", "classes": 5, "repetitions": True, "rebalance": False}
    return make_options("sst", **{**known, **changed})


def write_trees(data_dir, **changed):
    folder = data_dir / "sst/trees"
    folder.mkdir(parents=True, exist_ok=True)
    for split, text in {**TREES, **changed}.items():
        content = text.encode() if isinstance(text, str) else text
        (folder / f"{split}.txt").write_bytes(content)
    return data_dir


def summary(examples):
    return [(e.example_id, " ".join(e.sentences[0]), e.label) for e in examples]


def error_of(data_dir, **changed):
    return refusal(data_dir, options(**changed))


# PTB trees


def test_every_node_is_a_training_example_leaves_first_and_sentences_are_dev_and_test(tmp_path):
    corpus = sst.read(write_trees(tmp_path), options())
    assert summary(corpus.splits["train"]) == [
        ("train-1.1", "This", 2),
        ("train-1.2", "soup", 2),
        ("train-1.3", "is", 2),
        ("train-1.4", "fine", 3),
        ("train-1.5", "is fine", 3),
        ("train-1.6", "soup is fine", 3),
        ("train-1", "This soup is fine", 3),
        ("train-2.1", "Cold", 2),
        ("train-2.2", "soup", 2),
        ("train-2", "Cold soup", 1),
        ("train-3.1", "soup", 2),
        ("train-3", "soup", 2),
    ]
    assert summary(corpus.splits["dev"]) == [("dev-1", "Cold tea", 0), ("dev-2", "Tea", 2)]
    assert summary(corpus.splits["test"]) == [("test-1", "Tea is fine", 4)]
    corpus = sst.read(tmp_path, options(level="sentence"))
    assert [e.example_id for e in corpus.splits["train"]] == ["train-1", "train-2", "train-3"]


def test_two_classes_drop_neutral_in_every_split(tmp_path):
    corpus = sst.read(write_trees(tmp_path), options(classes=2))
    assert corpus.classes == ("negative", "positive")
    assert [(text, label) for _, text, label in summary(corpus.splits["train"])] == [
        ("fine", 1),
        ("is fine", 1),
        ("soup is fine", 1),
        ("This soup is fine", 1),
        ("Cold soup", 0),
    ]
    assert summary(corpus.splits["dev"]) == [("dev-1", "Cold tea", 0)]
    assert corpus.counts["dev"]["dropped"]["neutral"] == 1


def test_without_repetitions_the_first_of_equal_tokens_and_label_stays_in_training(tmp_path):
    trees = "(3 (2 soup) (3 fine))\n(1 (1 soup) (3 fine))\n"
    write_trees(tmp_path, train=trees, dev="(2 Tea)\n(2 Tea)\n")
    corpus = sst.read(tmp_path, options(repetitions=False))
    assert summary(corpus.splits["train"]) == [
        ("train-1.1", "soup", 2),
        ("train-1.2", "fine", 3),
        ("train-1", "soup fine", 3),
        ("train-2.1", "soup", 1),
        ("train-2", "soup fine", 1),
    ]
    assert corpus.counts["train"]["dropped"] == {"empty": 0, "neutral": 0, "repetition": 1}
    assert len(corpus.splits["dev"]) == 2


def test_kim_cleans_leaves_before_repetitions_and_drops_what_is_empty(tmp_path):
    trees = "(3 (3 (2 Well-made) (3 soup)) (2 .))\n"
    corpus = sst.read(
        write_trees(tmp_path, train=trees), options(tokenizer="kim", repetitions=False)
    )
    assert summary(corpus.splits["train"]) == [
        ("train-1.1", "Well made", 2),
        ("train-1.2", "soup", 3),
        ("train-1.4", "Well made soup", 3),
    ]
    assert corpus.counts["train"]["dropped"] == {"empty": 1, "neutral": 0, "repetition": 1}
    raw = make_tokenizer("kim").tokenize(["Well-made soup."]).to_list()[0]
    assert b" ".join(raw).decode() == "Well made soup"


def test_escapes_no_break_spaces_blank_lines_and_windows_line_ends_are_read(tmp_path):
    trees = "\n(2 (2 -LRB-) (2 8\xa01\\/2))\r\n\n"
    (example,) = sst.read(write_trees(tmp_path, test=trees), options()).splits["test"]
    assert (example.example_id, example.sentences) == ("test-2", (("-LRB-", "8\xa01\\/2"),))


def check_contexts(corpus):
    """Every phrase stands in its sentence where it says, and roots are their own contexts."""
    starts = set()
    for examples in corpus.splits.values():
        for example in examples:
            (tokens,) = example.sentences
            assert example.context[example.start :][: len(tokens)] == tokens
            assert "." in example.example_id or example.context == tokens
            starts.add(example.start)
    assert len(starts) > 2


def test_phrases_tell_their_sentence_if_that_is_asked_for(tmp_path):
    write_trees(tmp_path)
    check_contexts(sst.read(tmp_path, options(contexts=True)))
    plain = sst.read(tmp_path, options())
    assert {example.context for example in plain.splits["train"]} == {()}


def test_a_word_that_stands_twice_has_two_places(tmp_path):
    train = "(2 (2 tea) (2 (2 and) (2 tea)))\n"
    corpus = sst.read(write_trees(tmp_path, train=train), options(contexts=True))
    assert [example.start for example in corpus.splits["train"]] == [0, 1, 2, 1, 0]


def test_phrases_of_the_original_layout_tell_their_sentence(original):
    check_contexts(sst.read(original, options(contexts=True)))


def test_counts_add_up_and_a_difference_from_the_official_ones_is_a_warning(tmp_path):
    corpus = sst.read(write_trees(tmp_path), options(classes=2, rebalance=True))
    for counts in corpus.counts.values():
        dropped = sum(counts["dropped"].values())
        assert counts["kept"] == counts["nodes"] - dropped + counts["copies"]
    assert corpus.counts["dev"]["trees"] == 2
    assert corpus.counts["dev"]["expected"] == 1101
    assert corpus.warnings[1] == "dev.txt: SST dev has 2 trees; the official split has 1,101."


@pytest.mark.parametrize("place", ["sst", "archives"])
def test_the_zip_gives_the_same_examples(tmp_path, place):
    plain = sst.read(write_trees(tmp_path / "plain"), options())
    archive = tmp_path / "zipped" / place / "trainDevTestTrees_PTB.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as file:
        for split, text in TREES.items():
            file.writestr(f"trees/{split}.txt", text)
    zipped = sst.read(tmp_path / "zipped", options())
    assert zipped.splits == plain.splits
    assert zipped.inputs == [archive]


def test_a_zip_bomb_is_refused(tmp_path):
    archive = tmp_path / "sst/trainDevTestTrees_PTB.zip"
    archive.parent.mkdir()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for split in TREES:
            file.writestr(f"trees/{split}.txt", "(2 a)\n" * 100_000)
    assert "would expand from" in error_of(tmp_path)


# The original layout, against the authors' code


@pytest.fixture(scope="module")
def golden():
    return golden_json("sst_data")


@pytest.fixture(params=["sst/stanfordSentimentTreebank", "stanfordSentimentTreebank"])
def original(request, tmp_path, golden):
    write_original(tmp_path / request.param, golden["raw_files"])
    return tmp_path


def write_original(folder, files):
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())


def contents(examples):
    return [(list(e.sentences[0]), e.label, "." not in e.example_id) for e in examples]


def test_examples_equal_the_authors(original, golden):
    corpus = sst.read(original, options())
    for split, key in (("train", "train_all_nodes"), ("dev", "dev"), ("test", "test")):
        expected = [(node["tokens"], node["label"], node["is_sent"]) for node in golden[key]]
        assert contents(corpus.splits[split]) == expected
    binary = [
        (node["tokens"], int(node["sentiment"] >= 0.5), node["is_sent"])
        for node in golden["train_binary_filtered"]
    ]
    assert contents(sst.read(original, options(classes=2)).splits["train"]) == binary


def test_rebalancing_copies_equal_the_authors_in_order(original, golden):
    labels = {node["sentiment"]: node["label"] for node in golden["train_all_nodes"]}
    expected = [
        (text.split(" "), labels[sentiment], is_sentence)
        for text, sentiment, is_sentence in golden["train_list_with_imbalance_copies"]
    ]
    corpus = sst.read(original, options(rebalance=True))
    assert contents(corpus.splits["train"]) == expected
    assert len(corpus.splits["dev"]) == len(golden["dev"])


ORIGINAL = {
    "SOStr.txt": "Tea|is|fine\nCold|soup\nSoup\n",
    "STree.txt": "5|4|4|5|0\n3|3|0\n0\n",
    "dictionary.txt": "Tea|0\nis|1\nfine|2\nis fine|3\nTea is fine|4\nCold soup|5\nSoup|6\n",
    "sentiment_labels.txt": "ids|values\n0|.5\n1|.6\n2|.8\n3|.81\n4|1\n5|.2\n6|.4\n",
    "datasetSplit.txt": "sentence_index,splitset_label\n1,1\n2,3\n3,2\n",
}


def test_bins_are_closed_above_and_nodes_keep_their_numbers(tmp_path):
    write_original(tmp_path / "stanfordSentimentTreebank", ORIGINAL)
    corpus = sst.read(tmp_path, options())
    assert summary(corpus.splits["train"]) == [
        ("train-1.1", "Tea", 2),
        ("train-1.2", "is", 2),
        ("train-1.3", "fine", 3),
        ("train-1.4", "is fine", 4),
        ("train-1", "Tea is fine", 4),
    ]
    assert summary(corpus.splits["dev"]) == [("dev-2", "Cold soup", 0)]
    assert summary(corpus.splits["test"]) == [("test-3", "Soup", 1)]


def test_brackets_of_the_original_layout_are_escaped_as_in_the_trees(tmp_path):
    files = {name: content.replace("Soup", "(") for name, content in ORIGINAL.items()}
    write_original(tmp_path / "stanfordSentimentTreebank", files)
    corpus = sst.read(tmp_path, options())
    assert summary(corpus.splits["test"]) == [("test-3", "-LRB-", 1)]


@pytest.mark.parametrize(
    "name, old, new, message",
    [
        ("dictionary.txt", "is fine|3\n", "", "SOStr.txt, line 1: 'is fine' is not in dictionary"),
        ("dictionary.txt", "fine|2", "fine 2", "dictionary.txt, line 3: expected two fields"),
        ("dictionary.txt", "fine|2", "fine|99", "dictionary.txt, line 3: id '99' is not in"),
        ("sentiment_labels.txt", "2|.8\n", "2|x\n", "sentiment_labels.txt, line 4: sentiment 'x'"),
        ("sentiment_labels.txt", "2|.8\n", "2|1.5\n", "sentiment_labels.txt, line 4: sentiment"),
        ("datasetSplit.txt", "2,3", "2,7", "datasetSplit.txt, line 3: expected 2,"),
        ("datasetSplit.txt", "3,2\n", "", "SOStr.txt has 3 rows, STree.txt 3 and datasetSplit"),
        ("STree.txt", "\n3|3|0\n", "\n", "SOStr.txt has 3 rows, STree.txt 2 and"),
        ("STree.txt", "3|3|0", "3|3|x", "STree.txt, line 2: the parent pointers do not form"),
        ("STree.txt", "3|3|0", "3|9|0", "STree.txt, line 2: the parent pointers do not form"),
        ("STree.txt", "3|3|0", "3|4|0|5|4", "STree.txt, line 2: the parent pointers of word 2 "),
        ("STree.txt", "3|3|0", "3|3|0|3", "STree.txt, line 2: the parent pointers do not fit"),
        ("STree.txt", "3|3|0", "2|0", "STree.txt, line 2: the parent pointers do not fit"),
    ],
)
def test_a_malformed_row_of_the_original_layout_is_named(tmp_path, name, old, new, message):
    files = {**ORIGINAL, name: ORIGINAL[name].replace(old, new, 1)}
    assert files != ORIGINAL
    write_original(tmp_path / "stanfordSentimentTreebank", files)
    assert message in error_of(tmp_path)


@pytest.mark.parametrize("name", ORIGINAL)
def test_an_empty_or_missing_file_of_the_original_layout_is_named(tmp_path, name):
    folder = tmp_path / "stanfordSentimentTreebank"
    write_original(folder, {**ORIGINAL, name: ""})
    message = error_of(tmp_path)
    if not name.startswith("S"):
        assert f"{name} is empty" in message
    (folder / name).unlink()
    missing = f"there is no stanfordSentimentTreebank/{name}); python -m data_prep.download sst"
    assert missing in error_of(tmp_path) and missing in user_error(sst.files, tmp_path, options())


def test_a_chain_in_the_original_layout_is_refused(tmp_path):
    words = 250
    inner = [words + k for k in range(2, words)] + [0]  # the parents of inner nodes
    pointers = [words + 1, words + 1, *range(words + 2, 2 * words), *inner]
    files = {
        **ORIGINAL,
        "SOStr.txt": "|".join(["Tea"] * words) + "\nCold|soup\nSoup\n",
        "STree.txt": "|".join(map(str, pointers)) + "\n3|3|0\n0\n",
    }
    write_original(tmp_path / "stanfordSentimentTreebank", files)
    assert "STree.txt, line 1: the tree is more than 200 nodes deep; " in error_of(tmp_path)


def test_a_tree_that_is_a_chain_is_refused_by_its_depth(tmp_path):
    inner = sst_trees.DEEPEST - 1
    for more, depth in ((0, inner), (1, inner + 1), (1, 20_000)):
        write_trees(tmp_path, dev="(2 (2 a) " * depth + "(2 a)" + ")" * depth)
        if more:
            assert "dev.txt, line 1: the tree is more than 200 nodes deep; " in error_of(tmp_path)
        else:
            assert len(sst.read(tmp_path, options()).splits["dev"]) == 1
