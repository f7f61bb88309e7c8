"""data_prep/prepare.py: failures leave nothing behind, or what was prepared before."""

import contextlib
import gc
import shutil

import pytest

from data_prep import prepare as prepare_module
from data_prep.prepare import prepare
from disan_tf.common.errors import UserError
from disan_tf.input_pipeline.corpus_format import MANIFEST, read_manifest
from tests.support.corpora.tiny_trees import options


def assert_fails_cleanly(data_dir, prepared_dir, message, **changed):
    before = sorted(prepared_dir.rglob("*")) if prepared_dir.exists() else []
    with pytest.raises(UserError, match=message):
        prepare(options(**changed), data_dir, prepared_dir)
    assert sorted(prepared_dir.rglob("*") if prepared_dir.exists() else []) == before
    assert gc.isenabled()


@pytest.mark.parametrize(
    "path, text, message, changed",
    [
        ("sst/trees/dev.txt", "(0 (1 Cold) (2 te", "dev.txt, line 1: the tree is cut off", {}),
        ("sst/trees/dev.txt", "(2 Tea)\n", "split dev of sst has no examples left", {"classes": 2}),
        ("glove/tiny.txt", "soup 1 x\n", "tiny.txt, line 1", {}),
        (
            "glove/tiny.txt",
            "soup 1 2\n",
            "dimension 2 .* asks for 1; .*--config.data.vector_dim",
            {"vector_dim": 1},
        ),
    ],
)
def test_a_failure_keeps_what_was_prepared_before(
    data_dir, prepared_dir, path, text, message, changed
):
    prepare(options(), data_dir, prepared_dir)
    assert gc.isenabled()
    (data_dir / path).write_text(text)
    assert_fails_cleanly(data_dir, prepared_dir, message, **changed)


@pytest.mark.parametrize("is_same", [True, False])
def test_a_corpus_prepared_meanwhile_is_used_and_another_folder_refused(
    data_dir, prepared_dir, is_same, monkeypatch
):
    def sync_and_rename(new, target):
        shutil.copytree(new, target)
        if not is_same:
            (target / MANIFEST).write_text("{}")
        original(new, target)

    original = prepare_module.sync_and_rename
    monkeypatch.setattr(prepare_module, "sync_and_rename", sync_and_rename)
    with contextlib.nullcontext() if is_same else pytest.raises(OSError, match="not empty"):
        read_manifest(prepare(options(), data_dir, prepared_dir))
    assert len([*prepared_dir.iterdir()]) == 1


@pytest.mark.parametrize("same_size", [False, True])
def test_a_corpus_that_changes_while_it_is_prepared_is_refused(
    data_dir, prepared_dir, same_size, monkeypatch
):
    path = data_dir / "sst/trees/train.txt"
    content = path.read_text()

    def write_vocabulary(*arguments):
        new = content.replace("(3 ", "(2 ", 1) if same_size else content + content
        path.with_suffix(".new").write_text(new)
        path.with_suffix(".new").replace(path)
        return original(*arguments)

    original = prepare_module.write_vocabulary
    monkeypatch.setattr(prepare_module, "write_vocabulary", write_vocabulary)
    assert_fails_cleanly(data_dir, prepared_dir, "train.txt changed while it was prepared; run")


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"vectors": "glove/other.txt"}, "glove/other.txt does not exist .*glove/tiny.txt"),
        ({"embedding_dim": 300}, "dimension 2 .* asks for 300"),
        ({"bilm": "elmo/small"}, "elmo/small_options.json is missing"),
    ],
)
def test_other_files_are_found_before_the_corpus_is_read(data_dir, prepared_dir, changed, message):
    (data_dir / "sst/trees/train.txt").write_text("no tree\n")
    assert_fails_cleanly(data_dir, prepared_dir, message, **changed)
