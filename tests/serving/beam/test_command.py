"""`python -m disan_tf.serving.beam`: its flags, and those of Beam."""

import importlib.util
import json

import pytest

from disan_tf.common.errors import UserError
from disan_tf.serving.beam.__main__ import main

OURS = ["--checkpoint=demo", "--input=in.txt", "--output=out.jsonl"]


@pytest.fixture
def needs_beam():
    pytest.importorskip("apache_beam", reason="needs Apache Beam: requirements-beam.txt")


def test_without_beam_one_sentence_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="Beam is not installed; pip install -r requirements-beam"):
        main(OURS)


def test_lines_get_predictions(needs_beam, bundle, tmp_path, capsys):
    (tmp_path / "in.txt").write_bytes(b"a film\n\xff\n")
    paths = {"checkpoint": bundle.directory, "input": "*.txt", "output": "out.jsonl"}
    flags = [f"--{name}={tmp_path / path}" for name, path in paths.items()]
    main([*flags, "--runner=DirectRunner", "--direct_num_workers", "1"])
    answer = json.loads((tmp_path / "out-00000-of-00001.jsonl").read_text())
    assert answer["text"] == "a film"
    message = f"Wrote results for 1 of 2 lines to {tmp_path}/out-*-of-*.jsonl; 1 cannot be read"
    assert message in capsys.readouterr().out


@pytest.mark.parametrize(
    "flags, message",
    [
        (
            ["--allow_modul=a"],
            "--allow_modul is not a flag of .*; did you mean allow_module?",
        ),
        (["--direct_num_worker=2"], "did you mean direct_num_workers?"),
        (["b.txt"], r"b\.txt is not a flag; put a pattern of --input in quotes"),
        (["--direct_num_workers=2", "b.txt"], r"b\.txt is not a flag"),
    ],
)
def test_what_neither_we_nor_beam_know_is_refused(needs_beam, flags, message):
    with pytest.raises(UserError, match=message):
        main([*OURS, *flags])


def test_a_negative_number_of_threads_is_refused():
    with pytest.raises(UserError, match="--threads=-1 must be at least 0"):
        main([*OURS, "--threads=-1"])
