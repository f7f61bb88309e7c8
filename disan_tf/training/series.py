"""A series of trainings with one config: over seeds, folds, or both.

    <workdir>/config.json            the config of the series
    <workdir>/seed-1/fold-0/         the work directory of a member
    <workdir>/series.json            scores of the finished members, means, standard deviations

Each member is trained, and its best model is scored on every split but train; `evaluate_series`
scores the best models on any split.
"""

import copy
import functools
import gc
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Optional

import tensorflow as tf
from ml_collections import ConfigDict

from disan_tf.common.atomic import write_json
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json
from disan_tf.common.options import MAX_NUMBER
from disan_tf.common.process import Owned, owned
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.runs import series_summary
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.run_summary import is_finished
from disan_tf.runs.series_summary import member_folders
from disan_tf.runs.work_directory import RUN, WorkDirectory, check_start
from disan_tf.training.checkpoints import has_checkpoint
from disan_tf.training.config import Config
from disan_tf.training.distribution.cluster import open_devices
from disan_tf.training.evaluation import write_evaluation
from disan_tf.training.initial_model import InitialModel
from disan_tf.training.train import train


@dataclass(frozen=True)
class Member:
    """One training of a series: its config, and its folder inside the series' folder."""

    name: str
    config: Config


def plan(config: Config, seeds: Sequence[str], folds: Sequence[str]) -> list[Member]:
    """Returns the members of a series, seed by seed.

    Args:
      config: its `seed`, the references to it (`data.seed`), and `data.fold` are replaced.
      seeds, folds: numbers from the command line, or "all" folds; () = the value in the config.

    Raises:
      UserError: a seed or a fold is not a number, occurs twice or does not exist.
    """
    members = []
    for seed in _numbers("seeds", seeds) or [None]:
        for fold in _fold_numbers(config, folds) or [None]:
            parts = {"seed": seed, "fold": fold}
            name = "/".join(f"{key}-{part}" for key, part in parts.items() if part is not None)
            tree = copy.deepcopy(config.tree)  # in which references to the seed follow it
            tree.seed = config.seed if seed is None else seed
            if fold is not None:
                tree.data.fold = fold
            data = replace(config.data, options=tree.data)
            members.append(Member(name, replace(config, tree=tree, data=data)))
    return members


def train_series(
    config: Config,
    workdir,
    seeds: Sequence[str],
    folds: Sequence[str],
    prepare: Callable[[ConfigDict], PreparedCorpus],
    pictures: bool = True,
    initial: Optional[InitialModel] = None,
) -> dict:
    """Trains and scores the unfinished members; the same call again resumes the series.

    Several processes may train one series at the same time. A member that another process trains
    is postponed until that process is done.

    Args:
      config, seeds, folds: see `plan`.
      workdir: the folder of the series, which must not hold a single training, another series, or
        members of another kind: seeds, folds, or folds for each seed.
      prepare: a function from a member's `config.data` to its prepared corpus.
      pictures, initial: see `disan_tf.training.train.train`.

    Returns:
      The summary by `summarise_series`, which is also written as `series.json`.
    """
    workdir = Path(workdir)
    members = plan(config, seeds, folds)
    if config.train.distribution == "multi_worker":
        raise UserError(
            "--seeds and --folds train one after another with several workers; start "
            "--config.train.distribution=multi_worker for each seed or fold by itself."
        )
    if (workdir / "run.json").exists():
        raise UserError(f"{workdir} holds a single training; choose another --workdir.")
    series = WorkDirectory(workdir, config)
    series.check()
    for folder in member_folders(workdir, [member.name for member in members]):
        check_start(folder, initial and initial.name)
    folders = [workdir / member.name / "checkpoints" for member in members]
    if initial and not all(map(has_checkpoint, folders)):
        initial.check_fits(config)
    tf.get_logger().addFilter(is_useful)
    if len(folds) == 1 and folds[0] != "all":
        most = config.data.options.folds - 1
        print(  # some users mean the number of folds
            f"--folds={folds[0]} trains the fold with the number {folds[0]} (of 0 to {most}); "
            "--folds=all trains all, and --config.data.folds sets their number.",
            flush=True,
        )
    options, postponed = (prepare, pictures, initial), []
    titles = [f"{it.name} ({n} of {len(members)})" for n, it in enumerate(members, start=1)]
    for member, title in zip(members, titles):
        try:
            _finish_member(series, member, title, *options)
        except Owned as owner:
            print(f"{member.name}: {owner}", flush=True)
            postponed.append((member, title))
    for member, title in postponed:
        _finish_member(series, member, title, *options, waits=True)
    return _record(workdir)


def evaluate_series(workdir, split: str, prepare: Callable[[ConfigDict], PreparedCorpus]) -> dict:
    """Scores the best models of the finished members on a split; see `train_series`."""
    workdir = Path(workdir)
    tf.get_logger().addFilter(is_useful)
    members = series_summary.read_members(workdir)
    for number, (folder, run) in enumerate(members, start=1):
        print(f"{folder.relative_to(workdir)} ({number} of {len(members)})", flush=True)
        _evaluate_member(folder, prepare(ConfigDict(run["config"]["data"])), [split])
        _free_memory()
    return _record(workdir)


def recorded_version(workdir) -> Optional[int]:
    """Returns the version of the tokenizer in a work directory or series; None in a new folder.

    A training that resumes, and all members of a series, keep the version of the first step.
    """
    folders = Path(workdir), *member_folders(Path(workdir))
    for path in (folder / "run.json" for folder in folders):
        if path.exists():
            return read_json(path, "choose another --workdir", RUN).get("tokenizer_version", 1)
    return None


def is_series(workdir) -> bool:
    """Returns whether a folder holds a series, finished or not."""
    return Path(workdir, "series.json").exists() or bool(member_folders(Path(workdir)))


def _record(workdir: Path) -> dict:
    """Writes, prints and returns the summary of a series."""
    summary = series_summary.summarise_series(workdir)
    write_json(workdir / "series.json", summary)
    print(series_summary.render_series(summary))
    return summary


def _finish_member(series, member, title, prepare, pictures, initial, waits=False):
    """Trains a member unless it is finished; raises Owned if another process trains it."""
    config, folder = member.config, series.path / member.name
    with owned(folder, waits):
        work = WorkDirectory(folder, config)
        work.check(initial and initial.name)
        is_done = is_finished(folder, config.train.schedule)
        print(title + (": finished" if is_done else ""), flush=True)
        if is_done:
            series.check()  # another process may have claimed it
            series.claim()
            work.claim()
        else:
            corpus_of = functools.cache(lambda: prepare(config.data.options))
            with open_devices(config.train.distribution) as devices:
                train(config, corpus_of, folder, devices, initial, pictures, series)
            corpus = corpus_of()
            _evaluate_member(folder, corpus, sorted(set(corpus.splits) - {"train"}))
            _free_memory()
            write_json(series.path / "series.json", series_summary.summarise_series(series.path))


def is_useful(record) -> bool:
    """Returns False for TensorFlow's retracing warning: each member traces its own functions."""
    return "tf.function retracing" not in record.getMessage()


def check_no_series(workdir) -> None:
    """Raises UserError if a folder for a single training holds a series."""
    if is_series(workdir):
        raise UserError(
            f"{workdir} holds a series; say which --seeds or --folds, or choose another --workdir."
        )


def _numbers(flag, texts):
    """Returns the numbers in a flag's texts; raises UserError for a wrong text."""
    numbers = []
    for text in texts:
        if not text.isdecimal():
            raise UserError(f"--{flag}={','.join(texts)}: {text!r} is not a whole number.")
        digits = text.lstrip("0") or "0"  # int() rejects thousands of digits
        if len(digits) > len(str(MAX_NUMBER)) or int(digits) > MAX_NUMBER:
            raise UserError(f"--{flag}={','.join(texts)}: {digits} must be at most {MAX_NUMBER:,}.")
        numbers.append(int(digits))
    if len(set(numbers)) < len(numbers):
        raise UserError(f"--{flag}={','.join(texts)} names one twice; name each once.")
    return numbers


def _fold_numbers(config, folds):
    data = config.data.options
    count = data.get("folds")
    if folds and not count:
        raise UserError(
            f"--folds={','.join(folds)}: corpus {data.corpus} has an official split and "
            "no folds; leave --folds out."
        )
    numbers = list(range(count)) if list(folds) == ["all"] else _numbers("folds", folds)
    if numbers and max(numbers) >= count:
        raise UserError(f"--folds={','.join(folds)}: the folds go from 0 to {count - 1}.")
    return numbers


def _evaluate_member(folder, corpus, splits):
    bundle = load_bundle(folder / "best")
    for split in splits:
        write_evaluation(folder / "evaluation", bundle, corpus, split)


def _free_memory():
    tf.keras.backend.clear_session()
    gc.collect()  # models and their compiled steps refer to each other
