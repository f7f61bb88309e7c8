"""A thin slice of `make faults`, and what makes its verdicts worth something."""

import argparse
import errno
import os
import random
import shutil
import signal
import sys
import time

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.encoders import custom
from disan_tf.models import factory
from tests.measurements.failures import breaks, calls, commands, run_failures, world
from tests.measurements.failures.commands import Outcome
from tests.measurements.failures.damage import damage, damage_json, damage_lines
from tests.measurements.failures.power import LOSSES, Disk, read_trace
from tests.measurements.failures.run_failures import Kind, judge, try_case
from tests.measurements.failures.snapshots import differences, snapshot
from tests.measurements.failures.targets import Damaged, Target, raw_targets, result_targets
from tests.measurements.failures.world import Case, World
from tests.support.models.bundles import make_bundle
from tests.support.runs.command import SERVER

CASES = 60
LINES = "the film is good .\n\nokra\n"
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A world with a model that has learnt nothing."""
    folder = tmp_path_factory.mktemp("world")
    model = make_bundle(folder / "made")
    (folder / "model").mkdir()
    model.rename(folder / "model/best")
    (folder / "data").mkdir()
    place = World(folder / "out", world.write_data(folder / "data"), folder / "model")
    yield place
    place.close()


@pytest.fixture(scope="module")
def server(place):
    return place.servers[0]


@needs_gcc
@pytest.mark.parametrize("name", ["prepare", pytest.param("predict", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["kill", "write", "power"])
def test_a_command_that_is_broken_and_run_again_gives_what_it_gives_unbroken(place, kind, name):
    found, wrong = breaks.chain(place, kind, name, random.Random(1), most=1 + (kind == "kill"))
    assert not wrong and found


@needs_gcc
def test_the_operation_at_which_a_process_is_killed_does_not_happen(server, tmp_path):
    script = ("data_prep.synthetic.treebank", f"--data_dir={tmp_path}")
    killed = server.run(*script, folder=str(tmp_path), kill_at=1)
    assert killed.status == -signal.SIGKILL and not any(tmp_path.iterdir())
    whole = server.run(*script, folder=str(tmp_path)).check()
    assert whole.operations > 5


@needs_gcc
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_the_operation_that_is_to_fail_is_told_in_a_sentence(server, tmp_path, error):
    script = ("data_prep.synthetic.treebank", f"--data_dir={tmp_path}")
    outcome = server.run(*script, folder=str(tmp_path), kill_at=8, error=error)
    assert outcome.status == 2 and outcome.stderr.startswith(f"{tmp_path}")
    assert os.strerror(error) in outcome.stderr and len(outcome.stderr.splitlines()) == 1


@needs_gcc
def test_a_trace_tells_what_a_loss_of_power_leaves(server, tmp_path):
    out, trace = tmp_path / "out", tmp_path / "trace"
    out.mkdir()
    command = ("data_prep.synthetic.treebank", f"--data_dir={out}")
    server.run(*command, folder=str(out), trace=str(trace)).check()
    whole, operations = snapshot(out), list(read_trace(trace))
    for count in range(len(operations) + 1):
        for loss in LOSSES:
            Disk(out, operations[:count]).restore(loss)
            left = snapshot(out, hidden=False)
            assert left.items() <= whole.items()
    assert left == whole


@pytest.mark.parametrize(("speed", "limit", "status"), [(0, 1, None), (5, 1, None), (0.7, 2, 0)])
def test_a_command_hangs_that_uses_no_processor_or_too_much(monkeypatch, speed, limit, status):
    """`speed` is in seconds of a processor a second."""
    begun = time.monotonic()
    monkeypatch.setattr(commands, "LIMIT", limit)
    monkeypatch.setattr(
        commands, "_processor_seconds", lambda process: speed * (time.monotonic() - begun)
    )
    process = os.posix_spawn("/bin/sleep", ["sleep", "2.3"], os.environ, setpgroup=0)
    assert commands._wait(process, commands.Request([])) == status


@needs_gcc
def test_a_file_system_without_locks_stops_no_prediction(server, place):
    command = ("run.py", "--mode=predict", f"--checkpoint={place.model}", "--input=-")
    outcome = server.run(*command, lock_error=errno.ENOLCK, text=LINES).check()
    assert len(outcome.stdout.splitlines()) == 3


@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize("number", range(2))
def test_what_is_edited_while_it_is_prepared_is_prepared_again(place, number, monkeypatch):
    monkeypatch.setattr(breaks, "EDITED", {"table": "table.csv"})
    assert try_case(place, "edits", number)[1] == "right"


@pytest.mark.parametrize("kind, cases", [("forged", 20), ("arguments", 60)])
def test_a_case_is_right_or_refused(place, kind, cases):
    verdicts = [try_case(place, kind, number) for number in range(cases)]
    assert [it for it in verdicts if it[1] not in ("right", "refused")] == []
    assert verdicts[0] == try_case(place, kind, 0)


def test_a_bundle_that_imports_is_seen(place, monkeypatch):
    monkeypatch.setattr(custom, "custom_encoder", custom.import_encoder)
    monkeypatch.setattr(factory, "custom_encoder", custom.import_encoder)
    monkeypatch.setattr(calls, "ENCODERS", ("evil:X",))
    monkeypatch.setattr(calls, "FORGERIES", calls.FORGERIES[:1])
    assert "imports ['evil']" in try_case(place, "forged", 1)[1]
    del sys.modules["evil"]


def test_memory_that_a_call_keeps_is_seen(monkeypatch):
    kept = []
    monkeypatch.setattr(calls, "WARM_UP", 10)
    assert calls.growth(lambda number: kept.append(bytes([1]) * 1_000_000), 100) > calls.LEAK
    assert calls.growth(lambda number: bytes([1]) * 1_000_000, 100) < calls.LEAK


def test_damaged_corpora_inputs_and_results_are_read_right_or_refused_in_a_sentence(tmp_path):
    place = World(tmp_path / "out", tmp_path, tmp_path, seed=5)
    targets = raw_targets(tmp_path) + result_targets(tmp_path)[1:2]  # whose tables take a second
    place.keep("mutations", lambda: Damaged(tmp_path, targets))
    verdicts = [try_case(place, "mutations", number) for number in range(CASES)]
    assert [it for it in verdicts if it[1] not in ("right", "refused")] == []
    assert CASES / 4 < sum(verdict == "refused" for _, verdict in verdicts) < CASES


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (KeyError("label"), "KeyError"),
        (AssertionError("a wrong label"), "AssertionError"),
        (UserError("a.txt: no label; add one."), "refused"),
    ],
)
def test_what_is_neither_right_nor_refused_is_told(tmp_path, error, verdict):
    def read(folder):
        if (folder / "a.txt").read_bytes() != b"whole":
            raise error

    (tmp_path / "a.txt").write_bytes(b"whole")
    files = Damaged(tmp_path, [Target("a.txt", read, (damage,))])
    kind = Kind(5, files.read)
    verdicts = [judge(kind, Case(None, 0, random.Random(seed))) for seed in range(5)]
    assert all(it == "right" or it.startswith(verdict) for it in verdicts)
    assert any(it.startswith(verdict) for it in verdicts)
    assert not judge(kind._replace(limit=0), Case(None, 0, random.Random(1))).startswith("ref")


def test_a_process_that_ends_is_begun_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(run_failures.multiprocessing, "get_context", lambda name: SERVER)
    options = argparse.Namespace(seed=1, leaks=1, commands=[])
    worker = run_failures.Worker(options, tmp_path / "process", tmp_path)
    (tmp_path / "data").mkdir()
    assert worker.ask("leaks", 1)[1] == "refused"  # there is no model
    pid = worker.process.pid
    os.kill(pid, signal.SIGKILL)
    assert worker.ask("leaks", 1) == ("?", "ends the process with -9")
    assert worker.ask("leaks", 1)[1] == "refused" and worker.process.pid != pid
    worker.end()


@pytest.mark.parametrize("change", [damage, damage_lines, damage_json])
def test_a_seed_decides_the_damage(change):
    content = b'{"text": "hot soup", "label": [1, 2, 3]}\n'
    changed = [change(content, random.Random(seed)) for seed in range(20)]
    assert changed == [change(content, random.Random(seed)) for seed in range(20)]
    assert len(set(changed)) > 10


def test_snapshots_tell_what_is_missing_left_over_or_different(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, value in ((one, 1.0), (other, 2.0)):
        folder.mkdir()
        np.save(folder / "array.npy", np.array([value]))
        (folder / "metrics.jsonl").write_text(f'{{"step": 1, "seconds": {value}}}\n')
        (folder / "run.json").write_text(f'{{"machine": {{"load_before": {value}}}}}\n')
    (one / "gone.txt").touch()
    (other / ".half.txt").touch()
    assert differences(snapshot(one), snapshot(other)) == [
        "gone.txt is missing",
        ".half.txt is left over",
        "array.npy differs",
    ]
    assert ".half.txt" not in snapshot(other, hidden=False)


@pytest.mark.parametrize(
    ("outcome", "complaint"),
    [
        ((None, "", ""), "hangs"),
        ((1, "", "Traceback (most recent call last): ..."), "status 1"),
        ((0, "", "Traceback (most recent call last): ..."), "status 0"),
        ((-11, "", ""), "status -11"),
        ((2, "", "run.py: one.\nrun.py: two.\n"), "2 sentences"),
        ((2, "", "run.py: one.\n"), ""),
        ((0, "done", ""), ""),
    ],
)
def test_tracebacks_hangs_and_crashes_are_complaints(outcome, complaint):
    found = Outcome(*outcome, 0).complaint((0, 2))
    assert complaint in found if complaint else not found
