"""The libraries of a wheel: which one fits, which is refused, and what runs instead."""

import json
import os
import runpy
import shutil
import sys
from unittest import mock

import pytest
import tensorflow as tf

from disan_tf.common import machine as machines
from disan_tf.ops import directional_attention
from disan_tf.ops.native import build, compiler, runtime, shipped
from tests.support.ops.backends import needs_native
from tests.support.processes import ROOT, run_program

pytestmark = pytest.mark.usefixtures("cache")
LIBRARY = None if runtime.unavailable() else runtime.library().path  # of the usual cache
V3, V4 = (level.flags for level in reversed(shipped.LEVELS["x86_64"]))


def _write_flags(compiler, flags, output):
    """Writes the flags in place of a library."""
    output.write_text(" ".join(flags), encoding="utf-8")


def _ship(folder, compile_library=_write_flags):
    patched = mock.patch.multiple(
        compiler, find_compiler=lambda: "g++", compile_library=compile_library
    )
    with patched:
        runpy.run_path(ROOT / ".ci/ship.py")["ship"](folder)


@pytest.fixture
def processor(tmp_path, monkeypatch):
    """Sets the flags of the first of two processors."""

    def set_flags(flags, machine="x86_64", name="flags"):
        path = tmp_path / "cpuinfo"
        text = f"processor\t: 0\n{name}\t\t: fpu {flags}\n\nprocessor\t: 1\n{name}\t\t: fpu {V4}\n"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr(machines, "LINUX", path)
        monkeypatch.setattr("platform.machine", lambda: machine)

    return set_flags


@pytest.fixture
def folder(tmp_path, monkeypatch, processor):
    """The libraries of a wheel, which are no libraries, on a processor with AVX-512."""
    processor(V4)
    _ship(tmp_path / "libraries")
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "libraries")
    return tmp_path / "libraries"


@pytest.fixture
def no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")


@pytest.fixture
def compiled(monkeypatch):
    """Lets the library of the usual cache be the one that is compiled."""
    monkeypatch.setattr(build, "library", lambda: LIBRARY)


def _name(level):
    return f"tensorflow-{tf.version.VERSION}-{level}.so"


def _change(folder, **changes):
    """Changes what the manifest says of the build of TensorFlow."""
    content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for library in content["libraries"].values():
        library["tensorflow"].update(changes)
    (folder / "manifest.json").write_text(json.dumps(content), encoding="utf-8")


# Which library fits


def test_each_library_is_compiled_for_its_level_and_not_for_this_processor(folder):
    for level in ("x86-64-v3", "x86-64-v4"):
        flags = (folder / _name(level)).read_text(encoding="utf-8").split()
        assert f"-march={level}" in flags and "-march=native" not in flags
        assert {*compiler.FLAGS} < {*flags}


def test_the_highest_level_of_the_processor_is_taken(folder, processor):
    assert shipped.library() == folder / _name("x86-64-v4")
    processor(V3)
    assert shipped.library() == folder / _name("x86-64-v3")


def test_a_level_needs_all_its_flags(folder, processor):
    processor(V4.replace("avx512vl", ""))
    assert shipped.library() == folder / _name("x86-64-v3")


def test_a_processor_below_all_levels_has_none(folder, processor):
    processor(V3.replace("fma", ""))
    with pytest.raises(shipped.NoLibraryError, match="of level x86-64-v4 or x86-64-v3"):
        shipped.library()


@pytest.mark.parametrize("name", ["version", "git", "compiler", "flags"])
def test_the_build_of_tensorflow_must_be_the_same(folder, name):
    _change(folder, **{name: "2.99"})
    with pytest.raises(shipped.NoLibraryError, match="libraries are for TensorFlow 2"):
        shipped.library()


def test_libraries_of_other_sources_do_not_fit(folder, tmp_path, monkeypatch):
    sources = shutil.copytree(compiler.FOLDER, tmp_path / "sources")
    monkeypatch.setattr(compiler, "FOLDER", sources)
    assert shipped.library()
    (sources / "vectors.h").write_text("// another\n", encoding="utf-8")
    with pytest.raises(shipped.NoLibraryError, match="compiled from other sources"):
        shipped.library()


def test_a_second_lock_adds_its_libraries_and_other_sources_begin_anew(folder, monkeypatch):
    names = {_name("x86-64-v4"), _name("x86-64-v3")}

    def shipped_names():
        _ship(folder)
        return {*json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["libraries"]}

    monkeypatch.setattr(tf.version, "VERSION", "2.99")
    others = {"tensorflow-2.99-x86-64-v4.so", "tensorflow-2.99-x86-64-v3.so"}
    assert shipped_names() == names | others
    monkeypatch.setattr(shipped, "FLAGS", (*compiler.FLAGS, "-g"))
    assert shipped_names() == others


@pytest.mark.parametrize(
    "name, value, shown",
    [
        ("DISAN_TF_NATIVE", "compile", "DISAN_TF_NATIVE=compile"),
        ("DISAN_TF_NATIVE_FLAGS", "-mavx2", "DISAN_TF_NATIVE_FLAGS"),
    ],
)
def test_variables_exclude_them(name, value, shown, folder, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(shipped.NoLibraryError, match=f"{shown} excludes the shipped libraries"):
        shipped.library()


# Which library is refused


def _flip(path):
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def test_a_changed_library_is_refused(folder):
    _flip(folder / _name("x86-64-v4"))
    with pytest.raises(compiler.BuildError, match="x86-64-v4.so changed since the wheel was built"):
        shipped.library()


@pytest.mark.parametrize("content", ["{", '{"sources": "", "libraries": {"a": 1}}'])
def test_a_damaged_manifest_is_refused(folder, content):
    (folder / "manifest.json").write_text(content, encoding="utf-8")
    with pytest.raises(compiler.BuildError, match="manifest.json.*reinstall disan_tf"):
        shipped.library()


@pytest.mark.parametrize(
    "name, mode", [("", 0o020), ("manifest.json", 0o002), (_name("x86-64-v4"), 0o020)]
)
def test_what_others_can_write_is_refused(folder, name, mode):
    path = folder / name
    path.chmod(path.stat().st_mode | mode)
    with pytest.raises(compiler.BuildError, match="can be written by others.*; reinstall disan_tf"):
        shipped.library()


@pytest.mark.parametrize("name", ["", "manifest.json", _name("x86-64-v4")])
def test_what_belongs_to_another_user_is_refused(folder, name, give_away):
    give_away(folder / name)
    with pytest.raises(compiler.BuildError, match="belongs to another user"):
        shipped.library()


def test_who_can_write_the_package_can_write_the_library(folder, tmp_path, monkeypatch, give_away):
    """Their code runs already: an installation for a group, or by another user."""
    module, library = tmp_path / "shipped.py", folder / _name("x86-64-v4")
    module.touch()
    monkeypatch.setattr(shipped, "__file__", str(module))
    library.chmod(0o664)
    module.chmod(0o664)
    assert shipped.library() == library
    library.chmod(0o666)
    with pytest.raises(compiler.BuildError, match="can be written by others"):
        shipped.library()
    library.chmod(0o644)
    if os.geteuid() == 0:
        for path in (module, library):
            give_away(path)
        assert shipped.library() == library


# What runs


@needs_native
def test_a_refused_library_is_one_warning_and_another_is_compiled(folder, compiled):
    _flip(folder / _name("x86-64-v4"))
    with mock.patch("absl.logging.warning") as warning:
        assert runtime.is_used() and runtime.is_used()
    ((template, *arguments),) = (call.args for call in warning.call_args_list)
    assert "x86-64-v4.so changed since the wheel was built" in template % tuple(arguments)
    assert runtime.library()[1:] == ("compiled", LIBRARY)


def _assert_portable(*reasons):
    with mock.patch("absl.logging.warning") as warning:
        assert not runtime.is_used() and not runtime.is_used()
    ((template, *arguments),) = (call.args for call in warning.call_args_list)
    for reason in ("there is no compiler /nonexistent", *reasons):
        assert reason in template % tuple(arguments)


def test_without_a_compiler_the_warning_says_why_none_fits(folder, no_compiler):
    _change(folder, version="2.99")
    _assert_portable(f"are for TensorFlow 2.99 as on PyPI, and this is {tf.version.VERSION}")


# Prints the origin of the library that runs, and a result's bytes.
PROGRAM = """
import sys
from pathlib import Path
import tensorflow as tf
from disan_tf.ops import directional_attention
from disan_tf.ops.native import runtime, shipped
shipped.FOLDER = Path(sys.argv[1])
inputs = [tf.random.stateless_normal([2, 40, 20], [1, k]) for k in range(3)]
result = directional_attention(*inputs, tf.ones([2, 40], tf.bool), direction="forward")
print(runtime.library().origin, result.numpy().tobytes().hex())
"""


@pytest.mark.slow  # a process of its own
@needs_native
def test_without_a_compiler_and_a_cache_a_library_that_fits_runs(tmp_path, monkeypatch):
    """The library that was compiled for this processor is the shipped one here."""
    _ship(tmp_path / "libraries", lambda compiler, flags, output: shutil.copy(LIBRARY, output))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "libraries")
    try:
        shipped.library()
    except shipped.NoLibraryError as error:
        pytest.skip(str(error))
    variables = {"CXX": "/nonexistent", "DISAN_TF_NATIVE_CACHE": str(tmp_path / "empty")}
    command = sys.executable, "-c", PROGRAM, tmp_path / "libraries"
    outcome = run_program(*command, env={**os.environ, **variables})
    monkeypatch.setattr(build, "library", lambda: LIBRARY)
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    inputs = [tf.random.stateless_normal([2, 40, 20], [1, k]) for k in range(3)]
    expected = directional_attention(*inputs, tf.ones([2, 40], tf.bool), direction="forward")
    assert outcome.stdout.split() == ["shipped", expected.numpy().tobytes().hex()], outcome.stderr
    assert not (tmp_path / "empty").exists()
