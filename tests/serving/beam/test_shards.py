"""Names: which files are read, and which are written."""

import pytest

from disan_tf.common.errors import UserError

pytest.importorskip("apache_beam", reason="needs Apache Beam: requirements-beam.txt")
from disan_tf.serving.beam.shards import Target, find_format, find_sources  # noqa: E402


def test_a_file_gives_a_shard_for_so_many_bytes(tmp_path):
    sizes = {"c.txt": 100, "a.txt": 101, "b.txt": 0, "d.txt.gz": 900}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"x" * size)
    (tmp_path / "folder").mkdir()
    found = find_sources(f"{tmp_path}/*", 100)
    assert [(source.path[-5:], source.first, source.shards) for source in found] == [
        ("a.txt", 0, 2),
        ("b.txt", 2, 1),
        ("c.txt", 3, 1),
        ("xt.gz", 4, 1),
    ]


@pytest.mark.parametrize(
    "name, input_format",
    [
        ("a.txt", "text"),
        ("a", "text"),
        ("a.jsonl", "jsonl"),
        ("a.jsonl.gz", "jsonl"),
        ("a.JSON", "jsonl"),
        ("a.tfrecord", "tfrecord"),
        ("a.tfrecord-00000-of-00009", "tfrecord"),
    ],
)
def test_the_format_is_that_of_the_names(tmp_path, name, input_format):
    (tmp_path / name).touch()
    sources = find_sources(f"{tmp_path}/a*", 100)
    assert find_format(sources, None) == input_format
    assert find_format(sources, "jsonl") == "jsonl"


def test_a_table_is_refused(tmp_path):
    (tmp_path / "a.CSV").touch()
    with pytest.raises(UserError, match=r"a\.CSV is a table, and this command reads text, "):
        find_format(find_sources(f"{tmp_path}/*", 100), None)


def test_files_of_different_formats_are_refused(tmp_path):
    for name in ("a.txt", "b.jsonl"):
        (tmp_path / name).touch()
    with pytest.raises(UserError, match=r"a\.txt and .*b\.jsonl are of different formats"):
        find_format(find_sources(f"{tmp_path}/*", 100), None)


@pytest.mark.parametrize(
    "pattern, message",
    [
        ("absent-*.txt", r"--input=absent-\*\.txt matches no file"),
        ("nothing://a/b.txt", "--input=nothing://a/b.txt: .*filesystem"),
    ],
)
def test_an_input_that_is_not_there_is_refused(pattern, message):
    with pytest.raises(UserError, match=message):
        find_sources(pattern, 100)


@pytest.mark.parametrize(
    "output, message",
    [
        ("answers.txt", r"--output=answers\.txt must end with \.jsonl or \.npy"),
        ("answers*.npy", r"must have none of \*\?\[\] in its path"),
        ("nothing://a/b.npy", "--output=nothing://a/b.*filesystem"),
    ],
)
def test_an_output_that_cannot_be_is_refused(output, message):
    with pytest.raises(UserError, match=message):
        Target(output, 1, [".jsonl", ".npy"])


def test_shards_are_numbered(tmp_path):
    target = Target(f"{tmp_path}/a.b/out.jsonl", 12, [".jsonl"])
    assert target.shards.format(7) == f"{tmp_path}/a.b/out-00007-of-00012.jsonl"
    assert target.bad_lines.format(7) == f"{tmp_path}/a.b/out.bad-lines-00007-of-00012.jsonl"
    assert target.folder.startswith(f"{tmp_path}/a.b/.out.jsonl.tmp-")


@pytest.mark.parametrize("old", ["out-1-of-2.jsonl", "out.bad-lines-00000-of-00001.jsonl"])
def test_shards_of_the_same_name_are_refused(tmp_path, old):
    (tmp_path / old).touch()
    with pytest.raises(UserError, match=f"{old} exists already; name another output or delete it"):
        Target(f"{tmp_path}/out.jsonl", 1, [".jsonl"])
