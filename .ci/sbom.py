"""Writes the packages of a lock as a software bill of materials (SBOM): CycloneDX 1.6, JSON.

    python .ci/sbom.py LOCK VERSION OUTPUT

cyclonedx and packageurl come with pip-audit.
"""

import json
import re
import sys
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

_ENTRY = re.compile(r"([\w.-]+)==([\w.]+)([^\\\n]*)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)")
_CHANGING = ("serialNumber", "timestamp")  # differ from run to run


def sbom(lock: str, version: str) -> dict:
    """Returns the document for the text of a lock; `version` is that of disan_tf."""
    bom = Bom()
    bom.metadata.component = _component("disan_tf", version)
    for name, release, marker, hashes in _ENTRY.findall(lock):
        bom.components.add(
            _component(
                name,
                release,
                description=f"{name}=={release}{marker.rstrip()}",
                purl=PackageURL("pypi", name=name, version=release),
                hashes=[
                    HashType(alg=HashAlgorithm.SHA_256, content=digest)
                    for digest in re.findall("[0-9a-f]{64}", hashes)
                ],
            )
        )
    bom.register_dependency(bom.metadata.component, bom.components)
    document = json.loads(JsonV1Dot6(bom).output_as_string())
    for part in (document, document["metadata"]):
        for name in _CHANGING:
            part.pop(name, None)
    return document


def _component(name, version, **fields):
    kind, ref = ComponentType.LIBRARY, f"{name}=={version}"
    return Component(type=kind, bom_ref=ref, name=name, version=version, **fields)


def main(lock: str, version: str, output: str) -> None:
    document = sbom(Path(lock).read_text(encoding="utf-8"), version)
    Path(output).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
