"""Quiet TensorFlow, two threads, and the folder of shared corpora where there is one."""

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "tests"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


@pytest.fixture
def shared() -> Path:
    """The folder with real corpora; the test is skipped where it is absent."""
    folder = Path(os.environ.get("DISAN_TF_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("DISAN_TF_SHARED names no folder with the real corpora")
    return folder
