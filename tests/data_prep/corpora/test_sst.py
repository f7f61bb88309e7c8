"""data_prep/corpora/sst.py: both layouts, the options, the authors' examples, bad input."""

import gc
import zipfile

import pytest

from data_prep.corpora import sst, sst_trees
from data_prep.corpora.overlap import overlap_warnings
from disan_tf.text import make_tokenizer
from tests.support.corpora.readers import make_options, refusal
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
    folder.mkdir(parents=True)
    for split, text in {**TREES, **changed}.items():
        content = text.encode() if isinstance(text, str) else text
        (folder / f"{split}.txt").write_bytes(content)
    return data_dir


def summary(examples):
    return [(e.example_id, " ".join(e.sentences[0]), e.label) for e in examples]


def error_of(data_dir, **changed):
    return refusal(data_dir, options(**changed))


# PTB trees


def test_every_node_is_a_training_example_leaves_first(tmp_path):
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


def test_dev_and_test_are_whole_sentences(tmp_path):
    corpus = sst.read(write_trees(tmp_path), options())
    assert summary(corpus.splits["dev"]) == [("dev-1", "Cold tea", 0), ("dev-2", "Tea", 2)]
    assert summary(corpus.splits["test"]) == [("test-1", "Tea is fine", 4)]


def test_sentence_level_trains_on_roots(tmp_path):
    corpus = sst.read(write_trees(tmp_path), options(level="sentence"))
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


def test_without_repetitions_the_first_of_equal_tokens_and_label_stays(tmp_path):
    trees = "(3 (2 soup) (3 fine))\n(1 (1 soup) (3 fine))\n"
    corpus = sst.read(write_trees(tmp_path, train=trees), options(repetitions=False))
    assert summary(corpus.splits["train"]) == [
        ("train-1.1", "soup", 2),
        ("train-1.2", "fine", 3),
        ("train-1", "soup fine", 3),
        ("train-2.1", "soup", 1),
        ("train-2", "soup fine", 1),
    ]
    assert corpus.counts["train"]["dropped"] == {"empty": 0, "neutral": 0, "repetition": 1}


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


def test_repetitions_among_dev_sentences_stay(tmp_path):
    corpus = sst.read(write_trees(tmp_path, dev="(2 Tea)\n(2 Tea)\n"), options(repetitions=False))
    assert len(corpus.splits["dev"]) == 2


def test_rebalancing_appends_three_copies_of_opinions_and_sentences(tmp_path):
    corpus = sst.read(
        write_trees(tmp_path, train="(2 (2 plain) (4 nice))\n"), options(rebalance=True)
    )
    ids = [e.example_id for e in corpus.splits["train"]]
    assert ids == ["train-1.1", "train-1.2", "train-1"] + ["train-1.2"] * 3 + ["train-1"] * 3
    assert corpus.counts["train"]["copies"] == 6
    assert len(corpus.splits["dev"]) == 2


def test_escapes_and_no_break_spaces_stay_inside_tokens(tmp_path):
    corpus = sst.read(write_trees(tmp_path, test="(2 (2 -LRB-) (2 8\xa01\\/2))\n"), options())
    assert corpus.splits["test"][0].sentences == (("-LRB-", "8\xa01\\/2"),)


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


def test_blank_lines_are_skipped_but_counted_in_ids(tmp_path):
    corpus = sst.read(write_trees(tmp_path, dev="\n(2 Tea)\r\n\n"), options())
    assert summary(corpus.splits["dev"]) == [("dev-2", "Tea", 2)]


def test_counts_add_up_and_a_difference_from_the_official_ones_is_a_warning(tmp_path):
    corpus = sst.read(write_trees(tmp_path), options(classes=2, rebalance=True))
    for counts in corpus.counts.values():
        dropped = sum(counts["dropped"].values())
        assert counts["kept"] == counts["nodes"] - dropped + counts["copies"]
    assert corpus.counts["dev"]["trees"] == 2
    assert corpus.counts["dev"]["expected"] == 1101
    assert corpus.warnings[1] == "SST dev has 2 trees; the official split has 1,101."


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


@pytest.mark.parametrize(
    "split, key", [("train", "train_all_nodes"), ("dev", "dev"), ("test", "test")]
)
def test_examples_equal_the_authors(original, golden, split, key):
    expected = [(node["tokens"], node["label"], node["is_sent"]) for node in golden[key]]
    assert contents(sst.read(original, options()).splits[split]) == expected


def test_rebalancing_copies_equal_the_authors_in_order(original, golden):
    labels = {node["sentiment"]: node["label"] for node in golden["train_all_nodes"]}
    expected = [
        (text.split(" "), labels[sentiment], is_sentence)
        for text, sentiment, is_sentence in golden["train_list_with_imbalance_copies"]
    ]
    corpus = sst.read(original, options(rebalance=True))
    assert contents(corpus.splits["train"]) == expected


def test_binary_examples_equal_the_authors(original, golden):
    expected = [
        (node["tokens"], int(node["sentiment"] >= 0.5), node["is_sent"])
        for node in golden["train_binary_filtered"]
    ]
    assert contents(sst.read(original, options(classes=2)).splits["train"]) == expected


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


@pytest.mark.parametrize("name", ["dictionary.txt", "sentiment_labels.txt", "datasetSplit.txt"])
def test_an_empty_file_of_the_original_layout_is_named(tmp_path, name):
    write_original(tmp_path / "stanfordSentimentTreebank", {**ORIGINAL, name: ""})
    assert f"{name} is empty" in error_of(tmp_path)


@pytest.mark.parametrize("name", ORIGINAL)
def test_a_missing_file_of_the_original_layout_is_named(tmp_path, name):
    write_original(tmp_path / "stanfordSentimentTreebank", ORIGINAL)
    (tmp_path / "stanfordSentimentTreebank" / name).unlink()
    assert f"{name} cannot be opened" in error_of(tmp_path)


# Bad input


@pytest.mark.parametrize(
    "line, message",
    [
        ("(3 (2 It) (4 works)", "the tree is cut off, 1 parentheses are still open"),
        ("(3 (2 It", "the tree is cut off, 2 parentheses are still open"),
        ("(3 (2 It) (4 works)))", "the tree is not balanced, ')' is outside of it"),
        ("(2 It) works", "the tree is not balanced, 'works' is outside of it"),
        ("(2 It) (2 works)", "a second tree follows the first"),
        ("(3 (2 It) (7 works))", "label '7' is not one of 0 to 4"),
        ("(-1 It)", "label '-1' is not one of 0 to 4"),
        ("(3 (2) (4 works))", "a node has neither a word nor children"),
        ("(3 It works)", "'works' is beside another word or a child of its node"),
        ("(3 It (4 works) (2 well))", "a node has both a word and children"),
        ("(", "label '' is not one of 0 to 4"),
    ],
)
def test_a_malformed_tree_is_named(tmp_path, line, message):
    write_trees(tmp_path, dev=f"(2 Tea)\n{line}\n")
    assert error_of(tmp_path).startswith(f"{tmp_path}/sst/trees/dev.txt, line 2: {message}; ")


def _chain(depth):
    return "(2 a)" if depth == 1 else "(2 (2 a) " * (depth - 1) + "(2 a)" + ")" * (depth - 1)


def test_a_tree_that_is_a_chain_is_refused_by_its_depth(tmp_path):
    write_trees(tmp_path, dev=f"(2 Tea)\n{_chain(sst_trees.DEEPEST)}\n")
    assert len(sst.read(tmp_path, options()).splits["dev"]) == 2
    for depth in (sst_trees.DEEPEST + 1, 20_000):
        (tmp_path / "sst/trees/dev.txt").write_text(f"(2 Tea)\n{_chain(depth)}\n")
        assert "dev.txt, line 2: the tree is more than 200 nodes deep; " in error_of(tmp_path)


def test_a_sentence_of_too_many_words_is_refused(tmp_path):
    write_trees(tmp_path, dev=f"(2 Tea)\n(2 {'(2 a) ' * 10_002})\n")
    assert "dev.txt, line 2: the tree has more than 10,000 words; " in error_of(tmp_path)


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


@pytest.mark.parametrize("zipped", [False, True])
def test_a_line_without_end_is_refused(tmp_path, zipped):
    trees = {**TREES, "dev": "(2 Tea)\n(2 " + "a" * (5 << 20)}
    if zipped:
        (tmp_path / "sst").mkdir()
        with zipfile.ZipFile(
            tmp_path / "sst/trainDevTestTrees_PTB.zip", "w", zipfile.ZIP_DEFLATED
        ) as file:
            for split, text in trees.items():
                file.writestr(f"trees/{split}.txt", text)
    else:
        write_trees(tmp_path, **trees)
    assert "dev.txt, line 2: a line may have 4,194,304 bytes" in error_of(tmp_path)


def test_an_empty_file_is_refused(tmp_path):
    write_trees(tmp_path, test="\n")
    assert error_of(tmp_path).startswith(f"{tmp_path}/sst/trees/test.txt holds no tree; ")


def test_a_byte_that_is_not_utf8_is_refused_in_files_and_in_the_zip(tmp_path):
    bad = b"(2 Tea)\n(2 caf\xe9)\n"
    write_trees(tmp_path / "plain", dev=bad)
    (tmp_path / "sst").mkdir()
    with zipfile.ZipFile(tmp_path / "sst/trainDevTestTrees_PTB.zip", "w") as file:
        for split, text in {**TREES, "dev": bad}.items():
            file.writestr(f"trees/{split}.txt", text)
    for data_dir in (tmp_path / "plain", tmp_path):
        assert "dev.txt, line 2: byte 0xe9 at column 7 is not UTF-8" in error_of(data_dir)


def test_a_broken_zip_is_refused(tmp_path):
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst/trainDevTestTrees_PTB.zip").write_bytes(b"<html>")
    assert "trainDevTestTrees_PTB.zip is not the official archive" in error_of(tmp_path)


def test_a_missing_corpus_is_reported_with_every_layout_and_the_remedy(tmp_path):
    message = error_of(tmp_path)
    for place in ("sst/trees/", "archives/trainDevTestTrees_PTB.zip", "stanfordSentimentTreebank"):
        assert place in message
    assert f"python -m data_prep.download sst --data_dir={tmp_path}" in message


# The real treebank


@pytest.fixture
def no_collection():
    """Spares Python the search for cycles among a million tuples, as `prepare` does."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.slow
def test_the_real_treebank_has_its_official_counts_and_few_sentences_twice(real_data):
    corpus = sst.read(real_data, options())
    sizes = {split: len(examples) for split, examples in corpus.splits.items()}
    assert sizes == {"train": 318582, "dev": 1101, "test": 2210}
    assert corpus.counts["train"]["trees"] == 8544 and corpus.warnings == []
    assert overlap_warnings(corpus) == [
        "train and dev share 2 examples (2 with the same label).",
        "train and test share 2 examples (2 with the same label).",
    ]
