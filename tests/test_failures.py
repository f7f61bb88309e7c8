"""A thin slice of `make faults`, and what makes its verdicts worth something."""

import errno
import os
import random
import shutil
import signal

import numpy as np
import pytest

from disan_tf.serving.inference.model import load_reader
from tests.measurements.failures import fuzz_server, run_failures, world
from tests.measurements.failures.commands import Outcome
from tests.measurements.failures.power import LOSSES, Disk, read_trace
from tests.measurements.failures.snapshots import differences, snapshot
from tests.measurements.failures.world import World
from tests.measurements.failures.wrong_requests import KINDS
from tests.support.http import running
from tests.support.models.bundles import make_bundle

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
    return place.server


@needs_gcc
@pytest.mark.parametrize("name", ["prepare", pytest.param("predict", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["kill", "write", "power"])
def test_a_command_that_is_broken_and_run_again_gives_what_it_gives_unbroken(place, kind, name):
    most = 1 + (kind == "kill")
    breaks, wrong = run_failures.chain(place, kind, name, random.Random(1), most)
    assert not wrong and breaks


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


@pytest.fixture(scope="module")
def address():
    """The host and port of a server."""
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        pytest.importorskip(module)
    from disan_tf.serving.server.app import Application
    from disan_tf.serving.server.service import Limits
    from disan_tf.serving.server.texts import TextModel

    limits = Limits(timeout=fuzz_server.TIMEOUT)
    with running(Application(TextModel(load_reader("demo")), "demo", limits)) as address:
        host, port = address.removeprefix("http://").split(":")
        yield host, int(port)


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_requests_get_a_response_that_is_no_500(address, kind):
    tried = [fuzz_server.try_case(address, kind, number, seed=1) for number in range(20)]
    assert not [wrong for _, wrong in tried if wrong]
    assert {status for status, _ in tried} & {"400", "422"}


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ((200, b"{}"), ""),
        ((503, b"later"), ""),
        ((422, b'{"detail": "short"}'), ""),
        ((500, b"{}"), "status 500"),
        ((502, b""), "status 502"),
        ((422, b"\xff"), "the refusal is"),
        ((422, b'{"detail": "%s"}' % (b"x" * 301)), "301 characters"),
        (None, "no response"),
    ],
)
def test_errors_and_long_refusals_are_complaints(answer, complaint):
    found = fuzz_server.complaint(b"POST", answer)
    assert complaint in found if complaint else not found
