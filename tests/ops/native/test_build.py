"""Building the native library: once, whole or not at all, and a line that says why not."""

import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
from unittest import mock

import pytest
import tensorflow as tf

from disan_tf.ops import available_forms, directional_attention
from disan_tf.ops.native import build, runtime

pytestmark = pytest.mark.usefixtures("cache")
# The build in a process that starts quickly, since it does not import TensorFlow.
PROCESS = """
import sys, types
sysconfig = types.SimpleNamespace(get_compile_flags=list, get_link_flags=list)
sys.modules["tensorflow"] = types.SimpleNamespace(__version__="0", sysconfig=sysconfig)
for name, folder in (("disan_tf.ops", ".."), ("disan_tf.ops.native", ".")):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [f"{sys.argv[1]}/{folder}"]
from disan_tf.ops.native import build
print(build.library())
"""


def _libraries(cache):
    return sorted(path.name for path in cache.glob("*") if path.suffix == ".so")


def _start():
    return subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(build.compiler.FOLDER)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _assert_portable(reason=""):
    """The portable form is used, and one line in the log says why; without a reason, none does."""
    inputs = [tf.random.stateless_normal([2, 4, 3], [1, k]) for k in range(3)]
    mask = tf.ones([2, 4], tf.bool)
    with mock.patch("absl.logging.warning") as warning:
        results = [directional_attention(*inputs, mask, direction="forward") for _ in range(2)]
    lines = [call.args[0] % call.args[1:] for call in warning.call_args_list]
    assert len(lines) == bool(reason)
    assert all(reason in line and "\n" not in line for line in lines)
    expected = directional_attention(*inputs, mask, direction="forward", form="lean")
    for result in results:
        assert (result.numpy() == expected.numpy()).all()
    assert available_forms() == ["plain", "lean"]
    with pytest.raises(ValueError, match='form="native" is not available'):
        directional_attention(*inputs, mask, direction="forward", form="native")


def test_the_environment_switches_it_off(monkeypatch, compiler, capsys):
    compiler()
    monkeypatch.setenv("DISAN_TF_NATIVE", "0")
    _assert_portable()
    runpy.run_module("disan_tf.ops.native", run_name="__main__")
    assert capsys.readouterr().out == "portable operations: DISAN_TF_NATIVE=0\n"
    assert compiler.calls() == 0


def test_without_a_compiler_the_portable_form_is_used(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    _assert_portable("there is no compiler /nonexistent")
    assert runtime.unavailable() == "there is no compiler /nonexistent (CXX names another)"


def test_a_failing_compiler_is_quoted(cache, compiler):
    stderr = (
        "In file /a/errors.h\n/a/b_op.cc:3:1: error: 'x' does not name a type\nb_op.cc:4: error:"
    )
    compiler(status=1, stderr=stderr)
    _assert_portable("compiler fails: b_op.cc:3:1: error: 'x' does not name a type; name another")
    assert _libraries(cache) == []


# What GCC 12 says of TensorFlow 2.21's Eigen on a processor with AVX512-FP16.
EIGEN = (
    "In file included from /tf/include/tsl/platform/errors.h:19,\n"
    "/tf/include/Eigen/src/Core/arch/AVX512/PacketMathFP16.h:740:49: error: expected initializer "
    "before '<' token\n"
)


@pytest.mark.parametrize("needs, calls", [("-mno-avx512fp16", 2), ("-mno-avx512f", 3)])
def test_instruction_sets_that_the_headers_cannot_compile_are_left_out(compiler, needs, calls):
    compiler(needs=needs, stderr=EIGEN)
    library = build.library()
    assert library.read_bytes().startswith(b"half and half")
    assert compiler.calls() == calls
    assert build.library() == library and compiler.calls() == calls


def test_another_error_is_not_tried_again(compiler):
    compiler(needs="-mno-avx512fp16", stderr="a_op.cc:3:1: error: 'x' does not name a type")
    with pytest.raises(build.BuildError, match="'x' does not name a type"):
        build.library()
    assert compiler.calls() == 1


def test_a_failed_build_is_remembered_until_its_key_changes(cache, compiler):
    compiler(status=1, stderr=EIGEN)
    messages = []
    for _ in range(3):
        with pytest.raises(build.BuildError) as failure:
            build.library()
        messages.append(str(failure.value))
    assert compiler.calls() == 3  # the first start, with each instruction set less
    (remembered,) = cache.glob("*.failed")
    assert len(set(messages)) == 1
    assert messages[0] == (
        f"{os.environ['CXX']} fails: PacketMathFP16.h:740:49: error: expected initializer before "
        f"'<' token; name another compiler with CXX, or remove {remembered} to compile again"
    )
    compiler(version="fake 2")
    assert build.library().suffix == ".so"


def test_a_shortage_is_not_remembered(cache, compiler):
    compiler(status=1, stderr="a.s: fatal error: error writing to a.s: No space left on device")
    with pytest.raises(build.BuildError, match="fails: "):
        build.library()
    assert not list(cache.glob("*.failed"))
    compiler()
    assert build.library().suffix == ".so"


def test_a_compiler_that_cannot_run_is_no_crash(tmp_path, monkeypatch):
    path = tmp_path / "compiler"
    path.write_text("#!/nonexistent/interpreter\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("CXX", str(path))
    _assert_portable("No such file")


def test_a_library_that_cannot_be_loaded_is_no_crash(compiler):
    compiler()
    _assert_portable("file too short")


def test_a_cache_that_cannot_be_written_is_no_crash(tmp_path, monkeypatch, compiler):
    compiler()
    (tmp_path / "file").touch()
    monkeypatch.setenv("DISAN_TF_NATIVE_CACHE", str(tmp_path / "file" / "cache"))
    _assert_portable("Not a directory")


def test_two_processes_at_once_build_it_once(compiler):
    compiler(seconds=0.5)
    processes = [_start() for _ in range(2)]
    outputs = {process.communicate(timeout=60)[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert len(outputs) == 1 and compiler.calls() == 1


def test_a_killed_build_leaves_no_library_and_no_lock(cache, compiler):
    compiler(seconds=60)
    process = _start()
    _wait_for(compiler.calls)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not list(cache.glob("*.so"))
    compiler()
    again = _start()
    assert again.communicate(timeout=60)[0].strip().endswith(".so")
    assert compiler.calls() == 2 and len(list(cache.glob("*.so"))) == 1


@pytest.mark.parametrize("suffix", [".so", ".sha256"])
@pytest.mark.parametrize("kept", [0, 4])
def test_a_truncated_library_or_digest_is_built_again(compiler, kept, suffix):
    """Loading one could kill the process: pages beyond the end are mapped without content."""
    compiler()
    library = build.library()
    truncated = library.with_suffix(suffix)
    whole = truncated.read_bytes()
    truncated.write_bytes(whole[:kept])
    assert build.library() == library and truncated.read_bytes() == whole
    assert compiler.calls() == 2


def test_a_library_without_its_digest_is_built_again(compiler):
    compiler()
    build.library().with_suffix(".sha256").unlink()
    assert build.library().with_suffix(".sha256").exists() and compiler.calls() == 2


def test_folder_and_library_are_made_for_the_user_alone(cache, compiler, monkeypatch):
    compiler()
    monkeypatch.setenv("DISAN_TF_NATIVE_CACHE", str(cache / "deep" / "native"))
    before = os.umask(0)
    try:
        library = build.library()
    finally:
        os.umask(before)
    for path in (library, library.parent, cache / "deep", cache):
        assert path.stat().st_mode & 0o777 == 0o700, path


@pytest.mark.parametrize("mode", [0o770, 0o1777])
def test_a_cache_that_others_can_write_is_refused(cache, compiler, mode):
    compiler()
    cache.mkdir()
    cache.chmod(mode)
    _assert_portable(f"{cache} can be written by others (mode {mode:04o}), so code in it is not")
    assert compiler.calls() == 0 and list(cache.iterdir()) == []


def test_a_cache_of_another_user_is_refused(cache, compiler, give_away):
    compiler()
    cache.mkdir(mode=0o755)
    give_away(cache)
    _assert_portable(f"{cache} belongs to another user")
    assert compiler.calls() == 0 and list(cache.iterdir()) == []


@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("mode", [0o757, 0o777])
def test_a_cache_whose_parent_others_can_write_is_refused(
    cache, compiler, monkeypatch, mode, depth
):
    compiler()
    folder = cache / "one" / "two"
    monkeypatch.setenv("DISAN_TF_NATIVE_CACHE", str(folder))
    folder.mkdir(parents=True, mode=0o700)
    parent = folder.parents[depth]
    parent.chmod(mode)
    _assert_portable(
        f"{parent} can be written by others (mode {mode:04o}), so code below it, in {folder}, is "
        f"not loaded; run chmod go-w {parent} if it is yours, or name another folder with "
        "DISAN_TF_NATIVE_CACHE"
    )
    assert compiler.calls() == 0


def test_a_cache_whose_parent_belongs_to_another_user_is_refused(
    cache, compiler, monkeypatch, give_away
):
    compiler()
    cache.mkdir(mode=0o755)
    (cache / "mine").mkdir(mode=0o700)
    monkeypatch.setenv("DISAN_TF_NATIVE_CACHE", str(cache / "mine"))
    give_away(cache)
    with pytest.raises(build.BuildError, match=f"{cache} belongs to another user"):
        build.library()


def test_a_cache_in_a_sticky_folder_or_in_a_home_anywhere_is_used(cache, compiler, monkeypatch):
    compiler()
    cache.mkdir()
    cache.chmod(0o1777)  # like /tmp
    monkeypatch.setenv("DISAN_TF_NATIVE_CACHE", str(cache / "mine"))
    assert build.library().parent == cache / "mine"
    cache.chmod(0o777)
    with pytest.raises(build.BuildError):
        build.library()
    monkeypatch.delenv("DISAN_TF_NATIVE_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(cache / "home"))
    assert build.library().parent == cache / "home/.cache/disan_tf/native"
    (cache / "home").chmod(0o777)
    with pytest.raises(build.BuildError, match=f"{cache / 'home'} can be written by others"):
        build.library()


def test_a_library_that_others_can_write_is_refused(compiler):
    compiler()
    library = build.library()
    library.chmod(0o720)
    _assert_portable(f"{library} can be written by others")


def test_a_library_of_another_user_is_refused(compiler, give_away):
    compiler()
    library = build.library()
    give_away(library)
    with pytest.raises(build.BuildError, match="belongs to another user"):
        build.library()


def test_a_link_in_place_of_the_library_is_refused(cache, compiler, tmp_path):
    compiler()
    library = build.library()
    library.rename(tmp_path / "elsewhere.so")
    library.symlink_to(tmp_path / "elsewhere.so")
    _assert_portable(f"{library} is no regular file")


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A copy of the sources, to be changed."""
    folder = shutil.copytree(build.compiler.FOLDER, tmp_path / "sources")
    monkeypatch.setattr(build.compiler, "FOLDER", folder)
    return folder


def test_the_key_changes_with_every_source(sources, compiler):
    compiler()
    keys = [build.library()]
    for path in sorted([*sources.glob("*.cc"), *sources.glob("*.h")]):
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        keys.append(build.library())
    assert len(set(keys)) == len(keys) >= 5


def test_the_key_changes_with_compiler_tensorflow_flags_and_cpu(compiler, monkeypatch):
    compiler()
    keys = [build.library()]
    compiler(version="fake 2")
    keys.append(build.library())
    for place, name, value in (
        (tf, "__version__", "2.99"),
        (build.compiler, "FLAGS", ("-g",)),
        (build.compiler, "FEWER_SETS", ()),
        (build.platform, "machine", lambda: "another"),
        (build, "processor_name", lambda: "another"),
        (build, "instruction_sets", lambda: {"avx2"}),
    ):
        monkeypatch.setattr(place, name, value)
        keys.append(build.library())
    monkeypatch.setenv("DISAN_TF_NATIVE_FLAGS", "-mavx2")
    keys.append(build.library())
    assert len(set(keys)) == 9


def test_the_command_fails_if_a_compiler_makes_no_library(capsys, monkeypatch, compiler):
    compiler(status=1, stderr="a_op.cc:3:1: error: 'x' does not name a type")
    with pytest.raises(SystemExit, match="1"):
        runpy.run_module("disan_tf.ops.native", run_name="__main__")
    assert "'x' does not name a type" in capsys.readouterr().out
    monkeypatch.setenv("CXX", "/nonexistent")
    for function in (runtime.unavailable, runtime.library):
        function.cache_clear()
    runpy.run_module("disan_tf.ops.native", run_name="__main__")
    assert "there is no compiler /nonexistent" in capsys.readouterr().out
