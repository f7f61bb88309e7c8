"""disan_tf/common/installation.py and setup.py: configs by name, and the installed package."""

import json
import os
import sys
from pathlib import Path

import pytest

from disan_tf.common import installation
from disan_tf.serving.presets import read_manifest
from tests.support.processes import ROOT, run_program

SCRIPT = """import runpy
try:
    runpy.run_module("disan_tf", run_name="__main__")
finally:
    print("rows:")
    from disan_tf.cli import modes
    modes.reproduce()
"""


def test_a_config_is_found_by_name_or_in_a_folder_that_there_is_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ours = str(ROOT / "configs" / "disan_sst.py")
    assert installation.find_config("disan_sst") == ours
    assert installation.find_config("disan_sst:tiny,official") == f"{ours}:tiny,official"
    assert installation.find_config("configs/disan_sst.py:tiny") == f"{ours}:tiny"


@pytest.mark.parametrize("value", ["nothing", "runs/disan_sst.py", "/configs/disan_sst", "../demo"])
def test_other_paths_stay_as_they_are(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert installation.find_config(value) == value


def test_a_file_of_the_user_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "demo.py").touch()
    assert installation.find_config("configs/demo.py:x") == "configs/demo.py:x"


@pytest.mark.parametrize("program", ["disan-tf.exe", "/a/run.py"])
def test_messages_name_the_program_that_was_typed(program, monkeypatch):
    monkeypatch.setattr(sys, "argv", [program])
    expected = ("disan-tf", "disan-tf") if "disan-tf" in program else ("run.py", "python run.py")
    assert (installation.program(), installation.command()) == expected


# Windows, which has no os.geteuid and no fcntl

WINDOWS = """import importlib.metadata, importlib.util, os, pathlib, runpy, sys
del os.geteuid
sys.modules["fcntl"] = None
sys.platform = "win32"
sys.argv = sys.argv[1:]
"""
SENTENCE = (
    "disan_tf does not run on Windows, for which tensorflow-text has no packages; run it in WSL 2, "
    "the Linux of Windows (wsl --install)."
)


def _run_on_windows(code, *arguments):
    return run_program(sys.executable, "-c", WINDOWS + code, *arguments)


def test_an_import_on_windows_names_wsl():
    outcome = _run_on_windows("import disan_tf", "own_script.py")
    last = outcome.stderr.splitlines()[-1]
    assert last == f"disan_tf.common.installation.PlatformError: {SENTENCE}"
    caught = """
try:
    import disan_tf.layers
except ImportError as error:
    print(error)
"""
    assert _run_on_windows(caught, "own_script.py").stdout == f"{SENTENCE}\n"


@pytest.mark.parametrize(
    "code, name",
    [
        ('runpy.run_path("run.py", run_name="__main__")', "run.py"),
        ("from disan_tf.cli.command_line import run", "C:/env/Scripts/disan-tf.exe"),
        ("import disan_tf", "-m"),
        ("import data_prep.download.fetch", str(ROOT / "data_prep/download/__main__.py")),
    ],
)
def test_a_command_on_windows_ends_with_the_sentence(code, name):
    outcome = _run_on_windows(code, name)
    assert (outcome.returncode, outcome.stderr) == (2, f"{SENTENCE}\n")


# The package as it is installed


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """What a wheel holds."""
    folder = tmp_path_factory.mktemp("build")
    (folder / "egg").mkdir()
    command = [
        *(sys.executable, "-W", "ignore", "setup.py", "-q"),
        *("egg_info", "--egg-base", folder / "egg"),
        *("build", "--build-base", folder / "base", "--build-lib", folder / "lib"),
    ]
    run_program(*command, check=True)
    return folder / "lib"


def test_a_wheel_has_two_packages_with_configs_models_and_sources(installed):
    assert {path.name for path in installed.iterdir()} == {"disan_tf", "data_prep"}

    def listed(folder, pattern):
        return {path.relative_to(folder).as_posix() for path in folder.rglob(pattern)}

    bundled = installed / "disan_tf" / "bundled"
    assert listed(bundled / "configs", "*.py") == listed(ROOT / "configs", "*.py")
    native = Path("disan_tf/ops/native")
    for sources in ("*.cc", "*.h"):
        assert listed(installed / native, sources) == listed(ROOT / native, sources) != set()
    assert not [*(installed / native).rglob("*.so")]
    for folder, files in (("papers", "*.yaml"), ("results", "*.json")):
        own = {path.name for path in (ROOT / "checkpoints" / folder).glob(files)}
        assert listed(bundled / "checkpoints" / folder, "*") == own != set()
    lists = Path("data_prep") / "subsets"
    assert listed(installed / lists, "*") == listed(ROOT / lists, "*") != set()
    released = read_manifest(bundled / "checkpoints" / "manifest.tsv")
    assert {path.name for path in (bundled / "checkpoints").iterdir() if path.is_dir()} == {
        *released,
        "papers",
        "results",
    }
    for name in released:
        model = bundled / "checkpoints" / name
        assert listed(model, "*") == listed(ROOT / "checkpoints" / name, "*")


def test_a_source_package_holds_what_a_wheel_is_built_from(installed):
    (names,) = (installed.parent / "egg").glob("*/SOURCES.txt")
    sources = set(names.read_text(encoding="utf-8").splitlines())
    files = {path.relative_to(installed) for path in installed.rglob("*") if path.is_file()}
    built_from = {path.as_posix().replace("disan_tf/bundled/", "") for path in files}
    assert built_from | {"setup.py", "pyproject.toml"} <= sources
    assert not [name for name in sources if name.startswith("tests")]


def test_a_wheel_with_libraries_has_a_platform_and_every_python(tmp_path):
    libraries = tmp_path / "native"
    libraries.mkdir()
    for name in ("a.so", "manifest.json"):
        (libraries / name).touch()
    (tmp_path / "egg").mkdir()
    command = [
        *(sys.executable, "-W", "ignore", "setup.py", "-q"),
        *("egg_info", "--egg-base", tmp_path / "egg"),
        *("build_py", "--build-lib", tmp_path / "lib"),
        *("bdist_wheel", "--skip-build", "--bdist-dir", tmp_path / "bdist"),
        *("--dist-dir", tmp_path / "dist", "--compression", "stored"),
    ]
    environment = {**os.environ, "DISAN_TF_LIBRARIES": os.path.relpath(libraries, ROOT)}
    run_program(*command, check=True, env=environment)
    folder = tmp_path / "lib" / "disan_tf" / "ops" / "native" / "libraries"
    assert {path.name for path in folder.iterdir()} == {"a.so", "manifest.json"}
    (wheel,) = (tmp_path / "dist").iterdir()
    assert "-py3-none-linux_" in wheel.name


def test_it_answers_and_lists_the_rows_of_the_papers_from_an_empty_folder(installed, tmp_path):
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    command = sys.executable, "-c", SCRIPT, "--mode=predict", "--checkpoint=demo"
    outcome = run_program(*command, cwd=tmp_path, input="the plot is superb .\n", env=environment)
    answer, rows = outcome.stdout.split("rows:\n")
    assert json.loads(answer)["label"] == "positive" and "\ndisan/sick " in rows
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert not list(tmp_path.iterdir())
