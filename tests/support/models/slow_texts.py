"""A stand-in for a served model, whose tokens are words and whose time is known."""

import os
import threading
import time


class SlowTexts:
    """Computes the number of tokens of each text; `seconds` pass for each token.

    Attributes:
      chunks: the kind and the token counts of each computed chunk.
      begins: is set when a chunk is begun.
    """

    kinds = ("predict", "encode")
    fields = ("text",)
    classes = ["few", "many"]

    def __init__(self, seconds: float = 0.0):
        self.seconds, self.chunks, self.begins = seconds, [], threading.Event()

    def fields_of(self, kind):
        return self.fields

    def tokens(self, kind, records):
        return [(record["text"].split() or [""],) for record in records]

    def compute(self, kind, sentences):
        counts = [len(tokens) for (tokens,) in sentences]
        self.chunks.append((kind, counts))
        self.begins.set()
        time.sleep(self.seconds * sum(counts))
        if any("fail" in tokens for (tokens,) in sentences):
            raise ArithmeticError("of this test")
        if kind == "encode":
            return [f"[{count}]" for count in counts]
        return [{"label": "many", "probabilities": {"few": 0.1, "many": 0.9}} for _ in counts]

    def compile(self):
        pass


def serve_slowly(folder, seconds, delay, stopping, idle):
    """Serves `SlowTexts` in this process, with its output in a folder; for forks.

    Args:
      folder: gets `stdout` and `stderr`.
      seconds: see `SlowTexts`.
      delay, stopping: seconds of the delay, and for running requests after it.
      idle: seconds that a connection may wait for its client.
    """
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
    from disan_tf.common.process import handle_signals
    from disan_tf.serving.server import process
    from disan_tf.serving.server.service import Limits

    handle_signals("run.py", lambda: "the same command starts over")
    process.TextModel = lambda _: SlowTexts(seconds)
    process._STOPPING, process._IDLE = stopping, idle
    process.serve(None, "slow", "127.0.0.1", 0, Limits(), delay, "info")
