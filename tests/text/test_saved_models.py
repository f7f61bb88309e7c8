"""A look-up in a SavedModel, loaded where our code is absent, in a Turkish locale."""

import json
import os
import subprocess
import sys

import pytest
import tensorflow as tf

from disan_tf.text import TextToPairFeatures, WordForms

WORDS = ["the", "film", "is", "n't", ".", "été", "films"]
LINES = (["The film isn't new.", "", "😀 ÉTÉ", "FILM"], ["Films", "", "the été", "IS"])
LOAD = """
import json, sys
sys.modules["disan_tf"] = None  # importing it fails from here on
import tensorflow as tf
import tensorflow_text
models = [tf.saved_model.load(sys.argv[1]) for _ in range(2)]  # their tables keep apart
for lines in json.loads(sys.argv[2]), [[], []]:
    arrays = models[1].inputs(*(tf.constant(field, tf.string) for field in lines))
    print(json.dumps([array.numpy().tolist() for array in arrays]))
"""


@pytest.mark.slow
def test_a_saved_look_up_works_where_our_code_is_absent(tmp_path):
    module, text = tf.Module(), tf.TensorSpec([None], tf.string)
    forms = WordForms([("films", "film", "film")])
    module.look_up = TextToPairFeatures(
        WORDS, "treebank", lowercase=True, forms=forms, word_length=3
    )
    module.inputs = tf.function(
        lambda *lines: module.look_up.inputs(*map(module.look_up.tokens, lines)),
        [text, text],
        autograph=False,
    )
    tf.saved_model.save(module, str(tmp_path / "model"))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path / "model"), json.dumps(LINES)],
        cwd=tmp_path,
        env={**environment, "LC_ALL": "tr_TR.UTF-8"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert loaded.returncode == 0, loaded.stderr
    arrays, nothing = map(json.loads, loaded.stdout.splitlines())
    assert arrays[0] == [[2, 3, 4, 5, 1, 6], [1] + [0] * 5, [1, 7] + [0] * 4, [3] + [0] * 5]
    assert arrays[1] == [[8, 0], [1, 0], [2, 7], [4, 0]]
    assert arrays[3][0] == [[39, 74, 77], [0, 0, 0]]  # Fil
    assert arrays[4] == [[0, 1, 0, 0, 0, 0], [0] * 6, [0, 1] + [0] * 4, [0] * 6]
    assert nothing == [[]] * 6
