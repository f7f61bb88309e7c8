"""data_prep/prepare.py: failures leave nothing behind."""

import gc

import pytest

from data_prep import prepare as prepare_module
from data_prep.check_options import check_options
from data_prep.prepare import prepare
from disan_tf.common.errors import UserError
from tests.support.corpora.tiny_trees import options


def assert_fails_cleanly(data_dir, prepared_dir, message, **changed):
    before = sorted(prepared_dir.rglob("*")) if prepared_dir.exists() else []
    with pytest.raises(UserError, match=message):
        prepare(options(**changed), data_dir, prepared_dir)
    assert sorted(prepared_dir.rglob("*") if prepared_dir.exists() else []) == before


def test_a_truncated_tree_leaves_nothing_behind(data_dir, prepared_dir):
    (data_dir / "sst/trees/dev.txt").write_text("(0 (1 Cold) (2 te")
    assert_fails_cleanly(data_dir, prepared_dir, "dev.txt, line 1: the tree is cut off")


@pytest.mark.parametrize("same_size", [False, True])
def test_a_corpus_that_changes_while_it_is_prepared_is_refused(
    data_dir, prepared_dir, same_size, monkeypatch
):
    path = data_dir / "sst/trees/train.txt"
    content = path.read_text()

    def write_vocabulary(*arguments):
        new = content.replace("(", "(", 1) if same_size else content + content
        path.with_suffix(".new").write_text(new)
        path.with_suffix(".new").replace(path)
        return original(*arguments)

    original = prepare_module.write_vocabulary
    monkeypatch.setattr(prepare_module, "write_vocabulary", write_vocabulary)
    assert_fails_cleanly(data_dir, prepared_dir, "train.txt changed while it was prepared; run")


def test_vectors_of_another_dimension_leave_nothing_behind(data_dir, prepared_dir):
    assert_fails_cleanly(data_dir, prepared_dir, "dimension 2 .* asks for 300", embedding_dim=300)


def test_padded_vectors_of_another_dimension_are_refused_with_their_option(data_dir, prepared_dir):
    message = "dimension 2 .* asks for 1; .*--config.data.vector_dim"
    assert_fails_cleanly(data_dir, prepared_dir, message, vector_dim=1)


def test_missing_vectors_are_named_and_leave_nothing_behind(data_dir, prepared_dir):
    message = "glove/other.txt does not exist .*glove/tiny.txt"
    assert_fails_cleanly(data_dir, prepared_dir, message, vectors="glove/other.txt")


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"vectors": "glove/other.txt"}, "glove/other.txt does not exist"),
        ({"embedding_dim": 300}, "dimension 2 .* asks for 300"),
        ({"bilm": "elmo/small"}, "elmo/small_options.json is missing"),
    ],
)
def test_other_files_are_found_before_the_corpus_is_read(data_dir, prepared_dir, changed, message):
    (data_dir / "sst/trees/train.txt").write_text("no tree\n")
    assert_fails_cleanly(data_dir, prepared_dir, message, **changed)


def test_a_split_without_examples_is_refused(data_dir, prepared_dir):
    (data_dir / "sst/trees/dev.txt").write_text("(2 Tea)\n")
    message = "split dev of sst has no examples left"
    assert_fails_cleanly(data_dir, prepared_dir, message, classes=2)


def test_a_failure_keeps_what_was_prepared_before(data_dir, prepared_dir):
    prepare(options(), data_dir, prepared_dir)
    (data_dir / "glove/tiny.txt").write_text("soup 1 x\n")
    assert_fails_cleanly(data_dir, prepared_dir, "tiny.txt, line 1")


def test_impossible_options_are_refused():
    with pytest.raises(UserError, match="^--config.data.oov=wrong must be"):
        check_options(options(oov="wrong"))


def test_cycles_are_collected_again_after_a_preparation_or_a_failure(data_dir, prepared_dir):
    prepare(options(), data_dir, prepared_dir)
    assert gc.isenabled()
    assert_fails_cleanly(data_dir, prepared_dir, "dimension 2", embedding_dim=300)
    assert gc.isenabled()
