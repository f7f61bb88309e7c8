"""Steps alone: what a runner may do with them, which one process does not show."""

import pytest

from disan_tf.common.errors import UserError

pytest.importorskip("apache_beam", reason="needs Apache Beam: requirements-beam.txt")
from disan_tf.serving.beam.kinds import write_lines  # noqa: E402
from disan_tf.serving.beam.shards import Source, Target  # noqa: E402
from disan_tf.serving.beam.steps import NameFiles, ReadChunks, WriteShards  # noqa: E402


class Files:
    """Chunks of lines that are in memory."""

    def __init__(self, *chunks):
        self._chunks = chunks

    def chunks(self, path):
        return iter(self._chunks)


@pytest.fixture
def target(tmp_path):
    target = Target(f"{tmp_path}/out.jsonl", 2, [".jsonl"])
    (tmp_path / target.folder).mkdir()
    return target


def write(target) -> list[tuple[str, str]]:
    """The temporary files of two shards, whose rows come in any order."""
    step = WriteShards(target.folder, target.shards, write_lines)
    rows = [(12, b"c\n"), (0, b""), (9, b"a\n"), (10, b"b\n")]
    return [*step.process((1, rows)), *step.process((0, [(0, b"")]))]


def test_a_chunk_belongs_to_the_shard_in_which_it_begins():
    files = Files([b"four"] * 2, [], [b"four"], [None, b"four"], [b"four"] * 9, [b"end"])
    chunks = list(ReadChunks(files, 20).process(Source("a", 7, 2)))
    assert [(shard, first, len(lines)) for _, shard, first, lines in chunks] == [
        (7, 1, 2),
        (7, 3, 1),
        (7, 4, 2),
        (8, 6, 9),
        (8, 15, 1),
    ]


def test_rows_are_written_in_the_order_of_their_lines(target, tmp_path):
    NameFiles(target).process((None, write(target)))
    assert (tmp_path / "out-00001-of-00002.jsonl").read_bytes() == b"a\nb\nc\n"
    assert (tmp_path / "out-00000-of-00002.jsonl").read_bytes() == b""


def test_nothing_has_its_name_before_all_is_written(target, tmp_path):
    write(target)
    assert list(tmp_path.glob("out*")) == []


def test_an_attempt_that_failed_is_not_named(target, tmp_path):
    write(target)
    files = write(target)
    NameFiles(target).process((None, files))
    assert len(list(tmp_path.glob("out*"))) == 2


def test_naming_goes_on_where_an_attempt_ended(target, tmp_path):
    files = write(target)
    (tmp_path / files[0][0]).rename(files[0][1])
    for _ in range(2):
        NameFiles(target).process((None, files))
        assert len(list(tmp_path.glob("out*"))) == 2


def test_shards_of_another_run_are_not_replaced(target, tmp_path):
    files = write(target)
    (tmp_path / "out-00000-of-00001.jsonl").write_text("of another run")
    with pytest.raises(UserError, match="exists already"):
        NameFiles(target).process((None, files))
    assert len(list(tmp_path.glob("out*"))) == 1
