""".ci/install, which make calls: which interpreter and lock it takes, and what it installs."""

import os
import shutil
import sys

import pytest

from tests.support.processes import ROOT, run_program

SCRIPT = ROOT / ".ci" / "install"
DEVELOPMENT = "-r", "requirements-dev.txt"
SHELL = shutil.which("sh")


# Runs the script's own question to an interpreter as if on another platform, and nothing else.
INTERPRETER = f"""#!{SHELL}
[ "$1" = -c ] || exit 7
exec {sys.executable} -S -c "import platform, sys
sys.version_info = ({{version}})
platform.system, platform.machine = lambda: '{{system}}', lambda: '{{processor}}'
$2"
"""


@pytest.fixture
def machine(tmp_path):
    """Returns a function that runs the script where there are these interpreters and no others.

    They tell their version and platform, by default Linux on x86-64, and make no environment, so
    that the script ends with its choice.
    """
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "find").symlink_to(shutil.which("find"))

    def run(interpreters, folder="env", **variables):
        for name, described in interpreters.items():
            version, system, processor = f"{described} Linux x86_64".split()[:3]
            text = INTERPRETER.format(
                version=version.replace(".", ", "), system=system, processor=processor
            )
            _write_program(tmp_path / "bin" / name, text)
        environment = {"PATH": str(tmp_path / "bin"), "GOAL": "demo", **variables}
        return run_program(SHELL, SCRIPT, tmp_path / folder, *DEVELOPMENT, env=environment)

    return run


def _write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


ARM, APPLE, INTEL = "Linux aarch64", "Darwin arm64", "Darwin x86_64"
NO_OLDER = "TensorFlow 2.21 (2.15, which recorded the results, has no packages for "
NEWER = "TensorFlow 2.21 (results were recorded with 2.15: make demo PYTHON=python3.11), in "
OLDER = "TensorFlow 2.15, in "
BOTH = {"TENSORFLOW": "2.15"}, {"TENSORFLOW": "2.21"}


@pytest.mark.parametrize(
    "interpreters, variables, choice",
    [
        ({"python3": "3.11"}, {}, f"Python 3.11: {OLDER}"),
        ({"python3": "3.13"}, {}, f"Python 3.13: {NEWER}"),
        ({"python3": "3.14", "python3.10": "3.10"}, {}, f"Python 3.10: {OLDER}"),
        ({"python3": "3.13", "python3.9": "3.9"}, BOTH[0], f"Python 3.9: {OLDER}"),
        ({"python3": "3.13", "own": "3.10"}, {"PYTHON": "own"}, f"Python 3.10: {OLDER}"),
        ({"python3": f"3.11 {ARM}"}, {}, f"Python 3.11: {NO_OLDER}{ARM}), in "),
        ({"python3": f"3.9 {ARM}", "python3.13": f"3.13 {ARM}"}, {}, f"Python 3.13: {NO_OLDER}"),
        ({"python3": f"3.13 {INTEL}", "python3.9": f"3.9 {INTEL}"}, {}, f"Python 3.9: {OLDER}"),
    ],
)
def test_the_first_interpreter_with_a_lock_is_taken(interpreters, variables, choice, machine):
    outcome = machine(interpreters, **variables)
    assert outcome.stdout.startswith(choice), outcome.stderr
    assert outcome.returncode == 7


@pytest.mark.parametrize(
    "interpreters, variables, sentence",
    [
        ({}, {}, "disan_tf needs Python 3.9, 3.10, 3.11, 3.12 or 3.13. Install one of these"),
        ({"python3": "3.14"}, {}, "or 3.13; python3 is Python 3.14 on Linux x86_64. Install one"),
        ({"python3": "3.13"}, {"PYTHON": "python9"}, "PYTHON=python9 is no Python interpreter"),
        ({"python3": "3.13"}, BOTH[0], "needs Python 3.9, 3.10 or 3.11; python3 is Python 3.13"),
        ({"python3": "3.11"}, {"TENSORFLOW": "2.19"}, "TENSORFLOW=2.19 must be 2.15 or 2.21."),
        ({"python3": f"3.9 {ARM}"}, {}, f"or 3.13; python3 is Python 3.9 on {ARM}. Install one"),
        ({"python3": f"3.11 {APPLE}"}, BOTH[0], f"no packages for {APPLE}; use TENSORFLOW=2.21."),
    ],
)
def test_no_interpreter_with_a_lock_is_one_sentence(interpreters, variables, sentence, machine):
    outcome = machine(interpreters, **variables)
    assert outcome.returncode == 1 and outcome.stdout == ""
    assert outcome.stderr.startswith("make demo: ") and sentence in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_an_environment_is_made_again_only_where_it_is_outdated(machine, tmp_path):
    folder = tmp_path / "env"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(tmp_path / "bin" / "python3")
    stamp = folder / ".installed"
    stamp.write_text("3.13 2.21 -r requirements-dev.txt\n")
    here = {"python3": "3.13", "python3.11": "3.11"}
    assert machine(here).returncode == 0
    assert machine(here, PYTHON="python3").stdout == ""
    assert machine(here, PYTHON="python3.11").stdout.startswith("Python 3.11: TensorFlow 2.15")
    stamp.write_text("")  # as versions with one lock wrote it
    assert machine(here).stdout.startswith("Python 3.13: TensorFlow 2.21")
    stamp.write_text("3.13 2.21 -r requirements-dev.txt\n")
    os.utime(stamp, (0, 0))  # older than the requirements
    assert machine(here).stdout.startswith("Python 3.13: TensorFlow 2.21")


# Records its arguments and makes an environment of copies of itself, python and perhaps uv.
RECORDER = f"""#!{SHELL}
echo "${{0##*/}} $*" >> log
case "$*" in
  -c*) echo 3.11 Linux x86_64 ;;
  "-m venv"*) mkdir -p env/bin; cp "$0" env/bin/python ;;
  *"config list") echo "$PIP" ;;
  *"install --quiet uv=="*) [ "$UV" != absent ] && cp "$0" env/bin/uv ;;
  "pip install"*) [ "$UV" != fails ] ;;
esac
"""


@pytest.fixture
def install(tmp_path):
    """Returns a function that runs the script with arguments, and returns its output and the
    installations of packages that it asked for."""
    for path in [*ROOT.glob("requirements*.txt"), ROOT / "pyproject.toml", ROOT / "setup.py"]:
        shutil.copy(path, tmp_path)
    (tmp_path / ".ci").mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci")
    _write_program(tmp_path / "recorder", RECORDER)

    def run(*arguments, **variables):
        (tmp_path / "log").write_text("")
        own = {"PATH": os.environ["PATH"], "PYTHON": "./recorder", "GOAL": "demo", **variables}
        command = SHELL, ".ci/install", "env", *arguments
        outcome = run_program(*command, cwd=tmp_path, env=own, check=True)
        lines = (tmp_path / "log").read_text().splitlines()
        return outcome.stdout, [line for line in lines if "--editable" in line]

    return run


UV = "uv pip install --quiet --python env/bin/python "
PIP = "python -m pip --disable-pip-version-check install --quiet "


def test_the_demo_needs_the_runtime_requirements_and_the_others_are_added(install):
    output, installed = install()
    assert output == "Python 3.11: TensorFlow 2.15, in env\n"
    assert installed == [f"{UV}-r requirements.txt --editable ."]
    assert install() == ("", [])
    output, installed = install(*DEVELOPMENT)
    assert output == "Python 3.11: adding -r requirements-dev.txt to env\n"
    assert installed == [f"{UV}-r requirements.txt -r requirements-dev.txt --editable ."]
    assert install(*DEVELOPMENT) == install() == ("", [])


@pytest.mark.parametrize(
    "variables, reason",
    [
        ({"UV": "absent"}, "uv could not be installed, or failed"),
        ({"UV": "fails"}, "uv could not be installed, or failed"),
        ({"PIP": "global.index-url='a'"}, "pip has an index of its own"),
        ({"PIP": ":env:.no-index='1'"}, "pip has an index of its own"),
    ],
)
def test_pip_installs_where_uv_does_not(variables, reason, install):
    output, installed = install(**variables)
    assert output.endswith(f"slower than uv, because {reason}.\n")
    assert installed[-1] == f"{PIP}-r requirements.txt --editable ."
    assert len(installed) == 1 + (variables.get("UV") == "fails")


def test_uv_compiles_to_bytecode_where_imports_may_not(install):
    _, installed = install(PYTHONDONTWRITEBYTECODE="1")
    assert installed == [f"{UV}--compile-bytecode -r requirements.txt --editable ."]


def _recipe(target):
    command = "make", "-n", "--no-print-directory", target, "INSTALL=install", "VENV=env"
    return run_program(*command, check=True).stdout


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@needs_make
@pytest.mark.parametrize(
    "target, command",
    [("demo", "install env"), ("test", "install env -r requirements-dev.txt")],
)
def test_the_demo_does_not_install_what_the_tests_need(target, command):
    assert _recipe(target).splitlines()[0] == command


@needs_make
def test_the_demo_ends_with_a_prediction_that_needs_no_file():
    lines = [line for line in _recipe("demo").splitlines() if line.startswith("echo ")]
    printed = run_program(SHELL, "-c", "\n".join(lines)).stdout
    predict = "echo 'the film is dull .' | env/bin/python run.py --mode=predict --workdir=demo/run"
    assert any(line.endswith(predict) for line in printed.splitlines())
