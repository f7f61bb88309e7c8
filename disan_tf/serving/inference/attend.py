"""The attention tensors of a model for lines of text, as .npz and JSON."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.files import scratch_folder, sync_and_rename, write_arrays, write_atomically
from disan_tf.runs.bundle import Bundle
from disan_tf.serving.inference.batches import look_up, tokenise
from disan_tf.serving.inference.lines import read_chunks
from disan_tf.serving.inference.output_formats import add_prediction
from disan_tf.serving.inference.predict import describe_all, make_prediction_step
from disan_tf.serving.inference.records import Columns, columns_of, text_name, tokens_name
from disan_tf.serving.inference.text_limits import LengthLimit

WEIGHT_VECTORS = "weight_vectors"  # DSA's tensor [iteration, attention, feature]
_AXES = {2: ["token", "feature"], 3: ["head", "dependent", "feature"]}  # by rank


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
    target, text_to_ids = _check_target(output_dir), bundle.traced_text_to_ids()
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
                _write(folder / f"{count:05d}", record, tensors)
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


def _check_target(output_dir) -> Path:
    target = Path(output_dir).resolve()
    if target.exists() and not target.is_dir():
        raise UserError(f"{output_dir} is not a directory; name one that is absent or empty.")
    if target.is_dir() and any(target.iterdir()):
        raise UserError(f"{output_dir} is not empty; name a directory that is absent or empty.")
    return target


def _with_tokens(record: dict, sentences, columns: Columns) -> dict:
    """Adds each sentence's tokens to a record, and its text if that has another name or none."""
    texts = {}
    for field, tokens in zip(columns.fields, sentences):
        text = columns.find_text(record, field)
        texts[text_name(field)] = " ".join(tokens) if text is None else text
    return {**texts, **record, **dict(zip(map(tokens_name, columns.fields), sentences))}


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


def principal_components(vectors: np.ndarray, components: int = 2):
    """Computes principal components: coordinates, and the axes' shares of all variance.

    An axis' entry of largest magnitude is positive. Axes that do not exist, since there are too few
    vectors or features, have coordinates and shares of 0.

    Args:
      vectors: <float>[vectors, features].
      components: number of axes.

    Returns:
      <float64>[vectors, components] and <float64>[components].
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    sizes, axes = sizes[:components], axes[:components]
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]
    total = np.square(centred).sum()
    shares = np.square(sizes) / total if total else np.zeros(len(sizes))
    missing = components - len(sizes)
    return np.pad(centred @ axes.T, [(0, 0), (0, missing)]), np.pad(shares, (0, missing))
