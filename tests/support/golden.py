"""Where the golden files lie: numbers from the authors' code, and what they made of a few rows."""

import json
import os
from pathlib import Path

GOLDEN = Path(os.environ.get("DISAN_TF_GOLDEN", Path(__file__).parents[1] / "golden" / "official"))


def golden_json(name: str):
    """The content of `<name>.json` of the golden files."""
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
