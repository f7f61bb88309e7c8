"""What the READMEs tell a reader to open, to type and to run exists."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

import disan_tf
from disan_tf.cli.command_line import FLAGS
from disan_tf.cli.help import parameters_of
from disan_tf.cli.modes import MODES
from disan_tf.common.options import flatten
from tests.support.pages import blocks_of, is_python, text_of
from tests.support.processes import run_program
from tests.support.runs.finished import config_of, write_run
from tests.support.runs.training import load_config

ROOT = Path(__file__).parents[1]
FOLDERS = ("configs", "data_prep", "checkpoints", "disan_tf", "docs", "tests")
READMES = [
    *sorted(ROOT.glob("*.md")),
    *(path for name in FOLDERS for path in (ROOT / name).rglob("*.md")),
]
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))
LINK = re.compile(r"\]\(([^)#:]+)\)")
CONFIG = re.compile(r"configs/(\w+)\.py(?::([\w-]+))?")
CONFIG_FLAG = re.compile(r"(?:configs/)?(\w+)(?:\.py)?(?::(.+))?")
OPTION = re.compile(r"(?<!tf\.)\bconfig\.([a-z]\w*\.[\w.]*\w)")
EXTRA = re.compile(r"'(?:\.|disan_tf)\[(\w+)\]'")
PROGRAM = re.compile(r"\s*(?:srun \S+ )?(?:python run\.py|python -m disan_tf|disan-tf) (.+)")
IMPORT = re.compile(r"^(?:import|from) (tensorflow|disan_tf)\b", re.MULTILINE)
MODULE = re.compile(r"python -m ((?:data_prep|disan_tf|tests)[\w.]*)")


def _text(path):
    return path.read_text(encoding="utf-8")


def _name(path):
    return path.relative_to(ROOT).as_posix()


def _blocks(text):
    """Returns the code blocks, each as its lines."""
    return [block.text.splitlines() for block in blocks_of(text)]


def _commands():
    """Yields the arguments of run.py in all pages, without what a shell does around them."""
    for path in [*READMES, *NOTEBOOKS]:
        for lines in _blocks(text_of(path)):
            for line in "\n".join(lines).replace("\\\n", " ").splitlines():
                for command in map(PROGRAM.match, line.split(" | ")):
                    if command:
                        yield pytest.param(command[1], id=f"{_name(path)}: {command[1]}")


@pytest.mark.parametrize("path", [*READMES, *NOTEBOOKS], ids=_name)
def test_links_lead_to_files(path):
    prose = re.sub(r"^    .*$", "", text_of(path), flags=re.MULTILINE)
    missing = [link for link in LINK.findall(prose) if not (path.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("path", READMES, ids=_name)
def test_configs_and_variants_exist(path):
    for name, variant in CONFIG.findall(_text(path)):
        load_config(name, variant)


@pytest.fixture(scope="module")
def options():
    """The names of all values of all configs, such as "train.steps"."""
    configs = [
        load_config(path.stem)
        for path in (ROOT / "configs").glob("[a-z]*.py")
        if path.stem != "common"
    ]
    return {name for config in configs for name in flatten(config.to_dict())}


@pytest.mark.parametrize("path", READMES, ids=_name)
def test_options_of_configs_exist(path, options):
    if "tables" not in path.parts:  # their commands are those of the recorded runs
        assert set(OPTION.findall(_text(path))) <= options


@pytest.mark.parametrize("path", READMES, ids=_name)
def test_modules_exist(path):
    for module in MODULE.findall(_text(path)):
        assert importlib.util.find_spec(module.rstrip(".")), module


@pytest.mark.parametrize("command", _commands())
def test_commands_have_flags_and_values_that_exist(command):
    words = shlex.split(command, comments=True)
    values = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
    assert len(values) == len(words) or values["mode"] == "compare"  # which takes runs
    named = "config" in values
    config = load_config(*CONFIG_FLAG.fullmatch(values["config"]).groups()) if named else None
    taken = {"mode", *parameters_of(MODES[values.get("mode", "train")])}
    for name, value in values.items():
        if name.startswith("config."):
            section = config
            for key in name.split(".")[1:]:
                section = section[key]
            if "$" not in value and not isinstance(section, (str, bool, tuple)):
                type(section)(value)
        else:
            assert name.removeprefix("no") in taken, name
            if "$" not in value and not FLAGS[name.removeprefix("no")].boolean:
                FLAGS[name].parser.parse(value)


PACKAGES = sorted(path.parent for path in (ROOT / "disan_tf").glob("*/__init__.py"))
TOP_LEVEL = [ROOT, *(ROOT / name for name in FOLDERS if name != "docs")]  # whose page is its index


@pytest.mark.parametrize("folder", [*TOP_LEVEL, *PACKAGES], ids=_name)
def test_each_folder_has_a_short_readme(folder):
    assert len(_text(folder / "README.md").splitlines()) <= 120


def test_the_front_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(_text(ROOT / "README.md"))
    code = "".join(block.text for block in blocks if block.language == "python")
    released, names = re.findall(r'"(disan_\w+)"', code), {}
    assert len(released) == 2 and {*released} <= disan_tf.TextClassifier.presets.keys()
    exec(re.sub("|".join(released), "demo", code), names)  # which is small
    assert names["sentence"].shape[-1] == 600
    assert names["model"].predict(["A warm, funny film."])[0]["label"] == "positive"
    assert (tmp_path / "films/saved_model.pb").is_file()
    assert (tmp_path / "attention.png").is_file()


def test_the_layers_of_the_front_page_run_quietly(tmp_path):
    (block,) = (
        block for block in blocks_of(_text(ROOT / "README.md")) if "tf.keras.Input" in block.text
    )
    code = f"{block.text}print(classifier.predict([[1, 2]], verbose=0).shape)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DISAN_TF_KERAS": "2"}
    environment.pop("TF_CPP_MIN_LOG_LEVEL", None)
    done = run_program(sys.executable, "-c", code, cwd=tmp_path, env=environment)
    assert (done.stdout, done.stderr) == ("(1, 2)\n", "")


@pytest.mark.parametrize("path", [*READMES, *NOTEBOOKS], ids=_name)
def test_examples_import_disan_tf_before_tensorflow(path):
    cells = json.loads(_text(path))["cells"] if path.suffix == ".ipynb" else ()
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    code += [block.text for block in blocks_of(text_of(path)) if is_python(block)]
    for text in code:
        names = IMPORT.findall(text)
        if {"tensorflow", "disan_tf"} <= {*names}:
            assert names.index("disan_tf") < names.index("tensorflow")


def test_the_example_of_reading_the_scores_of_a_sweep_runs(tmp_path, monkeypatch, capsys):
    (lines,) = (
        block
        for block in _blocks(_text(ROOT / "docs" / "how_to" / "compare_runs.md"))
        if "read_run" in "\n".join(block)
    )
    for dropout, dev in (("0.1", 0.5), ("0.4", 0.4)):
        run = write_run(tmp_path / "runs" / "dropout" / dropout, config_of(), dev=dev)
        shutil.rmtree(run / "evaluation")  # the loop trains, and evaluates nothing
    monkeypatch.chdir(tmp_path)
    exec("\n".join(lines), {})
    assert capsys.readouterr().out == "0.1 [0.5]\n0.4 [0.4]\n"


def test_extras_that_pages_and_errors_name_exist():
    project = _text(ROOT / "pyproject.toml")
    known = re.findall(
        r"^(\w+) = \[", project.partition("[project.optional-dependencies]")[2], re.M
    )
    sources = [*READMES, *NOTEBOOKS, *(ROOT / "disan_tf").rglob("*.py")]
    named = {extra for path in sources for extra in EXTRA.findall(_text(path))}
    assert {"serve", "notebook"} <= named <= {*known}


@pytest.mark.parametrize(
    "name, pattern",
    [
        ("CHANGELOG.md", r"^## (\S+)"),
        ("CITATION.cff", r"^version: (\S+)"),
        ("README.md", r"^@software\{.* version = \{(\S+)\}\}"),
    ],
)
def test_pages_name_the_version_of_the_package(name, pattern):
    newest, *_ = re.findall(pattern, _text(ROOT / name), re.MULTILINE)
    assert newest == disan_tf.__version__
