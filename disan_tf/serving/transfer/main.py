"""`--mode=transfer`: frozen vectors of sentences, scored on the transfer tasks of SentEval.

<folder>/<model>.json    the scores of the model, of the mean of its word vectors, and of the model
                         with random weights on the same vectors
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

import numpy as np
import sklearn
import tensorflow as tf

from disan_tf.common.files import read_json, write_json
from disan_tf.common.installation import VERSION
from disan_tf.common.options import count
from disan_tf.common.progress import print_line, stages
from disan_tf.runs.bundle import Bundle
from disan_tf.serving.inference.encode import make_encoding_step
from disan_tf.serving.transfer.classifiers import FOLDS, SEED, score_vectors
from disan_tf.serving.transfer.encoders import (
    Encoder,
    distinct_words,
    has_word_vectors,
    make_encoders,
)

FORMAT = 1
DURATION = (  # disan_snli: 6 s to 28 min, the median 86 s
    "With 600 features on two processors, a score takes some seconds to half an hour, mostly one "
    "or several minutes."
)
_BEST = "best"  # the model's folder in a work directory
_RESULT = {"inputs": {str: dict}, "scores": {str: dict}}
_DECISIVE = ("weights_sha256", "vectors", "versions", "protocol")  # reruns need them equal
ReadVectors = Callable[[list[str]], tuple[tuple[str, ...], np.ndarray, dict]]


def transfer(bundle: Bundle, tasks: Sequence, read_vectors: ReadVectors, folder: Path) -> Path:
    """Scores the vectors of a model, and of two untrained encoders, on tasks.

    The result is written after each task; scores of an earlier run on the same weights, word
    vectors and corpora are kept.

    Args:
      bundle: the model.
      tasks: see `data_prep.transfer_tasks.TransferTask`.
      read_vectors: words -> the words that have a vector, their vectors <float32>[words, dim], and
        the file, as in `TransferTask.inputs`.
      folder: the folder of the result.

    Returns:
      The file of the result.

    Raises:
      UserError: the model has no vectors of single sentences, or no word has a vector.
    """
    make_encoding_step(bundle)  # rejects models that read two sentences together
    for warning in dict.fromkeys(warning for task in tasks for warning in task.warnings):
        print(warning)
    words, vectors, files = _read_vectors(bundle, tasks, read_vectors)
    for task in tasks:
        files.update(task.inputs)
    path = Path(folder) / f"{result_name(bundle)}.json"
    result = _with_recorded(path, {**describe(bundle), "inputs": files, "scores": {}})
    encoders = make_encoders(bundle, words, vectors)
    wanted = [(name, task) for name in encoders for task in tasks]
    scores = {name: result["scores"].setdefault(name, {}) for name in encoders}
    missing = sum(task.name not in scores[name] for name, task in wanted)
    print_line(
        f"{count(len(tasks), 'task')} with {count(len(encoders), 'encoder')}; "
        f"{count(missing, 'score')} to compute. {DURATION}"
    )
    with stages(len(wanted)) as work:
        for name, task in wanted:
            work.begin(f"transfer: {name}, {task.name}")
            if task.name not in scores[name]:
                scores[name][task.name] = _score(task, encoders[name])
                write_json(path, result)
            test = scores[name][task.name]["test"]
            metrics = ", ".join(f"{score} {value:.4f}" for score, value in test.items())
            print_line(f"{name}, {task.name}: {metrics}")
    return path


def _read_vectors(bundle, tasks, read_vectors) -> tuple:
    """Reads the vectors of all tasks' words; nothing for a model without a vector file."""
    if not has_word_vectors(bundle):
        print(
            "The model was trained without a file of word vectors; neither of the baselines, which "
            "need one, is scored."
        )
        return (), None, {}
    return read_vectors(distinct_words(bundle, [text for task in tasks for text in _texts(task)]))


def _with_recorded(path: Path, result: dict) -> dict:
    """Adds the last result's inputs and scores, if `_DECISIVE` entries and files are equal."""
    if not path.exists():
        return result
    last = read_json(path, "delete it", _RESULT)
    files = {**last["inputs"], **result["inputs"]}
    is_alike = all(last.get(key) == result[key] for key in _DECISIVE)
    if not is_alike or any(files[name] != file for name, file in last["inputs"].items()):
        return result
    return {**result, "inputs": files, "scores": last["scores"]}


def describe(bundle: Bundle) -> dict:
    """Describes the model, the versions and the protocol of a result."""
    return {
        "format": FORMAT,
        "command": f"python run.py --mode=transfer --checkpoint={result_name(bundle)}",
        "config": bundle.config.to_dict(),
        "vectors": bundle.config.data.vectors if has_word_vectors(bundle) else None,
        "step": bundle.info["scores"]["step"],
        "weights_sha256": bundle.info["sha256"][bundle.info["weights"]],
        "versions": {
            "disan_tf": VERSION,
            "tensorflow": tf.__version__,
            "numpy": np.__version__,
            "scikit_learn": sklearn.__version__,
        },
        "protocol": {"folds": FOLDS, "seed": SEED},
    }


def result_name(bundle: Bundle) -> str:
    """Returns the name of a model's folder, or of the work directory around it."""
    folder = bundle.directory.resolve()
    return folder.parent.name if folder.name == _BEST else folder.name


def pair_features(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Computes SentEval's [|u - v|; u * v] <float>[pairs, 2 dim] of <float>[pairs, dim]."""
    return np.concatenate([np.abs(first - second), first * second], axis=1)


def _score(task, encoder: Encoder) -> dict:
    """Scores an encoder on a task; adds the size of its vectors, and its known tokens."""
    started = time.monotonic()
    texts = list(dict.fromkeys(_texts(task)))
    vectors = encoder.encode(texts)
    rows = {text: number for number, text in enumerate(texts)}
    features = {
        split: _features(vectors, [[rows[text] for text in example] for example in examples])
        for split, examples in task.texts.items()
    }
    scores = score_vectors(features, task.labels)
    return {
        "dim": vectors.shape[1],
        "known_tokens": encoder.known_tokens(texts),
        **scores,
        "seconds": round(time.monotonic() - started, 1),
    }


def _features(vectors, examples) -> np.ndarray:
    """Returns the classifier's features for examples of one text or of two."""
    fields = [vectors[rows] for rows in np.transpose(examples)]
    return fields[0] if len(fields) == 1 else pair_features(*fields)


def _texts(task) -> list[str]:
    """Lists all texts of a task, in order."""
    return [text for examples in task.texts.values() for texts in examples for text in texts]
