"""Quiet TensorFlow on the CPU, two threads, and the folder of shared corpora where there is one."""

import gc
import importlib
import os
import random
import sys
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")  # no GPU, unless one is named
gc.set_threshold(10_000, 20, 20)  # TensorFlow's many objects are seldom garbage
ROOT = Path(__file__).resolve().parent.parent
LONG = ("training", "test_command_line.py", "serving")
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
importlib.import_module("disan_tf")  # chooses Keras 2, before a test imports TensorFlow


def pytest_collection_modifyitems(items):
    """Long files come first, so that no worker has one left when the others are done."""
    items.sort(key=lambda item: item.path.relative_to(ROOT / "tests").parts[0] not in LONG)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Layers without a seed draw the same seeds, and so drop the same entries, in every run."""
    random.seed(0)


@pytest.fixture
def real_data() -> Path:
    """The data directory with the real corpora; the test is skipped where it is absent."""
    folder = Path(os.environ.get("DISAN_TF_SHARED", ROOT.parent / "shared")) / "data"
    if not (folder / "sst/trees/train.txt").is_file():
        pytest.skip(f"needs the real treebank in {folder} (DISAN_TF_SHARED)")
    return folder
