"""The pipeline on this machine, in this process."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from disan_tf.serving.inference.model import LoadedModel
from tests.support.models.bundles import SENTENCES


@pytest.fixture
def beam(tmp_path, monkeypatch):
    """Functions that write an input, run the pipeline, and read what it wrote."""
    pytest.importorskip("apache_beam", reason="needs Apache Beam: requirements-beam.txt")
    from apache_beam.options.pipeline_options import PipelineOptions

    from disan_tf.serving.beam import pipeline

    bundles = {}  # by folder, so that none is loaded again and again
    monkeypatch.setattr(pipeline, "load_reader", lambda checkpoint: bundles[checkpoint])
    monkeypatch.setattr(pipeline, "load", lambda checkpoint: LoadedModel(bundles[checkpoint]))
    output = tmp_path / "out"

    def write(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    def run(bundle, input, name="answers.jsonl", options=(), **others):
        bundles[str(bundle.directory)] = bundle
        flags = PipelineOptions(["--allow_unsafe_triggers", *options])
        return pipeline.run(str(bundle.directory), str(input), f"{output / name}", flags, **others)

    def rows(pattern="answers-*-of-*.jsonl") -> list[dict]:
        content = b"".join(path.read_bytes() for path in output.glob(pattern))
        return list(map(json.loads, content.split(b"\n")[:-1]))

    def bad_lines() -> list[dict]:
        return rows("answers.bad-lines-*-of-*.jsonl")

    return SimpleNamespace(output=output, write=write, run=run, rows=rows, bad_lines=bad_lines)


@pytest.fixture
def text() -> bytes:
    """Lines that differ."""
    return "".join(f"{sentence} {n}\n" for n in range(9) for sentence in SENTENCES).encode()
