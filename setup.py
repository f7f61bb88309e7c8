"""What a wheel holds beside the metadata of pyproject.toml: configs and released models too.

In the repository these stand at the top level; in a wheel they are below `disan_tf/bundled`.
"""

from pathlib import Path

from setuptools import find_packages, setup

MANIFEST = Path(__file__).parent / "checkpoints" / "manifest.tsv"
MODELS = [line.split("\t")[0] for line in MANIFEST.read_text(encoding="utf-8").splitlines()[1:]]
CHECKPOINTS = "disan_tf.bundled.checkpoints"
CONFIGS = "disan_tf.bundled.configs"

setup(
    packages=[
        *find_packages(include=["disan_tf*", "data_prep*"]),
        *(CONFIGS, f"{CONFIGS}.papers", CHECKPOINTS),
        *(f"{CHECKPOINTS}.{name}" for name in MODELS),
    ],
    package_dir={CONFIGS: "configs", CHECKPOINTS: "checkpoints"},
    package_data={
        "": ["*.cc", "*.h", "*.json", "*.jsonl", "*.html", "*.css", "*.js", "*.txt", "py.typed"],
        "data_prep": ["subsets/*.digests"],
        CHECKPOINTS: ["manifest.tsv"],
        **{f"{CHECKPOINTS}.{name}": ["*"] for name in MODELS},
    },
)
