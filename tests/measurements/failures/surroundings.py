"""Commands in bad surroundings: no permission, no home, no compiler, company."""

import errno
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

from tests.measurements.failures.commands import ForkServer
from tests.measurements.failures.scenarios import ALL, fresh
from tests.measurements.failures.snapshots import differences, snapshot

FORBIDDEN = ("disan", "prepare", "predict", "export")
LOCK_ERRORS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # of file systems without locks
Case = tuple[str, Callable[[], str]]  # a name, and what says "" or what is wrong


class Surroundings:
    """Runs commands where something is missing.

    Args: two servers, which run at the same time; a folder for output; `write_data`'s folder;
      `train_model`'s folder.
    """

    def __init__(self, servers: list[ForkServer], folder: Path, data: Path, model: Path):
        self._servers, self._folder = servers, folder
        self._data, self._model = data, model
        self._unbroken = {}

    def cases(self) -> Iterator[Case]:
        """All cases, each with its name."""
        for name in FORBIDDEN:
            yield f"{name} without permission", lambda it=name: self._forbidden(it)
        none = {"HOME": None, "XDG_CACHE_HOME": None, "DISAN_TF_NATIVE_CACHE": None}
        locked = {"DISAN_TF_NATIVE_CACHE": "/proc/nowhere"}
        yield "no home", lambda: self._as_ever("predict", none)
        yield "no compiler", lambda: self._as_ever("predict", {"CXX": "/nowhere/g++"})
        yield "read-only native cache", lambda: self._as_ever("predict", locked)
        yield "two of one work directory", lambda: self._two("disan", statuses=(0, 2))
        yield "two of one series", lambda: self._two("series")
        yield "two of one prepared corpus", lambda: self._two("prepare")
        yield "two of one ELMo cache", lambda: self._two("elmo", "--prepared_dir")
        yield "two of one native cache", lambda: self._two_builds()
        yield "two of one export", lambda: self._two_exports()
        for number in LOCK_ERRORS:
            yield f"locks fail with {errno.errorcode[number]}", lambda it=number: self._unlocked(it)

    def _run(self, name: str, out: Path, server: int = 0, more=(), **options):
        command = ALL[name].command(self._data, out, self._model)
        return self._servers[server].run(*command, *more, folder=str(out), **options)

    def _files(self, name: str) -> dict:
        """Of an unbroken run."""
        if name not in self._unbroken:
            out = fresh(self._folder / f"{name}-unbroken")
            outcome = self._run(name, out)
            assert outcome.complaint() is None, outcome.complaint()
            self._unbroken[name] = snapshot(out)
        return self._unbroken[name]

    def _again(self, name: str, out: Path) -> str:
        """What is wrong after the same command, whom nothing stands in the way of."""
        outcome = self._run(name, out)
        return outcome.complaint() or "; ".join(differences(self._files(name), snapshot(out)))

    def _forbidden(self, name: str) -> str:
        out = fresh(self._folder / name)
        out.chmod(0o555)
        outcome = self._run(name, out, rights=False)
        out.chmod(0o755)
        return outcome.complaint((2,)) or self._again(name, out)

    def _as_ever(self, name: str, environment: dict) -> str:
        out = fresh(self._folder / name)
        outcome = self._run(name, out, environment=environment)
        return outcome.complaint() or "; ".join(
            line for line in differences(self._files(name), snapshot(out)) if "differs" not in line
        )  # the portable operations round otherwise

    def _both(self, *runs) -> list:
        with ThreadPoolExecutor(2) as pool:
            return [it.result() for it in [pool.submit(run) for run in runs]]

    def _two(self, name: str, shared: str = "", statuses=(0,)) -> str:
        """Both end well, or one says that the other works: in one folder, or with one shared.

        Args:
          name: of the scenario.
          shared: a flag for a folder that both share; "" = they share all.
          statuses: with which they may end, one of them with 0.
        """
        expected, folder = self._files(name), fresh(self._folder / name)
        outs = [folder / "0", folder / "1"] if shared else [folder, folder]
        for out in outs:
            out.mkdir(exist_ok=True)
        more = [f"{shared}={folder / 'shared'}"] if shared else []
        outcomes = self._both(*(lambda it=it: self._run(name, outs[it], it, more) for it in (0, 1)))
        wrong = [complaint for it in outcomes if (complaint := it.complaint(statuses))]
        wrong += [] if wrong or any(it.status == 0 for it in outcomes) else ["none works"]
        if shared:
            expected = {key: it for key, it in expected.items() if not key.startswith("prepared/")}
        return "; ".join(
            wrong + [line for out in outs for line in differences(expected, snapshot(out))]
        )

    def _two_builds(self) -> str:
        cache = self._folder / "native"
        shutil.rmtree(cache, ignore_errors=True)
        environment = {"DISAN_TF_NATIVE_CACHE": str(cache)}
        build = "disan_tf.ops.native"
        outcomes = self._both(
            *(lambda it=it: self._servers[it].run(build, environment=environment) for it in (0, 1))
        )
        wrong = [it.complaint() for it in outcomes if it.complaint()]
        wrong += [it.stdout for it in outcomes if "native operations" not in it.stdout]
        wrong += [] if len(list(cache.glob("*.so"))) == 1 else ["not one library"]
        return "; ".join(wrong)

    def _two_exports(self) -> str:
        """Both end well, and the newer is there; it removes the older one if it began after it."""
        out = fresh(self._folder / "export")
        outcomes = self._both(*(lambda it=it: self._run("export", out, it) for it in (0, 1)))
        wrong = [it.complaint() for it in outcomes if it.complaint()]
        named = [
            Path(line) for it in outcomes for line in it.stdout.splitlines() if str(out) in line
        ]
        newer = [path for path in named if path.name == max(path.name for path in named)]
        wrong += [f"{path} is missing" for path in newer if not path.is_dir()]
        numbers = len(newer), len(named)
        return "; ".join(wrong or ([] if numbers == (2, 4) else [f"{numbers} paths, not 2 of 4"]))

    def _unlocked(self, number: int) -> str:
        """A training goes on after a warning."""
        expected, out = self._files("disan"), fresh(self._folder / "disan")
        outcome = self._run("disan", out, lock_error=number)
        if not outcome.complaint() and "cannot be locked" not in outcome.stderr:
            return "no warning"
        return outcome.complaint() or "; ".join(differences(expected, snapshot(out)))
