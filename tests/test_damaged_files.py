"""Damaged files of users are read right or refused in one sentence."""

import functools
import json
import random

import numpy as np
import pytest

from data_prep.corpora import READERS
from disan_tf.common.atomic import write_arrays
from disan_tf.common.errors import explain
from disan_tf.common.files import sha256
from disan_tf.runs.bundle import load_bundle, read_info
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.recorded_config import read_config
from disan_tf.runs.run import read_evaluation
from disan_tf.runs.run_summary import summarise_run
from disan_tf.serving.inference.batches import look_up, tokenise
from disan_tf.serving.inference.lines import read_chunks
from disan_tf.serving.inference.records import usual_columns
from disan_tf.text import TextToIds, TracedTextToIds, word_vectors
from tests.support.corpora.damage import damage, damage_json, damage_lines
from tests.support.corpora.raw import place_of, write_raw
from tests.support.models.bundles import make_bundle
from tests.support.runs.finished import config_of, write_run

CORPORA = [
    "sst/trees/train.txt",
    "sick/SICK_train.txt",
    "trec/train_5500.label",
    "polarity/custrev.all",
    "snli_1.0/snli_1.0_train.jsonl",
    "columns/snli_1.0/snli_1.0_train.txt",
    "multinli_1.0/multinli_1.0_train.jsonl",
    "a.csv",
    "a.tsv",
    "a.jsonl",
    "texts/a.txt",
]
VECTORS = {
    "glove.txt": "soup 1 2\nTea 3 -4e-2\nis 7 8\n",
    "w2v.txt": "3 2\nsoup 1 2 \nTea 3 4 \nis 7 8 \n",
}
INPUTS = {  # of predict
    "inputs/a.txt": "the soup is hot .\n\nokra\n",
    "inputs/a.jsonl": '{"text": "hot soup", "id": 7}\n{"tokens": ["hot", "tea"]}\n',
    "inputs/a.tsv": "id\ttext\n1\thot soup\n2\tcold tea\n",
    "inputs/a.csv": 'id,text\n1,"hot, ""old"" soup"\n2,tea\n',
    "inputs/pairs.txt": "hot soup\tthe soup is hot\ntea\tokra\n",
    "inputs/pairs.jsonl": '{"premise": "hot", "hypothesis": "cold", "gold_label": "-"}\n' * 2,
}
DAMAGES = {  # for each ending of a name; others have bytes or lines damaged
    "json": (damage, damage_json),
    "jsonl": (damage, damage_json, damage_lines),
    **dict.fromkeys(("h5", "npz"), (damage,)),
}


def read_corpus(path, folder):
    data_dir, options = place_of(folder, str(path.relative_to(folder)))
    corpus = READERS[options.corpus].read(data_dir, options)
    for example in (each for examples in corpus.splits.values() for each in examples):
        assert 0 <= example.label <= len(corpus.classes), example
        assert len(example.sentences) == len(corpus.fields), example


def read_vectors(path, folder):
    word_vectors.check_dimension(path, 2)
    vectors = word_vectors.read(path, 2, lambda word: True).by_word
    assert all(it.shape == (2,) and np.isfinite(it).all() for it in vectors.values())


@functools.cache
def traced():
    return TracedTextToIds(TextToIds(["soup", "hot", "tea"], "treebank", True, False, False))


def read_inputs(path, folder):
    columns = usual_columns(("premise", "hypothesis") if "pairs" in path.name else ("sentence",))
    for records in read_chunks(path, None, columns):
        sentences = tokenise(records, traced(), columns)
        assert len(sentences) == len(records) == look_up(sentences, traced())[0].shape[0]


def read_run(path, folder):
    summarise_run(folder / "run")
    read_config(folder / "run")
    MetricsLog.read(folder / "run/metrics.jsonl")
    read_evaluation(folder / "run", "test")


def read_bundle(path, folder):
    """Loads a bundle whose digests are those of the damaged files."""
    record = folder / "best/model.json"
    whole = record.read_bytes()
    if path != record:
        info = read_info(folder / "best")
        info["sha256"] = {name: sha256(record.with_name(name)) for name in info["sha256"]}
        record.write_text(json.dumps(info))
    try:
        bundle = load_bundle(folder / "best")
    finally:
        record.write_bytes(whole)
    assert all(np.isfinite(weight).all() for weight in bundle.model.get_weights())
    bundle.text_to_ids()


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    """(file, folder) -> what reads it."""
    folder = tmp_path_factory.mktemp("whole")
    write_raw(folder)
    (folder / "inputs").mkdir()
    for name, text in {**VECTORS, **INPUTS}.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_run(folder / "run", config_of())
    labels = np.arange(4, dtype=np.uint8)
    write_arrays(folder / "run/evaluation/test.npz", predictions=labels, labels=labels, step=20)
    make_bundle(folder / "made").rename(folder / "best")
    found = dict.fromkeys(CORPORA, read_corpus)
    found.update(dict.fromkeys(VECTORS, read_vectors))
    found.update(dict.fromkeys(INPUTS, read_inputs))
    run_files = "config.json", "run.json", "metrics.jsonl"
    run_files += "evaluation/test.json", "evaluation/test.npz"
    found.update(dict.fromkeys((f"run/{name}" for name in run_files), read_run))
    bundle_files = ("model.json", "vocabulary.txt", *read_info(folder / "best")["sha256"])
    found.update(dict.fromkeys((f"best/{name}" for name in bundle_files), read_bundle))
    for name, read in found.items():
        read(folder / name, folder)  # what is whole is read
    return folder, found


def change(name, content, draw):
    """The content after one or two drawn damages."""
    ending = name.rpartition(".")[2]
    function = draw.choice(DAMAGES.get(ending, (damage, damage_lines)))
    for _ in range(draw.choice((1, 1, 2))):
        try:
            content = function(content, draw)
        except (ValueError, IndexError):  # the first damage left nothing for a second
            break
    return content


@pytest.mark.parametrize("seed, cases", [(5, 100), pytest.param(6, 3000, marks=pytest.mark.slow)])
def test_a_damaged_file_is_read_right_or_refused_in_one_sentence(targets, seed, cases):
    folder, readers = targets
    refused = 0
    for number in range(cases):
        draw = random.Random(f"{seed} {number}")
        name = draw.choice(sorted(readers))
        path, whole = folder / name, (folder / name).read_bytes()
        path.unlink()  # the old file may be mapped into memory
        path.write_bytes(change(name, whole, draw))
        try:
            readers[name](path, folder)
        except Exception as error:
            sentence = explain(error)
            assert sentence, f"case {number}: {name}: {error!r}"
            assert "\n" not in sentence and len(sentence) <= 2000, f"case {number}: {sentence}"
            refused += 1
        finally:
            path.unlink()
            path.write_bytes(whole)
    assert cases / 4 < refused < cases
