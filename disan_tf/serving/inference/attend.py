"""The attention tensors of a model for lines of text, as .npz and JSON."""

import functools
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
from disan_tf.serving.inference.lines import look_up, read_chunks, tokenise
from disan_tf.serving.inference.output_formats import add_prediction
from disan_tf.serving.inference.predict import describe, make_prediction_step
from disan_tf.serving.inference.records import Columns, columns_of, text_name, tokens_name
from disan_tf.serving.inference.text_limits import free_memory, longest_text
from disan_tf.serving.inference.weight_vectors import NAME as WEIGHT_VECTORS
from disan_tf.serving.inference.weight_vectors import WeightVectors

AXES = {2: ["token", "feature"], 3: ["head", "dependent", "feature"]}  # by rank
_VECTOR_AXES = ["iteration", "attention", "feature"]  # of DSA's weight vectors


def attend(
    bundle: Bundle,
    input_path,
    output_dir,
    input_format: Optional[str] = None,
    finish: Callable[[Path], None] = lambda folder: None,
    text_column: Sequence[str] = (),
    encoding: str = "utf-8",
) -> int:
    """Writes `00001.npz` and `00001.json` for the first line, and so on.

    The .npz holds the tensors of `encoder.attend` for this sentence alone, without padding, all
    float32: for DiSAN "forward_attention" and "backward_attention" [head, dependent, feature],
    "forward_gate" and "backward_gate" [token, feature], "source2token" [token, feature]. The JSON
    holds the line's record, "text", "tokens", the prediction as `predict` writes it, the names of
    the "axes", and under "<name>_mean" each tensor's mean over the features, rounded to 6 digits.

    DSA has "attention" [token, feature] of the last iteration, with a feature for each parallel
    attention, "attention_1" and so on of earlier iterations, and "weight_vectors" [iteration,
    attention, feature]. For all lines together, `weight_vectors.npz` and `.json` hold the dynamic
    weight vectors in two dimensions, see `WeightVectors.write`.

    DRCN has "premise_cosine_1" [premise, hypothesis, 1] and so on, for each attention function and
    layer: the attention of the first sentence's words to the other sentence's words.

    For pairs both files have "<field>_" before the names of a sentence's tensors:
    "premise_tokens", "hypothesis_source2token".

    Args:
      bundle: the model.
      input_path: a file, or "-" for standard input.
      output_dir: a folder that is absent or empty; it appears when it is complete.
      input_format: see `read_chunks`.
      finish: adds files to the folder before it takes its name.
      text_column: the columns of the texts; none = see `columns_of`.
      encoding: see `read_chunks`.

    The length limit for the free memory is printed to standard error before the first line.

    Returns:
      The number of lines.

    Raises:
      UserError: see `read_chunks`; a text is too long; or the folder is not empty or cannot be
        written.
    """
    target, fields = _check_target(output_dir), bundle.model.fields
    predict_batch, text_to_ids = make_prediction_step(bundle.model), bundle.traced_text_to_ids()
    weights = make_attention_step(bundle.model)
    columns = columns_of(bundle.config, fields, text_column)
    limit, places = functools.cache(lambda: _announced(LengthLimit(weights))), []
    count, vectors = 0, WeightVectors()
    with scratch_folder(target) as scratch:
        folder = scratch / "lines"
        folder.mkdir()
        for records in read_chunks(
            input_path,
            input_format,
            fields,
            lambda _, where: places.append(where),
            columns,
            encoding,
        ):
            tokens = tokenise(records, text_to_ids, fields, columns)
            for record, sentences in zip(records, tokens):
                limit().check(sentences, places[count])
                count += 1
                inputs = look_up([sentences], text_to_ids)  # alone, so that nothing is padded
                tensors = {name: tensor.numpy()[0] for name, tensor in weights(*inputs).items()}
                described = describe(
                    *(tensor.numpy()[0] for tensor in predict_batch(*inputs)), bundle
                )
                record = _with_tokens(record, fields, sentences, columns)
                record = add_prediction(record, described)
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


class LengthLimit:
    """The longest text whose attention tensors fit into the memory that is free now.

    Args:
      weights: see `make_attention_step`.
    """

    def __init__(self, weights: Callable):
        memory = free_memory()
        self._most = longest_text(weights, memory)
        self._memory = f"{memory / 1e9:,.1f} GB of free memory"

    def __str__(self) -> str:
        return f"attention tensors of up to {self._most:,} tokens fit into the {self._memory}"

    def check(self, sentences: Sequence[Sequence[str]], where: str) -> None:
        """Raises UserError for a text that is too long.

        Args:
          sentences: each sentence's tokens.
          where: the place of the text, with which the message begins.
        """
        longest = max(map(len, sentences))
        if longest > self._most:
            raise UserError(f"{where}: the text has {longest:,} tokens, and {self}; shorten it.")


def _announced(limit: LengthLimit) -> LengthLimit:
    print(limit, file=sys.stderr)
    return limit


def _check_target(output_dir) -> Path:
    target = Path(output_dir).resolve()
    if target.exists() and not target.is_dir():
        raise UserError(f"{output_dir} is not a directory; name one that is absent or empty.")
    if target.is_dir() and any(target.iterdir()):
        raise UserError(f"{output_dir} is not empty; name a directory that is absent or empty.")
    return target


def _with_tokens(record: dict, fields, sentences, columns: Columns) -> dict:
    """Adds each sentence's tokens to a record, and its text if that has another name or none."""
    texts = {}
    for field, tokens in zip(fields, sentences):
        text = columns.find_text(record, field)
        texts[text_name(field)] = " ".join(tokens) if text is None else text
    return {**texts, **record, **dict(zip(map(tokens_name, fields), sentences))}


def _write(stem: Path, record: dict, tensors: dict[str, np.ndarray]) -> None:
    write_arrays(stem.with_suffix(".npz"), **tensors)
    axes = {name: _axes(name, tensor) for name, tensor in tensors.items()}
    means = {f"{name}_mean": _mean(tensor) for name, tensor in tensors.items()}
    text = json.dumps({**record, "axes": axes, **means}, ensure_ascii=False) + "\n"
    write_atomically(stem.with_suffix(".json"), text)


def _axes(name, tensor):
    return _VECTOR_AXES if name.endswith(WEIGHT_VECTORS) else AXES[tensor.ndim]


def _mean(tensor):
    """Returns the mean over the features as nested lists, with `axes` without the last."""
    return tensor.mean(axis=-1, dtype=np.float64).round(6).tolist()
