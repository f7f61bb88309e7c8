"""Digests of files, without what always differs between two runs of one command."""

import hashlib
import json
import re
from pathlib import Path

import h5py
import numpy as np
import tensorflow as tf

from disan_tf.training.monitoring.tensorboard import EVENT_FILES

# Names of values that differ between two runs of one command: times, and the machine's load.
_TIMES = re.compile("seconds|minutes|examples_per|mtime|load_")
_SPEEDS = re.compile("second|hparams|config")  # in the tags of events
_NOT_COMPARED = {".lock", "checkpoint"}  # `checkpoint` has times; step-* tells what it names
_UNORDERED = (".pb", ".png")  # graphs are not written in one order
_COUNTERS = {"_CHECKPOINTABLE_OBJECT_GRAPH", "save_counter/.ATTRIBUTES/VARIABLE_VALUE"}


def snapshot(folder: Path, hidden: bool = True) -> dict[str, str]:
    """Returns name -> digest of the content of files below a folder; hidden ones are temporary."""
    folder, found = Path(folder), {}
    older = _older_checkpoints(folder)
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_dir() or path.name in _NOT_COMPARED or path.with_suffix("") in older:
            continue
        if not hidden and "/." in f"/{name}":
            continue
        is_event = path.match(EVENT_FILES)
        name = f"{path.parent.relative_to(folder)}/events" if is_event else name
        name = re.sub(r"^(saved_model\w*)/[0-9]+/", r"\1/newest/", name)  # numbers count exports
        name = f"{name} again" if name in found and not is_event else name
        found[name] = _digest(_content(path, folder))
    return found


def differences(expected: dict, actual: dict) -> list[str]:
    """Returns a line for each file that differs, or that only one folder has."""
    lines = [f"{name} is missing" for name in sorted(expected.keys() - actual.keys())]
    lines += [f"{name} is left over" for name in sorted(actual.keys() - expected.keys())]
    both = sorted(expected.keys() & actual.keys())
    return lines + [f"{name} differs" for name in both if expected[name] != actual[name]]


def _older_checkpoints(folder: Path) -> set[Path]:
    """Returns each training's last but one checkpoint, whose step may be that of a SIGTERM."""
    older = set()
    for parent in folder.rglob("checkpoints"):
        steps = sorted(int(path.stem[len("step-") :]) for path in parent.glob("step-*.index"))
        older.update(parent / f"step-{step}" for step in steps[-2:-1])
    return older


def _content(path: Path, folder: Path):
    """Returns the values in a file, without times and without the name of the folder."""
    if path.match(EVENT_FILES):
        return sorted(event for each in path.parent.glob(EVENT_FILES) for event in _events(each))
    if path.parent.name == "variables" or path.name.startswith("step-"):
        return _variables(path) if path.suffix == ".index" else "there"
    if path.suffix in (".h5", ".hdf5"):
        return _arrays_of_hdf5(path)
    if path.suffix in (".npz", ".npy"):
        content = np.load(path)
        return content if path.suffix == ".npy" else [(name, content[name]) for name in content]
    if path.suffix in _UNORDERED:
        return "there"
    text = path.read_bytes().replace(str(folder).encode(), b"FOLDER")
    if path.suffix in (".json", ".jsonl"):
        lines = [text] if path.suffix == ".json" else text.splitlines()
        return [_timeless(json.loads(line)) for line in lines]
    return text


def _variables(path: Path) -> list:
    """Returns the values by name; in an export, whose names are arbitrary, without names."""
    reader = tf.train.load_checkpoint(str(path.with_suffix("")))
    names = sorted(reader.get_variable_to_shape_map().keys() - _COUNTERS)
    if path.parent.name == "variables":
        return sorted(_digest(reader.get_tensor(name)) for name in names)
    return [(name, reader.get_tensor(name)) for name in names]


def _arrays_of_hdf5(path: Path) -> list:
    found = []
    with h5py.File(path) as file:
        file.visititems(
            lambda name, item: found.append((name, item[()])) if hasattr(item, "dtype") else None
        )
    return found


def _events(path: Path) -> list[tuple]:
    """Returns (tag, step, digest of the value) for each event, except for speeds."""
    records = tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    return [
        (value.tag, event.step, _digest(tf.make_ndarray(value.tensor).tolist()))
        for event in map(tf.compat.v1.Event.FromString, records)
        for value in event.summary.value
        if not _SPEEDS.search(value.tag)
    ]


def _timeless(value):
    if isinstance(value, dict):
        return {key: _timeless(it) for key, it in value.items() if not _TIMES.search(key)}
    return [_timeless(it) for it in value] if isinstance(value, list) else value


def _digest(value) -> str:
    def plain(it):
        if isinstance(it, (np.ndarray, np.generic)):
            it = np.asarray(it)
            return [str(it.dtype), list(it.shape), hashlib.sha256(it.tobytes()).hexdigest()]
        return it.hex() if isinstance(it, bytes) else str(it)

    return hashlib.sha256(json.dumps(value, default=plain).encode()).hexdigest()[:12]
