"""disan_tf/common/forks.py: a fork of a process that computes is refused, and does not hang."""

from disan_tf.ops.native import runtime
from tests.support.runs.command import run_forked

# Calls every entry point in a fork, which SIGALRM ends if it waits.
FORKS = """
import os, signal
import tensorflow as tf
import disan_tf
from disan_tf.ops import directional_attention

def forked(calls):
    if os.fork() == 0:
        signal.alarm(100)
        for name, call in calls.items():
            try:
                call()
                print(name, "works", flush=True)
            except disan_tf.common.errors.UserError as error:
                print(name, str(error).replace("\\n", " "), flush=True)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.wait()[1])

texts = ["a fine film .", "a dull film ."]
assert forked({"before": lambda: disan_tf.load("demo").predict(texts)}) == 0
model = disan_tf.load("demo")
classifier = disan_tf.TextClassifier.from_preset("demo")
model.predict(texts)
x = tf.ones([2, 3, 4])
attend = lambda: directional_attention(x, x, x, tf.ones([2, 3], tf.bool), direction="forward")
attend()
assert forked({
    "load": lambda: disan_tf.load("demo"),
    "predict": lambda: model.predict(texts),
    "predict_proba": lambda: model.predict_proba(texts),
    "encode": lambda: model.encode(texts),
    "similarity": lambda: model.similarity(texts, texts),
    "attend": lambda: model.attend(texts[0]),
    "preprocess": lambda: model.preprocess(texts),
    "from_preset": lambda: disan_tf.TextClassifier.from_preset("demo"),
    "classifier.fit": lambda: classifier.fit(texts, [0, 1]),
    "classifier.evaluate": lambda: classifier.evaluate(texts, [0, 1]),
    "classifier.predict": lambda: classifier.predict(texts),
    "classifier.predict_labels": lambda: classifier.predict_labels(texts),
    "classifier.preprocess": lambda: classifier.preprocess(texts),
    "classifier.adapt": lambda: classifier.adapt(texts, "none.txt"),
    "attention": attend,
}) == 0
"""


def test_a_fork_works_before_a_model_is_loaded_and_is_refused_afterwards(tmp_path):
    (tmp_path / "forks.py").write_text(FORKS)
    done = run_forked(program=str(tmp_path / "forks.py"))
    assert done.returncode == 0, done.stderr
    first, *others = done.stdout.splitlines()
    assert first == "before works" and len(others) == 15
    if runtime.unavailable():  # TensorFlow computes its own operations in a fork too
        assert others.pop() == "attention works"
    for line in others:
        assert " was forked from process " in line and '"spawn" or "forkserver"' in line, line
