"""TensorBoard: curves, the graph, gates, attention entropy, pictures and hyper-parameters."""

import hashlib
import itertools
import json
import os
import platform
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Callable

import numpy as np
import tensorflow as tf
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.histogram.summary_v2 import histogram_pb
from tensorboard.plugins.hparams import api as hparams
from tensorboard.plugins.image.metadata import create_summary_metadata
from tensorboard.plugins.scalar.summary_v2 import scalar_pb
from tensorboard.plugins.text.summary_v2 import text_pb
from tensorboard.util.tensor_util import make_tensor_proto

from disan_tf.common.atomic import sync_and_rename
from disan_tf.common.options import flatten

EVENT_FILES = "events.out.tfevents.*"
_NUMBERS = itertools.count()  # of the files of this process
_FRAME = 16  # bytes around a record: its length and two checksums


class TensorBoardLogger(tf.keras.callbacks.Callback):
    """Writes the event files of a training; a resumed training adds further files.

    `train/` has the loss, the score and the examples per second (without evaluations), as means
    over the steps of a line in `metrics.jsonl`. `dev/` has the loss and the scores of every
    evaluation, histograms of gates and attention entropy on a fixed batch, the pictures, the
    evaluation step's graph, and the hyper-parameters, which TensorBoard shows beside the scores of
    their folder. `<split>/` has the scores of a split that is only watched. The directory itself
    has the config. Steps are counted from 1, as in `metrics.jsonl`. Events of a killed process are
    removed if their steps are repeated.

    Args:
      directory, config: `<workdir>/tensorboard`, and the training's config.
      probe, evaluation_step: the model's inputs for the histograms, and the step of the graph.
      examples: the mean number of examples in a step.
      pictures: functions that return pairs of a name and <uint8>[height, width, 3].
    """

    def __init__(
        self,
        directory,
        config,
        probe,
        evaluation_step,
        examples: float,
        pictures: Sequence[Callable[[], Iterable[tuple[str, np.ndarray]]]] = (),
    ):
        super().__init__()
        self._directory = Path(directory)
        self._config = config
        self._probe = [tf.convert_to_tensor(tensor) for tensor in probe]
        self._evaluation_step = evaluation_step
        self._examples = examples
        self._pictures = pictures

    def on_train_begin(self, logs=None):
        last_step = logs["step"]
        drop_later_events(self._directory, last_step)
        if logs["measured"]:  # a point of this step, with which a phase ended, is written again
            drop_later_events(self._directory / "train", last_step - 1)
        if not last_step:
            writer = EventWriter(self._directory)
            lines = json.dumps(self._config.to_dict(), indent=2).splitlines()
            block = "".join(f"    {line}\n" for line in lines)  # of code, displayed unchanged
            writer.write(0, summary=text_pb("config", block))
            writer.close()
        self._writers = {
            split: EventWriter(self._directory / split)
            for split in ("train", "dev", *self._config.evaluate.splits)
        }
        self._writers["dev"].write(0, summary=hparams_summary(self._config))
        self._histograms = tf.function(
            lambda: attention_histograms(self.model, *self._probe), autograph=False
        )
        self._graph_written = False
        self._logs, self._steps = logs["measured"], 0
        self._started = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        if self._logs and logs.get("phase") != self._logs[0].get("phase"):
            self._write_training(batch)  # a point holds one phase
        self._logs.append(logs)
        self._steps += 1
        if self._config.train.schedule.is_logged(batch + 1):
            self._write_training(batch + 1)

    def _write_training(self, step):
        examples = self._steps * self._examples  # in this process
        means = {name: np.mean([logs[name] for logs in self._logs]) for name in self._logs[0]}
        means["examples_per_second"] = examples / self._seconds()
        self._write_scalars("train", step, means)
        self._logs, self._steps = [], 0
        self._started = time.monotonic()

    def _write_scalars(self, split, step, scores):
        for name, value in scores.items():
            self._writers[split].write(step, summary=scalar_pb(name, value))
        self._writers[split].flush()

    def _seconds(self):
        return time.monotonic() - self._started

    def on_test_begin(self, logs=None):
        self._trained = self._seconds()

    def on_test_end(self, logs=None):
        dev = dict(logs)
        step, watched = dev.pop("step"), dev.pop("watched", {})
        for split, scores in {"dev": dev, **watched}.items():
            self._write_scalars(split, step, scores)
        writer = self._writers["dev"]
        for name, values in self._histograms().items():
            writer.write(step, summary=histogram_pb(name, values.numpy()))
        for name, picture in (pair for draw in self._pictures for pair in draw()):
            writer.write(step, summary=image_summary(name, picture))
        if not self._graph_written:
            graph = self._evaluation_step.get_concrete_function().graph.as_graph_def()
            writer.write(step, graph_def=graph.SerializeToString())
            self._graph_written = True
        writer.flush()
        self._started = time.monotonic() - self._trained

    def on_train_end(self, logs=None):
        for writer in self._writers.values():
            writer.close()


def image_summary(name: str, picture: np.ndarray) -> Summary:
    """Returns the summary of a picture <uint8>[height, width, 3]."""
    height, width, _ = picture.shape
    content = [str(width).encode(), str(height).encode(), tf.io.encode_png(picture).numpy()]
    metadata = create_summary_metadata(display_name=None, description=None)
    tensor = make_tensor_proto(content)
    return Summary(value=[Summary.Value(tag=name, tensor=tensor, metadata=metadata)])


def attention_histograms(model, *inputs: tf.Tensor) -> dict:
    """Computes the gate values, attention entropies and selections of a batch of inputs.

    The entropy -sum_i p_i ln p_i is in nats: 0 if a feature attends to one token, ln n if it
    attends to n tokens equally. Padding, and tokens that may attend to nothing, are left out.

    Returns:
      A dictionary. "gate/<name>" is <float32>[tokens, units]. "attention_entropy/<name>" is
      <float32>[heads, features] for an attention between tokens, and <float32>[batch, features]
      for an attention that compresses a sentence. "selected/<name>" is <float32>[tokens, 1], 1 for
      selected tokens. DiSAN has the names "gate/forward", "attention_entropy/source2token" and so
      on; a pair has "gate/premise_forward" and so on.
    """
    tensors = model.attend(*inputs)
    prefixes = [f"{field}_" for field in model.fields] if len(model.fields) > 1 else [""]
    return dict(
        _histogram(name, tensor, tf.not_equal(field_ids, 0))
        for prefix, field_ids in zip(prefixes, inputs)
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    )


def _histogram(name, tensor, mask):
    """Returns a histogram's name and values, from an attention tensor of one field."""
    if name.startswith("selected_"):
        return name.replace("_", "/"), tf.boolean_mask(tensor, mask)
    if name.endswith("_gate"):
        gate = tf.boolean_mask(tensor, mask)
        return f"gate/{name.removesuffix('_gate')}", tf.cast(gate, tf.float32)
    entropy_name = f"attention_entropy/{name.removesuffix('_attention')}"
    if tensor.shape.rank == 3:  # [batch, token, features]
        return entropy_name, entropy(tensor, axis=1)
    attends = mask & tf.reduce_any(tensor > 0.0, axis=[2, 3])  # [batch, head, dependent, ...]
    return entropy_name, tf.boolean_mask(entropy(tensor, axis=2), attends)


def entropy(weights: tf.Tensor, axis: int) -> tf.Tensor:
    """Computes -sum p ln p of weights <float>[...] along an axis, in nats; 0 ln 0 = 0."""
    return -tf.reduce_sum(tf.math.xlogy(weights, weights), axis=axis)


def hparams_summary(config) -> Summary:
    """Returns the summary of all options of a training's config as hyper-parameters.

    TensorBoard itself finds the scores, and shows the options in which trainings differ first; a
    description of the experiment would fix the order.
    """
    values = {  # of the types that TensorBoard stores
        name: value if isinstance(value, (bool, int, float, str)) else str(value)
        for name, value in flatten(config.to_dict()).items()
    }
    digest = hashlib.sha256(json.dumps(config.to_dict(), sort_keys=True).encode()).hexdigest()
    return hparams.hparams_pb(values, trial_id=digest[:16])


class EventWriter:
    """Writes a new event file into a folder; a failed write raises `tf.errors.OpError`.

    The writers of `tf.summary` go on after a failed write, and lose whole events.
    """

    def __init__(self, directory: Path):
        directory.mkdir(parents=True, exist_ok=True)
        process = f"{platform.node()}.{os.getpid()}.{next(_NUMBERS)}.v2"
        path = directory / EVENT_FILES.replace("*", f"{int(time.time()):010d}.{process}")
        self._file = tf.io.TFRecordWriter(str(path))
        self.write(0, file_version="brain.Event:2")

    def write(self, step: int, **content) -> None:
        """Writes an event, such as `summary` or `graph_def`, see TensorBoard's `event.proto`."""
        event = Event(wall_time=time.time(), step=step, **content)
        self._file.write(event.SerializeToString())

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def drop_later_events(directory: Path, last_step: int) -> None:
    """Removes events after a step from the event files in a directory and its subfolders.

    `last_step` is the step of the checkpoint from which the training resumes; 0 = there is none,
    and all event files are removed.
    """
    for leftover in Path(directory).rglob(".rewritten-*"):  # from a killed process
        leftover.unlink()
    for path in sorted(Path(directory).rglob(EVENT_FILES)):
        if not last_step:
            path.unlink()
            continue
        size = path.stat().st_size
        kept = [it for it in _records(path) if Event.FromString(it).step <= last_step]
        if sum(len(record) + _FRAME for record in kept) < size:
            temporary = path.with_name(f".rewritten-{path.name.rpartition('.')[2]}")
            with tf.io.TFRecordWriter(str(temporary)) as writer:
                for record in kept:
                    writer.write(record)
            sync_and_rename(temporary, path)


def _records(path) -> Iterator[bytes]:
    """Yields the events of a file, without an incomplete last one."""
    try:
        yield from tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    except tf.errors.DataLossError:
        return
