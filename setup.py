"""What a wheel holds beside the metadata of pyproject.toml: configs and released models too.

In the repository these stand at the top level; in a wheel they are below `disan_tf/bundled`.

`make wheel` names a folder of compiled native operations in DISAN_TF_LIBRARIES. The wheel then
holds them too, and its tag names this platform. It is for every Python, since the libraries link to
TensorFlow and not to Python.
"""

import os
from pathlib import Path

from setuptools import Distribution, find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel

MANIFEST = Path(__file__).parent / "checkpoints" / "manifest.tsv"
MODELS = [line.split("\t")[0] for line in MANIFEST.read_text(encoding="utf-8").splitlines()[1:]]
CHECKPOINTS = "disan_tf.bundled.checkpoints"
CONFIGS = "disan_tf.bundled.configs"
LIBRARIES = os.environ.get("DISAN_TF_LIBRARIES", "")  # relative to this file
NATIVE = {"disan_tf.ops.native.libraries": LIBRARIES} if LIBRARIES else {}


class PlatformWheel(bdist_wheel):
    """A wheel for one platform and every Python."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    """A package with compiled files."""

    def has_ext_modules(self):
        return True


setup(
    packages=[
        *find_packages(include=["disan_tf*", "data_prep*"]),
        *(CONFIGS, f"{CONFIGS}.papers", CHECKPOINTS),
        *(f"{CHECKPOINTS}.papers", f"{CHECKPOINTS}.results"),
        *(f"{CHECKPOINTS}.{name}" for name in MODELS),
        *NATIVE,
    ],
    package_dir={CONFIGS: "configs", CHECKPOINTS: "checkpoints", **NATIVE},
    package_data={
        "": ["*.cc", "*.h", "*.json", "*.jsonl", "*.html", "*.css", "*.js", "*.txt", "py.typed"],
        "data_prep": ["subsets/*.digests", "subsets/*.words"],
        CHECKPOINTS: ["manifest.tsv"],
        f"{CHECKPOINTS}.papers": ["*.yaml"],
        f"{CHECKPOINTS}.results": ["*.json"],
        **{f"{CHECKPOINTS}.{name}": ["*"] for name in MODELS},
        **{name: ["*.so"] for name in NATIVE},
    },
    distclass=PlatformDistribution if NATIVE else Distribution,
    cmdclass={"bdist_wheel": PlatformWheel} if NATIVE else {},
    # Files that a build leaves behind would go into later wheels, which are for all platforms.
    options={"build": {"build_base": "build/wheel"}} if NATIVE else {},
)
