"""The pipeline on this machine, in this process."""

import glob
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from disan_tf.text import text_files
from tests.support.models.bundles import SENTENCES

CHUNK = 300  # bytes, so that small files have several


@pytest.fixture
def beam(tmp_path, monkeypatch):
    """Functions that write an input, run the pipeline, and read what it wrote, in shards."""
    pytest.importorskip("apache_beam", reason="needs Apache Beam: requirements-beam.txt")
    from apache_beam.options.pipeline_options import PipelineOptions

    from disan_tf.serving.beam import pipeline, steps

    monkeypatch.setattr(text_files, "CHUNK_BYTES", CHUNK)
    for module in (pipeline, steps):
        monkeypatch.setattr(module, "load_reader", lambda checkpoint: bundles[checkpoint])
    bundles = {}  # by folder, so that none is loaded again and again
    output = tmp_path / "out"

    def write(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    def run(bundle, input, name="answers.jsonl", options=(), **others):
        bundles[str(bundle.directory)] = bundle
        flags = PipelineOptions(["--allow_unsafe_triggers", *options])
        return pipeline.run(str(bundle.directory), str(input), f"{output / name}", flags, **others)

    def shards(pattern="answers-*.jsonl") -> list[bytes]:
        return [Path(path).read_bytes() for path in sorted(glob.glob(f"{output / pattern}"))]

    def bad_lines() -> list[dict]:
        found = b"".join(shards("answers.bad-lines-*.jsonl")).split(b"\n")[:-1]
        return [json.loads(line) for line in found]

    return SimpleNamespace(output=output, write=write, run=run, shards=shards, bad_lines=bad_lines)


@pytest.fixture
def text() -> bytes:
    """Lines of several chunks."""
    return "".join(f"{sentence} {n}\n" for n in range(9) for sentence in SENTENCES).encode()
