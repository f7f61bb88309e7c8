"""The files that are damaged, and what reads them: a right result, or one sentence."""

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable, NamedTuple

import numpy as np

from data_prep.corpora import READERS
from disan_tf.common.files import read_json, sha256, write_arrays
from disan_tf.elmo.official_files import load_bilm
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.runs.bundle import load_bundle, read_info
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.run_summary import summarise_run
from disan_tf.runs.work_directory import read_config
from disan_tf.serving.inference.batches import look_up, tokenise
from disan_tf.serving.inference.lines import read_chunks
from disan_tf.serving.inference.records import usual_columns
from disan_tf.study.figures.data import render_figure_data
from disan_tf.study.figures.drawings import picture
from disan_tf.study.papers import TABLES
from disan_tf.study.report import record, summarise
from disan_tf.study.results import read_records
from disan_tf.study.tables import render_tables
from disan_tf.text import TextToIds, TracedTextToIds, word_vectors
from tests.measurements.failures.damage import damage, damage_json, damage_lines
from tests.measurements.failures.world import Case
from tests.support.corpora.raw import place_of, write_raw
from tests.support.runs.finished import config_of, write_run, write_selections, write_series


class Target(NamedTuple):
    """A file, and what reads it.

    Attributes:
      path: of the file, below the folder of all targets.
      read: from that folder to a result; an AssertionError says that the result is wrong.
      damages: functions of `damage`; () = those that the name's ending asks for.
      weight: how often it is damaged, in comparison to others.
    """

    path: str
    read: Callable[[Path], Any]
    damages: tuple = ()
    weight: int = 4

    def draw_damage(self, draw):
        fitting = {"json": (damage, damage_json), "jsonl": (damage, damage_json, damage_lines)}
        fitting.update(dict.fromkeys(("npy", "npz", "h5", "hdf5"), (damage,)))
        ending = self.path.rpartition(".")[2]
        return draw.choice(self.damages or fitting.get(ending, (damage, damage_lines)))


class Damaged:
    """Files that are whole but while one of them is read.

    Args:
      folder: of the files.
      targets: the files in it.
    """

    def __init__(self, folder: Path, targets: Sequence[Target]):
        self.folder, self.targets = folder, targets
        self._whole = {it.path: (folder / it.path).read_bytes() for it in targets}
        for target in targets:
            target.read(folder)  # what is whole is read

    def read(self, case: Case) -> None:
        """Reads a drawn file after one or two drawn damages."""
        (target,) = case.draw.choices(self.targets, [it.weight for it in self.targets])
        change, content = target.draw_damage(case.draw), self._whole[target.path]
        case.told = f"{target.path} {change.__name__}"
        for _ in range(case.draw.choice((1, 1, 2))):
            try:
                content = change(content, case.draw)
            except (ValueError, IndexError):  # the first damage left nothing for a second
                break
        self._replace(target.path, content)
        try:
            target.read(self.folder)
        finally:
            self._replace(target.path, self._whole[target.path])

    def _replace(self, path: str, content: bytes) -> None:
        """Another file of this name: the old one may be mapped into memory."""
        (self.folder / path).unlink()
        (self.folder / path).write_bytes(content)


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


def raw_targets(folder: Path) -> list[Target]:
    """Writes corpora of our own sentences, vectors and inputs, in every format."""
    write_raw(folder)
    (folder / "inputs").mkdir()
    for name, text in {**VECTORS, **INPUTS}.items():
        (folder / name).write_text(text, encoding="utf-8")
    readers = {_corpus: CORPORA, _vectors: VECTORS, _inputs: INPUTS}
    return [
        Target(path, lambda it, read=read, path=path: read(it, path))
        for read, paths in readers.items()
        for path in paths
    ]


def _corpus(folder: Path, path: str) -> None:
    data_dir, options = place_of(folder, path)
    corpus = READERS[options.corpus].read(data_dir, options)
    for example in (each for examples in corpus.splits.values() for each in examples):
        assert 0 <= example.label <= len(corpus.classes), example
        assert np.isfinite(example.label), example
        assert len(example.sentences) == len(corpus.fields), example


def _vectors(folder: Path, path: str) -> None:
    word_vectors.check_dimension(folder / path, 2)
    vectors = word_vectors.read(folder / path, 2, lambda word: True).by_word
    assert all(it.shape == (2,) and np.isfinite(it).all() for it in vectors.values())


@functools.cache
def _look_up() -> TracedTextToIds:
    return TracedTextToIds(TextToIds(["soup", "hot", "tea"], "treebank", True, False, False))


def _inputs(folder: Path, path: str) -> None:
    look = _look_up()
    columns = usual_columns(("premise", "hypothesis") if "pairs" in path else ("sentence",))
    for records in read_chunks(folder / path, None, columns):
        sentences = tokenise(records, look, columns)
        assert len(sentences) == len(records) == look_up(sentences, look)[0].shape[0]


def run_targets(folder: Path) -> list[Target]:
    """Files of the training `folder / "model"`, its bundle and corpus, and of `data / "elmo"`."""
    best, (prepared,) = folder / "model/best", (folder / "model/prepared").glob("sst-*")
    (weights,) = best.glob("*.h5")
    corpus = prepared.relative_to(folder)
    bilm = [f"data/elmo/tiny_{name}" for name in ("options.json", "weights.hdf5")]
    readers = {  # path below the folder of the training -> what reads that folder, and a weight
        "config.json": [(read_config, 4)],
        "run.json": [(summarise_run, 4)],
        "evaluation/test.json": [(summarise_run, 4), (lambda it: summarise(it, {}), 1)],
        "metrics.jsonl": [
            (summarise_run, 4),
            (lambda it: MetricsLog.read(it / "metrics.jsonl"), 4),
        ],
        "best/model.json": [
            (lambda it: read_info(it / "best"), 4),
            (lambda it: load_bundle(it / "best"), 1),
        ],
        f"best/{weights.name}": [(_forged, 1), (_noticed, 1)],
        "best/vocabulary.txt": [(_forged, 1)],
    }
    return [
        *(
            Target(f"model/{path}", lambda it, read=read: read(it / "model"), weight=weight)
            for path, those in readers.items()
            for read, weight in those
        ),
        *(
            Target(str(corpus / path.name), lambda it: _open(it / corpus), weight=2)
            for path in (prepared / "manifest.json", *prepared.glob("*.npy"))
        ),
        *(Target(path, lambda it: _bilm(it, bilm), weight=1) for path in bilm),
    ]


def _forged(folder: Path) -> None:
    """Loads a bundle whose digests are those of the damaged files."""
    path = folder / "best/model.json"
    whole, info = path.read_text(), read_json(path, "-")
    info["sha256"] = {name: sha256(path.with_name(name)) for name in info["sha256"]}
    path.write_text(json.dumps(info))
    try:
        bundle = load_bundle(folder / "best")
    finally:
        path.write_text(whole)
    assert all(np.isfinite(weight).all() for weight in bundle.model.get_weights())
    bundle.text_to_ids()


def _noticed(folder: Path) -> None:
    """Loads a bundle whose digests are right."""
    load_bundle(folder / "best")
    for name, digest in read_info(folder / "best")["sha256"].items():
        assert sha256(folder / "best" / name) == digest, "damage was not seen"


def _open(folder: Path) -> None:
    corpus = PreparedCorpus(folder)
    words, vectors = sum(corpus.words), corpus.vectors
    assert len(vectors) == words == len(corpus.vocabulary) and np.isfinite(vectors).all()
    for split in map(corpus.split, corpus.splits):
        assert all(it.min() >= 0 and it.max() < words + 2 for it in split.ids.values())
        assert split.labels.min() >= 0 and split.labels.max() < len(corpus.classes)
        assert split.field_lengths.min() >= 0


def _bilm(folder: Path, paths: Sequence[str]) -> None:
    bilm = load_bilm(*(folder / path for path in paths))
    assert all(np.isfinite(weight).all() for weight in bilm.get_weights())


def result_targets(folder: Path) -> list[Target]:
    """Recorded results of a run and a series, and their predictions, which tables are made of."""
    where = folder / "results"
    write_selections(write_run(where / "runs/run", config_of()), heads=0.25)
    write_series(where / "runs/series", config_of())
    record(where / "runs", where)
    (where / "predictions").mkdir(exist_ok=True)
    labels = np.arange(40, dtype=np.uint8) % 5
    for name, members in (("run", ["run"]), ("series", ["seed-1", "seed-2", "seed-3"])):
        arrays = {f"{it}/predictions": np.roll(labels, 1) for it in members}
        arrays.update({f"{it}/labels": labels for it in members})
        write_arrays(where / f"predictions/{name}.npz", **arrays)
    paths = {"results/run.json": 4, "results/series.json": 4, "predictions/series.npz": 1}
    return [Target(f"results/{path}", _tables, weight=weight) for path, weight in paths.items()]


def _tables(folder: Path) -> None:
    """Does what `--mode=report` does, but for the drawing of all pictures."""
    records = read_records(folder / "results")
    tables = {**render_tables(records), **render_figure_data(records.results)}
    for name, table in TABLES.items():
        if picture(table, records.results):
            assert f"{name}.md" in tables
