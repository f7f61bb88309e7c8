"""Writes the packages of a lock as a software bill of materials (SBOM): CycloneDX 1.6, JSON.

python .ci/sbom.py LOCK VERSION OUTPUT
"""

import json
import re
import sys
from pathlib import Path

_ENTRY = re.compile(r"([\w.-]+)==([\w.]+)([^\\\n]*)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)")


def sbom(lock: str, version: str) -> dict:
    """Returns the document for the text of a lock; `version` is that of disan_tf."""
    components = [
        {
            "type": "library",
            "bom-ref": f"{name}=={release}",
            "name": name,
            "version": release,
            "description": f"{name}=={release}{marker.rstrip()}",
            "purl": f"pkg:pypi/{name}@{release}",
            "externalReferences": [
                {
                    "type": "distribution",
                    "url": f"https://pypi.org/simple/{name}/",
                    "hashes": [
                        {"alg": "SHA-256", "content": digest}
                        for digest in re.findall("[0-9a-f]{64}", hashes)
                    ],
                }
            ],
        }
        for name, release, marker, hashes in _ENTRY.findall(lock)
    ]
    about = {"type": "library", "bom-ref": "disan_tf", "name": "disan_tf", "version": version}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": about},
        "components": components,
    }


def main(lock: str, version: str, output: str) -> None:
    document = sbom(Path(lock).read_text(encoding="utf-8"), version)
    Path(output).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
