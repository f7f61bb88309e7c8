"""Runs programs and returns what they print."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_program(*command, cwd=ROOT, env=None, **options) -> subprocess.CompletedProcess:
    """Runs a command; its output is text. `options` are those of `subprocess.run`."""
    return subprocess.run(
        [*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, **options
    )
