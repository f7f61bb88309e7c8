"""The workflows of .github: they call make and the scripts of .ci, and may do little else."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
ACTION = re.compile(r"actions/[a-z-]+@v\d+")
MAKE = re.compile(r"make ([\w-]+)")
SCRIPT = re.compile(r"sh (\.ci/\w+)(?: \w+)*")
TARGETS = re.findall(r"^([a-z][\w-]*):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE)
RELEASE = 'gh release create "$GITHUB_REF_NAME" '


def _read(name):
    return yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))


def _steps(name):
    return [step for job in _read(name)["jobs"].values() for step in job["steps"]]


def _commands(name):
    return [line for step in _steps(name) for line in step.get("run", "").splitlines()]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_command_is_a_make_target_or_a_script_that_ci_has(name):
    for command in _commands(name):
        target, script = MAKE.fullmatch(command), SCRIPT.fullmatch(command)
        if target:
            assert target[1] in TARGETS
        elif script:
            assert (ROOT / script[1]).is_file()
            assert f"sh {script[1]} " in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        else:
            assert name == "release" and command.startswith(RELEASE)


def test_the_suite_lint_smoke_test_pages_and_wheel_are_among_them():
    assert {"make lint", "make test", "make docs", "sh .ci/smoke python3"} == {*_commands("ci")}
    assert "make wheel" in _commands("release")


@pytest.mark.parametrize("name", WORKFLOWS)
def test_an_action_is_named_by_its_major_version(name):
    actions = [step["uses"] for step in _steps(name) if "uses" in step]
    assert actions and all(map(ACTION.fullmatch, actions))


@pytest.mark.parametrize("name", WORKFLOWS)
def test_only_the_job_that_publishes_may_write(name):
    workflow = _read(name)
    assert workflow["permissions"] == {"contents": "read"}
    writing = {
        key: job["permissions"] for key, job in workflow["jobs"].items() if "permissions" in job
    }
    assert writing == ({"release": {"contents": "write"}} if name == "release" else {})
