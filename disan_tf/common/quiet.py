"""Hides log lines that TensorFlow's libraries write to standard error."""

import contextlib
import importlib.abc
import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Iterator

LEVEL = "TF_CPP_MIN_LOG_LEVEL"
# "I0000 00:00:1795 4387 port.cc:153] ..." and "2026-01-31 12:00:00.5: I tensorflow/core/...".
_LOG_LINE = re.compile(
    rb"WARNING: All log messages before absl::|[IWE]\d{4} [\d:. ]+ \S+:\d+\]"
    rb"|\d{4}-\d\d-\d\d [\d:.]+: [IWE] "
)


class QuietImport(importlib.abc.MetaPathFinder):
    """Imports TensorFlow without the log lines that its libraries write as they load.

    TF_CPP_MIN_LOG_LEVEL=3 hides these lines only once TensorFlow has loaded.
    """

    def find_spec(self, name, path=None, target=None):
        """Returns a spec for the package `tensorflow` that hides log lines as it loads."""
        if name != "tensorflow" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)  # the other finders look for the package
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = hidden_lines(_LOG_LINE)(spec.loader.exec_module)
        return spec


def no_standard_error() -> contextlib.AbstractContextManager:
    """Discards what libraries write to file number 2, such as a converter's summary."""
    return hidden_lines(re.compile(b""))


@contextlib.contextmanager
def hidden_lines(pattern: re.Pattern) -> Iterator[None]:
    """Collects the lines written to file number 2; prints those at the end that do not match.

    All are printed if the block fails. Nothing is collected if TF_CPP_MIN_LOG_LEVEL is below 2, as
    `--debug` sets it.
    """
    level = os.environ.get(LEVEL, "0")
    if level.isdecimal() and int(level) < 2:
        yield
        return
    sys.stderr.flush()
    terminal, failed = os.dup(2), True
    with tempfile.TemporaryFile() as collected:
        os.dup2(collected.fileno(), 2)
        try:
            yield
            failed = False
        finally:
            sys.stderr.flush()
            os.dup2(terminal, 2)
            collected.seek(0)
            for line in collected:
                if failed or not pattern.match(line):
                    os.write(terminal, line)
            os.close(terminal)
