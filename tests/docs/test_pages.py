"""The pages' commands and code run, or carry a mark that says why no test runs them.

A mark is a comment above the block, `<!-- not run: needs a GPU -->`. The flags, configs and modules
of marked commands are checked too, here and in `tests/test_readmes.py`.
"""

import argparse
import itertools
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from matplotlib.mathtext import MathTextParser

from data_prep.download.archives import ARCHIVES
from data_prep.synthetic.pairs import write_pairs
from disan_tf.cli.command_line import FLAGS
from tests.support.corpora.official_layouts import write_corpora
from tests.support.pages import blocks_of, is_python, text_of
from tests.support.processes import run_program
from tests.support.runs.training import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*") if path.suffix in (".md", ".ipynb"))
BLOCKS = [(page, block) for page in PAGES for block in blocks_of(text_of(page))]
RUN = [(page, block) for page, block in BLOCKS if not block.reason and block.language != "math"]
QUICK = ("keras_layers",)  # of the pages that run, those of a few seconds
NEEDS_A_MODEL = ("export", "predict", "tensorboard")  # which begin with the model of train.md
PROGRAMS = {"python", "disan-tf", "tensorboard", "echo", "export"}  # which `run_block` can run
# In marked blocks alone.
OTHERS = {"pip", "make", "source", "docker", "curl", "jupyter", "gunicorn"}
ASSIGNMENT = re.compile(r"[A-Z][A-Z_0-9]*=")  # before a program
INLINE_FLAG = re.compile(r"`[^`\n]*?(?<![\w-])--(?:no)?([a-z][\w.]*)[^`\n]*`")
# TensorBoard, gunicorn, Slurm, TensorFlow Serving, WSL
FLAGS_OF_OTHERS = {"help", "logdir", "preload", "signal", "enable_batching", "install"}


def _id(page, block) -> str:
    return f"{page.relative_to(DOCS).as_posix()}:{block.line}"


def _parameters(blocks):
    return [pytest.param(page, block, id=_id(page, block)) for page, block in blocks]


def _commands(text: str) -> list:
    """Returns the simple commands of a shell script, each as its words without assignments."""
    lines = _joined(text.replace("\\\n", " ").splitlines())
    commands = [part for line in lines for part in line.split(" | ")]
    words = [
        list(itertools.dropwhile(ASSIGNMENT.match, shlex.split(command, comments=True)))
        for command in commands
    ]
    return [command for command in words if command and command[0] not in ("for", "done")]


def _joined(lines: list) -> list:
    """Returns the lines with each value in quotes on one line."""
    whole = []
    for line in lines:
        if whole and whole[-1].count("'") % 2:
            whole[-1] += f" {line.strip()}"
        else:
            whole.append(line)
    return whole


SHELL = [(page, block) for page, block in BLOCKS if block.language == "" and not is_python(block)]


@pytest.mark.parametrize("page, block", _parameters(RUN))
def test_blocks_without_a_mark_can_be_run(page, block):
    assert block.language in ("", "python"), f"a block of {block.language} needs a mark"
    if not is_python(block):
        assert {words[0] for words in _commands(block.text)} <= PROGRAMS


@pytest.mark.parametrize("page, block", _parameters(SHELL))
def test_programs_of_a_block_are_known(page, block):
    assert {words[0] for words in _commands(block.text)} <= PROGRAMS | OTHERS


class _Parsed(Exception):
    """Stops a program that has accepted its arguments."""


def _stop_after_parsing(monkeypatch):
    parse = argparse.ArgumentParser.parse_args

    def parse_and_stop(*arguments, **options):
        parse(*arguments, **options)
        raise _Parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_and_stop)


MODULES = [
    pytest.param(words, id=" ".join(words[2:]))
    for _, block in SHELL
    for words in _commands(block.text)
    if words[:2] == ["python", "-m"] and len(words) > 3
]


@pytest.mark.parametrize("words", MODULES)
def test_modules_accept_the_arguments(words, monkeypatch):
    _stop_after_parsing(monkeypatch)
    monkeypatch.setattr(sys, "argv", words[2:])
    monkeypatch.delitem(sys.modules, words[2], raising=False)  # runpy warns of imported modules
    with pytest.raises(_Parsed):
        runpy.run_module(words[2], run_name="__main__", alter_sys=True)


def test_corpora_to_download_have_addresses():
    words = [command.values[0] for command in MODULES]
    names = {command[3] for command in words if command[2] == "data_prep.download"}
    assert names and names <= {*ARCHIVES}


def test_what_is_installed_and_made_is_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        text = text_of(page)
        for name in re.findall(r"requirements[\w.-]*\.txt", text):
            assert (ROOT / name).is_file(), name
        for target in re.findall(r"(?:^    |`)make ([\w-]+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_flags_in_the_text_exist(page):
    prose = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    flags = {name for name in INLINE_FLAG.findall(prose) if "." not in name}
    assert not {name for name in flags - FLAGS_OF_OTHERS if name not in FLAGS}


@pytest.mark.parametrize(
    "page, block", _parameters([it for it in BLOCKS if it[1].language == "math"])
)
def test_equations_are_latex(page, block):
    for line in block.text.splitlines():
        MathTextParser("path").parse(f"${line}$".replace(r"\top", "T"))


_VECTORS = {"glove.6B.100d": 100, "glove.6B.300d": 300, "glove.840B.300d": 300}
_SHORT = {
    "train.steps": 3,
    "train.evaluate_every": 1,
    "train.log_every": 1,
    "train.batch_size": 4,
}
_SHORT_RESAN = {"policy.pretrain_steps": 1, "policy.policy_steps": 1}
_PYTHON = """#!{python}
import os, sys

arguments = sys.argv[1:]
is_training = arguments[0] == "run.py" and not any(a.startswith("--mode") for a in arguments)
if is_training:
    given = [argument.partition("=")[0] for argument in arguments]
    short = {short} if "resan" not in str(arguments) else {short_resan}
    short = [f"--config.{{name}}={{value}}" for name, value in short.items()]
    arguments += [flag for flag in short if flag.partition("=")[0] not in given]
    arguments.append("--nopictures")
os.execv("{python}", ["{python}", *arguments])
"""
_PROGRAMS = {
    "python": _PYTHON.format(
        python=sys.executable, short=_SHORT, short_resan={**_SHORT, **_SHORT_RESAN}
    ),
    "disan-tf": '#!/bin/sh\nexec python -m disan_tf "$@"\n',
    # TensorBoard lists what it found, and ends.
    "tensorboard": '#!/bin/sh\nexec python -m tensorboard.main --inspect "$@"\n',
}
_SHELL = ["bash", "-e", "-o", "pipefail", "-c"]
_WORDS = ("the", "is", "a", "film", "plot", "warm", "cold", "hot", "cook", "soup", "good", "bad")
_TEXTS = [f"The {thing} is {word} ." for thing in ("film", "plot") for word in ("warm", "cold")]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder like a copy of the repository, with small corpora, vectors, tables and texts."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("run.py", "configs", "checkpoints"):
        (folder / name).symlink_to(ROOT / name)
    write_corpora(folder / "data")
    write_pairs(folder / "data", seed=0, sizes={"train": 24, "dev": 12, "test": 12})
    (folder / "data/glove").mkdir()
    for name, dim in _VECTORS.items():
        _write_vectors(folder / f"data/glove/{name}.txt", dim)
    (folder / "reviews.txt").write_text("\n".join(_TEXTS) + "\n", encoding="utf-8")
    rows = [f"{number} {text},{number % 2}" for number in range(10) for text in _TEXTS]
    (folder / "data/reviews.csv").write_text(
        "\n".join(["text,label", *rows]) + "\n", encoding="utf-8"
    )
    (folder / "bin").mkdir()
    for name, program in _PROGRAMS.items():
        (folder / "bin" / name).write_text(program, encoding="utf-8")
        (folder / "bin" / name).chmod(0o755)
    return folder


def _write_vectors(path, dim: int) -> None:
    generator = np.random.default_rng(1)
    with path.open("w", encoding="utf-8") as file:
        for word in _WORDS:
            print(word, *generator.normal(size=dim).round(3), file=file)


def run_block(block, folder) -> subprocess.CompletedProcess:
    """Runs a block in a project; the first `python` on PATH makes trainings short."""
    (folder / "block.py").write_text(block.text, encoding="utf-8")
    paths = [str(folder / "bin"), os.path.dirname(sys.executable), os.environ["PATH"]]
    command = [sys.executable, "block.py"] if is_python(block) else [*_SHELL, block.text]
    environment = {**os.environ, "PATH": os.pathsep.join(paths), "PYTHONPATH": str(ROOT)}
    return run_program(*command, cwd=folder, env=environment, stdin=subprocess.DEVNULL)


def _page(page):
    marks = [] if page.stem in QUICK else [pytest.mark.slow, pytest.mark.timeout(3600)]
    return pytest.param(page, id=page.relative_to(DOCS).as_posix(), marks=marks)


@pytest.mark.parametrize("page", map(_page, sorted({page for page, _ in RUN})))
def test_code_of_a_page_runs(page, project):
    shutil.rmtree(project / "runs", ignore_errors=True)  # of other pages
    blocks = [block for other, block in RUN if other == page]
    if page.stem in NEEDS_A_MODEL:
        blocks.insert(0, next(block for other, block in RUN if other.stem == "train"))
    for block in blocks:
        done = run_block(block, project)
        assert done.returncode == 0, f"{block.text}\n{done.stdout}\n{done.stderr}"


def test_a_block_that_fails_is_noticed(project):
    for text in ("false\ntrue\n", "false | cat\n", "import nothing_of_this_name\n"):
        (block,) = blocks_of("    " + text.replace("\n", "\n    "))
        assert run_block(block, project).returncode != 0, text


def test_marks_belong_to_the_next_block_alone():
    first, second = blocks_of(
        "<!-- not run: needs a GPU -->\n\n    one\n\ntext\n\n```sh\ntwo\n```\n"
    )
    assert (first.reason, second.reason, second.language) == ("needs a GPU", None, "sh")


def test_the_functions_to_read_first_exist():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w.]+)` in `([\w/.]+)` \|", text, re.MULTILINE)
    assert len(rows) == 10
    for name, path in rows:
        found = import_module(path.removesuffix(".py").replace("/", "."))
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found)
