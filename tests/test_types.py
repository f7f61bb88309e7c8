"""The types of the public names, as a type checker sees them in a user's program."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.processes import ROOT, run_program

pytest.importorskip("mypy", reason="needs mypy: pip install -r requirements-dev.txt")

RIGHT = """
import disan_tf
m = disan_tf.load("demo")
v = m.encode(["a"])
shape: tuple[int, ...] = v.shape
name: str = disan_tf.presets()[0].name
one = m.encode("a", normalize=True, show_progress_bar=True) + v
tokens: list[str] = m.attend("a")["tokens"]
title: str = m.attend(("a", "b")).plot("source2token")[0].get_title()
label = m.predict([("a", "b"), ("c", "d")])[0]["label"]
classifier = disan_tf.TextClassifier.from_preset("demo", classes=("bad", "good"))
added: int = classifier.adapt(["a"], "vectors.txt")
layer = disan_tf.layers.DirectionalSelfAttention(8, direction="forward", dropout=0.1, name="it")
encoder = disan_tf.encoders.DiSAN(300, ["forward", "backward"], activation="relu", l2=1e-5)
head = disan_tf.layers.DSAHead(2, hidden_units=3, momentum=0.5, seed=None, dtype="float64")
"""
WRONG = {
    "m.encode(3)": 'Argument 1 to "encode" of "LoadedModel" has incompatible type "int"',
    "m.encode(['a'], normalise=True)": 'Unexpected keyword argument "normalise"',
    "m.attend('a').tables": '"Attention" has no attribute "tables"',
    "disan_tf.lod": 'Module has no attribute "lod"',
    "disan_tf.presets()[0].nam": '"Preset" has no attribute "nam"',
    "disan_tf.encoders.DiSAN(300, droput=0.1)": 'Unexpected keyword argument "droput" for "DiSAN"',
    "disan_tf.encoders.DiSAN('300')": '"DiSAN" has incompatible type "str"',
    "disan_tf.encoders.DiSAN(directions=('forward', 'up'))": '"directions" to "DiSAN" has incompat',
    "disan_tf.encoders.BiGRUEncoder(pooling='last')": 'Unexpected keyword argument "pooling"',
    "disan_tf.encoders.ReSAN(sampling='iterativ')": '"sampling" to "ReSAN" has incompatible type',
    "disan_tf.layers.DirectionalSelfAttention(3, 'up')": "incompatible type \"Literal['up']",
    "disan_tf.layers.Source2Token(dropout='a')": '"dropout" to "Source2Token" has incompatible',
    "disan_tf.layers.MultiwayCoAttention(['B'])": '"MultiwayCoAttention" has incompatible type',
    "disan_tf.layers.WordEmbedding(5, 2)": 'Missing positional argument "dim"',
    "disan_tf.layers.DRCNHead(2, units=3)": 'Unexpected keyword argument "units" for "DRCNHead"',
    "disan_tf.TextClassifier.from_preset('demo', clases=['a', 'b'])": "Unexpected keyword argument",
    "disan_tf.TextClassifier.from_preset('demo', num_classes='2')": '"num_classes" to "from_pre',
    "disan_tf.TextClassifier(classifier.sentence_model, [], {}, [], multilabel=True)": "multilabel",
    "classifier.fine_tune(['a'], ['bad'], epochs='3')": 'Argument "epochs" to "fine_tune"',
    "disan_tf.ops.directional_attention(v, v, v, v, direction='up')": 'Argument "direction" to',
}


def check(program: str, folder: Path) -> list[str]:
    """Returns what mypy writes about a program."""
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--no-pretty"]
    command += [f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={folder / 'cache'}"]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    result = run_program(*command, "program.py", cwd=folder, env=environment)
    assert not result.stderr
    return result.stdout.splitlines()


@pytest.mark.slow
def test_a_right_program_has_no_errors_and_a_wrong_one_an_error_in_each_line(tmp_path):
    found = check(RIGHT + "\n".join(WRONG), tmp_path)
    first = RIGHT.count("\n") + 1
    for number, (line, message) in enumerate(WRONG.items(), start=first):
        assert [text for text in found if f"program.py:{number}: error:" in text], line
        assert any(message in text for text in found), message
    assert all(int(text.split(":")[1]) >= first for text in found), found
