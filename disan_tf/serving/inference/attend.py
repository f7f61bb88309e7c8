"""The attention tensors of a model for lines of text, as .npz and JSON."""

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.atomic import scratch_folder, sync_and_rename, write_arrays, write_atomically
from disan_tf.common.errors import UserError
from disan_tf.ops.tracing import free_gpu_memory
from disan_tf.runs.bundle import Bundle
from disan_tf.serving.inference.batches import look_up, tokenise
from disan_tf.serving.inference.lines import add_prediction, read_chunks
from disan_tf.serving.inference.predict import describe_all, make_prediction_step
from disan_tf.serving.inference.records import Columns, columns_of, text_name, tokens_name

WEIGHT_VECTORS = "weight_vectors"  # DSA's tensor [iteration, attention, feature]
_AXES = {2: ["token", "feature"], 3: ["head", "dependent", "feature"]}  # by rank
_SAMPLES = (8, 16, 24)  # tokens: three lengths determine the quadratic cost of longer texts
_MOST_TOKENS = 10**7

# Measured with texts of 300 to 900 tokens: DiSAN with 300 features needs 3.1 times the bytes of its
# tensors, and DRCN 69 bytes for each mean over the features, which is written as text.
_COPIES = 4
_MEAN_BYTES = 100
_CGROUP = Path("/sys/fs/cgroup")
# Control groups, version 2 and 1: the limit, the use, and the name of the caches in the statistics.
_CONTAINERS = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)


def attend(
    bundle: Bundle,
    input_path,
    output_dir,
    input_format: Optional[str] = None,
    finish: Callable[[Path], None] = lambda folder: None,
    text_column: Sequence[str] = (),
    encoding: str = "utf-8",
) -> int:
    """Writes `00001.npz` and `00001.json` for the first line, and so on; returns their number.

    The .npz holds the tensors of `encoder.attend` for this sentence alone, without padding, all
    float32: for DiSAN "forward_attention" and "backward_attention" [head, dependent, feature],
    "forward_gate" and "backward_gate" [token, feature], "source2token" [token, feature]. The JSON
    holds the line's record, "text", "tokens", the prediction as `predict` writes it, the names of
    the "axes", and under "<name>_mean" each tensor's mean over the features, rounded to 6 digits.
    Its "field_names" say which fields are the texts of the "sentences" and which the "prediction".

    DSA has "attention" [token, feature] of the last iteration, with a feature for each parallel
    attention, "attention_1" and so on of earlier iterations, and "weight_vectors" [iteration,
    attention, feature]; see `WeightVectors.write`. DRCN has "premise_cosine_1" [premise,
    hypothesis, 1] and so on: the attention of the first sentence's words to the other sentence's
    words by each function and layer. For pairs both files have "<field>_" before the names of a
    sentence's tensors: "premise_tokens", "hypothesis_source2token".

    The length limit for the free memory is printed to standard error before the first line.

    Args:
      bundle: the model.
      input_path, input_format, encoding: see `read_chunks`.
      output_dir: a folder that is absent or empty; it appears when it is complete.
      finish: adds files to the folder before it takes its name.
      text_column: the columns of the texts; none = see `columns_of`.

    Raises:
      UserError: see `read_chunks`; a text is too long; or the folder is not empty or cannot be
        written.
    """
    target, text_to_ids = Path(output_dir).resolve(), bundle.traced_text_to_ids()
    if target.exists() and not target.is_dir():
        raise UserError(f"{output_dir} is not a directory; name one that is absent or empty.")
    if target.is_dir() and any(target.iterdir()):
        raise UserError(f"{output_dir} is not empty; name a directory that is absent or empty.")
    predict_batch, weights = make_prediction_step(bundle.model), make_attention_step(bundle.model)
    columns = columns_of(bundle.config, bundle.model.fields, text_column)
    limit, places, count, vectors = None, [], 0, WeightVectors()
    with scratch_folder(target) as scratch:
        folder = scratch / "lines"
        folder.mkdir()
        for records in read_chunks(
            input_path, input_format, columns, encoding, lambda _, where: places.append(where)
        ):
            for record, sentences in zip(records, tokenise(records, text_to_ids, columns)):
                if limit is None:
                    limit = LengthLimit(weights)
                    print(limit, file=sys.stderr)
                limit.check(sentences, places[count])
                count += 1
                inputs = look_up([sentences], text_to_ids)  # alone, so that nothing is padded
                tensors = {name: tensor.numpy()[0] for name, tensor in weights(*inputs).items()}
                outputs = [tensor.numpy() for tensor in predict_batch(*inputs)]
                (described,) = describe_all([sentences], outputs, bundle, marks_blank=False)
                record = add_prediction(_with_tokens(record, sentences, columns), described)
                names = _field_names(record, described, columns)
                _write(folder / f"{count:05d}", {**record, "field_names": names}, tensors)
                vectors.add(count, tensors)
        vectors.write(folder)
        finish(folder)
        sync_and_rename(folder, target)
    return count


def make_attention_step(model) -> Callable[..., dict[str, tf.Tensor]]:
    """Compiles a function: the model's inputs -> its attention tensors by name."""
    return tf.function(
        lambda *inputs: {**model.attend(*inputs), **model.weight_vectors(*inputs)},
        input_signature=model.signatures()["attend"],
        autograph=False,
    )


def _with_tokens(record: dict, sentences, columns: Columns) -> dict:
    """Adds each sentence's tokens to a record, and its text if that has another name or none."""
    texts = {}
    for field, tokens in zip(columns.fields, sentences):
        text = columns.find_text(record, field)
        texts[text_name(field)] = " ".join(tokens) if text is None else text
    given = {
        name: value for name, value in record.items() if value is not None or name not in texts
    }
    return {**texts, **given, **dict(zip(map(tokens_name, columns.fields), sentences))}


def _field_names(record: dict, described: dict, columns: Columns) -> dict[str, dict[str, str]]:
    """Returns the names in a record of each sentence's text and of the prediction's fields."""
    texts = {
        field: next(
            name for name in (*names, text_name(field)) if isinstance(record.get(name), str)
        )
        for field, names in columns.texts.items()
    }
    added = list(record)[-len(described) :]  # the last ones, see `add_prediction`
    return {"sentences": texts, "prediction": dict(zip(described, added))}


def _write(stem: Path, record: dict, tensors: dict[str, np.ndarray]) -> None:
    write_arrays(stem.with_suffix(".npz"), **tensors)
    axes, means = {}, {}
    for name, tensor in tensors.items():
        is_vectors = name.endswith(WEIGHT_VECTORS)
        axes[name] = ["iteration", "attention", "feature"] if is_vectors else _AXES[tensor.ndim]
        means[f"{name}_mean"] = tensor.mean(axis=-1, dtype=np.float64).round(6).tolist()
    text = json.dumps({**record, "axes": axes, **means}, ensure_ascii=False) + "\n"
    write_atomically(stem.with_suffix(".json"), text)


class WeightVectors:
    """Collects the dynamic weight vectors of sentences (DSA's Figure 2).

    A sentence's vector is z_j before the last iteration, which weighs the words with it (DSA
    Sec. 3.3); with a single iteration it is z_j of that one.
    """

    def __init__(self):
        self._rows, self._vectors = [], []

    def add(self, line: int, tensors: dict[str, np.ndarray]) -> None:
        """Adds a line's tensors from `attend`, <float32>[iteration, attention, feature]."""
        for name, tensor in tensors.items():
            if name.endswith(WEIGHT_VECTORS):
                field = name[: -len(WEIGHT_VECTORS)].rstrip("_") or "sentence"
                self._rows.append({"line": line, "field": field})
                self._vectors.append(tensor[max(0, len(tensor) - 2)])

    def write(self, folder: Path) -> None:
        """Writes `weight_vectors.npz` and `.json`, if there were any.

        The .npz holds "vectors" <float32>[sentence, attention, feature], "coordinates" <float64>
        [sentence, attention, 2] and "explained" <float64>[attention, 2]. The JSON holds the same
        without the vectors, and each sentence's line in the input and its field.
        """
        if not self._vectors:
            return
        vectors = np.stack(self._vectors)
        parts = [principal_components(of_one) for of_one in vectors.swapaxes(0, 1)]
        coordinates = np.stack([points for points, _ in parts], axis=1)
        explained = np.stack([shares for _, shares in parts])
        arrays = {"vectors": vectors, "coordinates": coordinates, "explained": explained}
        write_arrays(folder / f"{WEIGHT_VECTORS}.npz", **arrays)
        rows = [
            {**row, "coordinates": points.round(6).tolist()}
            for row, points in zip(self._rows, coordinates)
        ]
        record = {"explained": explained.round(6).tolist(), "sentences": rows}
        write_atomically(folder / f"{WEIGHT_VECTORS}.json", json.dumps(record) + "\n")


def principal_components(vectors: np.ndarray):
    """Computes two principal components: coordinates, and the axes' shares of all variance.

    An axis' entry of largest magnitude is positive. Axes that do not exist, since there are too few
    vectors <float>[vectors, features], have coordinates and shares of 0. The results are
    <float64>[vectors, 2] and <float64>[2].
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    sizes, axes = sizes[:2], axes[:2]
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]
    total = np.square(centred).sum()
    shares = np.square(sizes) / total if total else np.zeros(len(sizes))
    missing = 2 - len(sizes)
    return np.pad(centred @ axes.T, [(0, 0), (0, missing)]), np.pad(shares, (0, missing))


class LengthLimit:
    """The longest text whose attention tensors, see `longest_text`, fit into the free memory."""

    def __init__(self, weights: Callable):
        memory = free_memory()
        self._most = longest_text(weights, memory)
        self._memory = f"{memory / 1e9:,.1f} GB of free memory"

    def __str__(self) -> str:
        return f"attention tensors of up to {self._most:,} tokens fit into the {self._memory}"

    def check(self, sentences: Sequence[Sequence[str]], where: str) -> None:
        """Raises UserError, with the text's place, if one of its sentences has too many tokens."""
        longest = max(map(len, sentences))
        if longest > self._most:
            raise UserError(f"{where}: the text has {longest:,} tokens, and {self}; shorten it.")


def longest_text(weights: Callable, memory: int) -> int:
    """Returns the length of the longest text whose attention tensors fit into `memory` bytes.

    Args:
      weights: a `tf.function` of inputs `[batch, length, ...]` that returns attention tensors by
        name, whose bytes are quadratic in the tokens.
    """
    costs = [_cost(weights, tokens) for tokens in _SAMPLES]
    square = np.poly1d(np.polyfit(_SAMPLES, costs, 2))
    low, high = 0, _MOST_TOKENS
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if square(middle) <= memory else (low, middle - 1)
    return low


def _cost(weights, tokens: int) -> int:
    """Returns the bytes that a text with this number of tokens needs."""
    inputs = [
        tf.ones([1, tokens, *(size or 1 for size in spec.shape[2:])], spec.dtype)
        for spec in weights.input_signature
    ]
    tensors = [tensor.numpy() for tensor in weights(*inputs).values()]
    means = sum(tensor.size // tensor.shape[-1] for tensor in tensors)
    return sum(tensor.nbytes for tensor in tensors) * _COPIES + means * _MEAN_BYTES


def free_memory() -> int:
    """Returns the bytes that this process may still use: of its machine, container and GPU."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with contextlib.suppress(OSError, ValueError):  # the file exists on Linux alone
        lines = Path("/proc/meminfo").read_text().splitlines()
        (available,) = [line for line in lines if line.startswith("MemAvailable:")]
        limits.append(int(available.split()[1]) << 10)
    for names in _CONTAINERS:
        with contextlib.suppress(OSError, ValueError, KeyError):  # "max" is no number
            most, used = (int((_CGROUP / name).read_text()) for name in names[:2])
            statistics = (_CGROUP / names[0]).with_name("memory.stat").read_text().splitlines()
            caches = dict(line.split() for line in statistics)  # count as used, but give way
            limits.append(most - used + int(caches[names[2]]))
    on_gpu = free_gpu_memory()
    if on_gpu is not None:
        limits.append(on_gpu)
    return max(0, min(limits))
