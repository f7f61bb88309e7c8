"""What measurements of a training's best model share: their flags, and its scores on dev."""

import argparse
from pathlib import Path

from disan_tf.training.evaluation import evaluate


def parse_options(document: str) -> argparse.Namespace:
    """--workdir, --prepared and --output, of the script with this docstring."""
    parser = argparse.ArgumentParser(description=document.splitlines()[0])
    parser.add_argument("--workdir", type=Path, required=True)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    return parser.parse_args()


def dev_scores(bundle, corpus) -> dict[str, float]:
    """Accuracy and loss, rounded."""
    scores = evaluate(bundle, corpus, "dev")
    return {name: round(scores[name], 4) for name in ("accuracy", "loss")}
