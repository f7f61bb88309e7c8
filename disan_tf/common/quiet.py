"""Hides the log lines of TensorFlow's libraries while they load."""

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
    """Imports TensorFlow without the log lines that its libraries write to standard error.

    TF_CPP_MIN_LOG_LEVEL=3 hides these lines only once TensorFlow has loaded: a notice on oneDNN,
    and several on absent or twice registered CUDA libraries. Nothing is hidden if the variable is
    below 2, as `--debug` sets it, or if the import fails. Other lines are printed after the
    import.
    """

    def find_spec(self, name, path=None, target=None):
        """Returns a spec for the package `tensorflow` that hides log lines as it loads."""
        if name != "tensorflow" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)  # the other finders look for the package
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None and _wanted():
            execute = spec.loader.exec_module

            def execute_quietly(module):
                with _without_log_lines():
                    execute(module)

            spec.loader.exec_module = execute_quietly
        return spec


@contextlib.contextmanager
def no_standard_error() -> Iterator[None]:
    """Discards what libraries write to file number 2, such as a converter's summary.

    Nothing is discarded if TF_CPP_MIN_LOG_LEVEL is below 2, as `--debug` sets it.
    """
    if not _wanted():
        yield
        return
    sys.stderr.flush()
    terminal = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(terminal, 2)
        os.close(terminal)


def _wanted() -> bool:
    level = os.environ.get(LEVEL, "0")
    return not (level.isdecimal() and int(level) < 2)


@contextlib.contextmanager
def _without_log_lines() -> Iterator[None]:
    """Collects the lines written to file number 2, and prints all but log lines at the end."""
    sys.stderr.flush()
    terminal = os.dup(2)
    failed = True
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
                if failed or not _LOG_LINE.match(line):
                    os.write(terminal, line)
            os.close(terminal)
