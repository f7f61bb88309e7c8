"""The locks with digests, .ci/audit, which compares them with advisories, and .ci/sbom.py."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from tests.support.processes import ROOT, run_program

LOCKS = {"requirements.txt": "requirements.lock", "requirements-2.21.txt": "requirements-2.21.lock"}
PIN = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)
ENTRY = re.compile(r"[a-z0-9-]+==[\w.]+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+")


def _pins(text):
    return {(name.lower().replace("_", "-"), version) for name, version in PIN.findall(text)}


@pytest.mark.parametrize("requirements, lock", LOCKS.items())
def test_a_lock_has_the_versions_of_its_requirements(requirements, lock):
    pinned = _pins((ROOT / requirements).read_text(encoding="utf-8"))
    assert pinned and pinned <= _pins((ROOT / lock).read_text(encoding="utf-8")), "run make locks"


@pytest.mark.parametrize("lock", LOCKS.values())
def test_a_lock_has_packages_with_digests_and_nothing_else(lock):
    text = (ROOT / lock).read_text(encoding="utf-8")
    entries = re.split(r"\n(?! )", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())
    assert not [entry for entry in entries if not ENTRY.fullmatch(entry)]  # so no index or address


@pytest.mark.parametrize("lock", LOCKS.values())
def test_the_sbom_of_a_wheel_lists_every_locked_package_with_its_digests(lock, tmp_path):
    script = [sys.executable, ROOT / ".ci/sbom.py", ROOT / lock, "1.2.3", tmp_path / "sbom.json"]
    subprocess.run(script, check=True)
    document = json.loads((tmp_path / "sbom.json").read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["component"]["version"] == "1.2.3"
    parts = document["components"]
    locked = (ROOT / lock).read_text(encoding="utf-8")
    assert {(part["name"], part["version"]) for part in parts} == _pins(locked)
    assert len({part["bom-ref"] for part in parts}) == len(parts) > 50
    assert all(part["purl"] == f"pkg:pypi/{part['name']}@{part['version']}" for part in parts)
    digests = [it["content"] for part in parts for it in part["hashes"]]
    assert sorted(digests) == sorted(re.findall("sha256:([0-9a-f]{64})", locked))
    assert ".ci/sbom.py" in (ROOT / ".ci/wheel").read_text(encoding="utf-8")


FOUND = "Found 1 known vulnerability in 1 package\nName  Version ID\npillow 1.0 CVE-1"
OFFLINE = "Traceback ...\nrequests.exceptions.ConnectionError: Failed to resolve 'api.osv.dev'"


@pytest.mark.parametrize(
    "older, newer, status, printed",
    [
        ("", "", 0, "requirements-2.21.lock: no advisories."),
        (FOUND, "", 0, "pillow 1.0 CVE-1"),
        ("", FOUND, 1, "requirements-2.21.lock has the advisories above."),
        (OFFLINE, OFFLINE, 0, "The locks were not compared with advisories: OSV"),
        ("", "No module named pip_audit", 1, "No module named pip_audit"),
    ],
)
def test_an_advisory_for_the_newer_lock_alone_is_a_failure(older, newer, status, printed, tmp_path):
    (tmp_path / "requirements.lock").write_text(older)
    (tmp_path / "requirements-2.21.lock").write_text(newer)
    program = tmp_path / "python"  # prints the lock that it is given; one with text fails
    program.write_text(
        "#!/bin/sh\nfor name; do case $name in *.lock) cat $name; test ! -s $name;; esac; done\n"
    )
    program.chmod(0o755)
    command = [shutil.which("sh"), ROOT / ".ci" / "audit", program]
    outcome = run_program(*command, cwd=tmp_path)
    assert outcome.returncode == status
    assert printed in outcome.stdout + outcome.stderr and (older != OFFLINE or outcome.stderr == "")
    assert older != OFFLINE or outcome.stdout.count("\n") == 1
