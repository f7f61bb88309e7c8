"""A thin slice of `make faults`, and what makes its verdicts worth something."""

import errno
import os
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest

from data_prep.synthetic.treebank import write_treebank
from disan_tf.common.errors import UserError
from disan_tf.encoders import custom
from disan_tf.models import factory
from tests.measurements.failures import commands, edits, loaded_models
from tests.measurements.failures.commands import ForkServer, Outcome, build_library
from tests.measurements.failures.kills import Breaker
from tests.measurements.failures.mutated_files import (
    Target,
    result_targets,
    write_corpora,
    write_inputs,
)
from tests.measurements.failures.mutations import Reader
from tests.measurements.failures.mutators import damage, damage_json, damage_lines
from tests.measurements.failures.power import LOSSES, Disk, read_trace
from tests.measurements.failures.snapshots import differences, snapshot
from tests.support.models.bundles import make_bundle

CASES = 80
LINES = "the film is good .\n\nokra\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    server = ForkServer(build_library(tmp_path_factory.mktemp("library")))
    yield server
    server.close()


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return make_bundle(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def breaker(server, bundle, tmp_path_factory):
    folder = tmp_path_factory.mktemp("breaks")
    write_treebank(folder, 0, {"train": 20, "dev": 8, "test": 8})
    (folder / "lines.txt").write_text(LINES)
    return Breaker(server, folder / "out", folder, bundle)


@pytest.mark.parametrize("name", ["prepare", pytest.param("predict", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["kill", "write", "power"])
def test_a_command_that_is_broken_and_run_again_gives_what_it_gives_unbroken(breaker, kind, name):
    count, wrong = breaker.chain(kind, name, seed=1, most=2)
    assert not wrong and count


def test_the_operation_at_which_a_process_is_killed_does_not_happen(server, tmp_path):
    script = ("data_prep.synthetic.treebank", f"--data_dir={tmp_path}")
    killed = server.run(*script, folder=str(tmp_path), kill_at=1)
    assert killed.is_killed and not any(tmp_path.iterdir())
    whole = server.run(*script, folder=str(tmp_path))
    assert whole.complaint() is None and whole.operations > 5


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_the_operation_that_is_to_fail_is_told_in_a_sentence(server, tmp_path, error):
    script = ("data_prep.synthetic.treebank", f"--data_dir={tmp_path}")
    outcome = server.run(*script, folder=str(tmp_path), kill_at=8, error=error)
    assert outcome.status == 2 and outcome.stderr.startswith(f"{tmp_path}")
    assert os.strerror(error) in outcome.stderr and len(outcome.stderr.splitlines()) == 1


def test_a_trace_tells_what_a_loss_of_power_leaves(server, tmp_path):
    out, trace = tmp_path / "out", tmp_path / "trace"
    out.mkdir()
    command = ("data_prep.synthetic.treebank", f"--data_dir={out}")
    assert server.run(*command, folder=str(out), trace=str(trace)).complaint() is None
    whole, operations = snapshot(out), list(read_trace(trace))
    for count in range(len(operations) + 1):
        for loss in LOSSES:
            Disk(out, operations[:count]).restore(loss)
            left = snapshot(out, hidden=False)
            assert left.items() <= whole.items()
    assert left == whole


@pytest.mark.parametrize(
    ("code", "limit", "status"),
    [
        ("import time; time.sleep(60)", 1, None),
        ("while True: pass", 1, None),
        (
            "import time\nwhile time.process_time() < 1.7: time.sleep(.05); sum(range(5_000_000))",
            2,
            0,
        ),
    ],
)
def test_a_command_hangs_that_uses_no_processor_or_too_much(monkeypatch, code, limit, status):
    monkeypatch.setattr(commands, "LIMIT", limit)
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    assert commands._wait(process.pid, commands.Request([])) == status
    process.wait()  # it has ended, of which Popen knows nothing


def test_a_file_system_without_locks_stops_no_prediction(server, bundle):
    command = ("run.py", "--mode=predict", f"--checkpoint={bundle}", "--input=-")
    outcome = server.run(*command, lock_error=errno.ENOLCK, text=LINES)
    assert outcome.complaint() is None and len(outcome.stdout.splitlines()) == 3


@pytest.mark.slow
def test_what_is_edited_while_it_is_prepared_is_prepared_again(server, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    rows = "".join(f"the film {n % 7} is {n},{'good' if n % 2 else 'bad'}\n" for n in range(40))
    (tmp_path / "data/table.csv").write_text("text,label\n" + rows)
    monkeypatch.setattr(edits, "EDITED", {edits.TABLE: "table.csv"})
    assert edits.run_edits(server, tmp_path / "edits", tmp_path / "data", seed=1, cases=2) == []


def test_forged_bundles_are_refused_or_read_and_import_nothing(bundle, tmp_path):
    assert loaded_models.run_forged(bundle, tmp_path / "forged", seed=1, cases=20) == []


def test_a_bundle_that_imports_is_seen(bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(custom, "custom_encoder", custom.import_encoder)
    monkeypatch.setattr(factory, "custom_encoder", custom.import_encoder)
    monkeypatch.setattr(loaded_models, "ENCODERS", ("evil:X",))
    monkeypatch.setattr(loaded_models, "FORGERIES", loaded_models.FORGERIES[:1])
    (wrong,) = loaded_models.run_forged(bundle, tmp_path / "forged", seed=1, cases=1)
    assert "imports ['evil']" in wrong
    del sys.modules["evil"]


def test_odd_arguments_are_answered_or_refused(bundle):
    assert loaded_models.run_arguments(bundle, seed=1, cases=60) == []


def test_memory_that_a_call_keeps_is_seen(monkeypatch):
    kept = []
    monkeypatch.setattr(loaded_models, "WARM_UP", 10)
    assert loaded_models.growth(lambda number: kept.append(bytes([1]) * 1_000_000), 100) > 2 << 20
    assert loaded_models.growth(lambda number: bytes([1]) * 1_000_000, 100) < 2 << 20


def test_damaged_corpora_inputs_and_results_are_read_right_or_refused_in_a_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    reader = Reader(
        tmp_path / "empty",
        tmp_path / "copies",
        seed=5,
        find_targets=lambda it: write_corpora(it) + write_inputs(it) + result_targets(it),
    )
    verdicts = [reader.case(number) for number in range(CASES)]
    wrong = [it for it in verdicts if it["verdict"] not in ("read", "refused")]
    assert wrong == []
    refused = sum(it["verdict"] == "refused" for it in verdicts)
    assert CASES / 4 < refused < CASES


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (KeyError("label"), "KeyError"),
        (AssertionError("a wrong label"), "AssertionError"),
        (UserError("a.txt: no label; add one."), "refused"),
    ],
)
def test_what_is_neither_right_nor_refused_is_told(tmp_path, error, verdict):
    def find_targets(folder):
        (folder / "kind").mkdir()
        (folder / "kind" / "a.txt").write_bytes(b"whole")
        return [Target("kind", "a.txt", read, (damage,))]

    def read(folder):
        if (folder / "a.txt").read_bytes() != b"whole":
            raise error

    (tmp_path / "empty").mkdir()
    reader = Reader(tmp_path / "empty", tmp_path / "copies", 1, find_targets)
    verdicts = [reader.case(number)["verdict"] for number in range(5)]
    assert all(it == "read" or it.startswith(verdict) for it in verdicts)
    assert any(it.startswith(verdict) for it in verdicts)
    assert reader.case(0) == reader.case(0)


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
        ((2, "", "run.py: one.\n"), None),
        ((0, "done", ""), None),
    ],
)
def test_tracebacks_hangs_and_crashes_are_complaints(outcome, complaint):
    found = Outcome(*outcome, 0).complaint((0, 2))
    assert complaint is None and found is None or complaint in found
