"""The files that are damaged, and what reads them."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import numpy as np

from data_prep.corpora import READERS, multinli, sick, trec
from disan_tf.common.files import read_json, sha256, write_arrays
from disan_tf.elmo.official_files import load_bilm
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.reporting.figures.runs import picture
from disan_tf.reporting.paper_tables import render_tables
from disan_tf.reporting.papers import TABLES
from disan_tf.reporting.report import report, summarise
from disan_tf.reporting.result_files import read_records
from disan_tf.runs.bundle import load_bundle, read_info
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.run_summary import summarise_run
from disan_tf.runs.work_directory import read_config
from disan_tf.serving.inference.lines import look_up, read_chunks, tokenise
from disan_tf.text import TextToIds, TracedTextToIds, word_vectors
from tests.measurements.failures.mutators import damage, damage_json, damage_lines, damage_value
from tests.support.corpora.nli import options as nli_options
from tests.support.corpora.nli import row, text_options, write, write_columns
from tests.support.corpora.readers import make_options, table_options
from tests.support.runs.finished import config_of, write_run, write_selections, write_series

LINES, JSON, BYTES = (damage, damage_lines), (damage, damage_json), (damage,)


@dataclass(frozen=True)
class Target:
    """A file, and what reads it.

    Attributes:
      name: of the kind.
      path: of the file, below the folder.
      read: from the folder to a result; an AssertionError says that the result is wrong.
      damages: of `mutators`.
      weight: how often it is damaged, in comparison to others.
    """

    name: str
    path: str
    read: Callable[[Path], Any]
    damages: tuple = LINES
    weight: int = 4


def corpus_target(name: str, path: str, options, damages=LINES) -> Target:
    """A file of a raw corpus."""

    def read(folder: Path):
        corpus = READERS[options.corpus].read(folder, options)
        for examples in corpus.splits.values():
            for example in examples:
                highest = len(corpus.classes)
                assert 0 <= example.label <= highest and np.isfinite(example.label), example
                assert len(example.sentences) == len(corpus.fields), example

    return Target(name, path, read, damages)


def _text_options():
    values = {"texts": "texts", "repetitions": True, "longest": 200, "split_seed": 1}
    return make_options("text", **values, dev_share=0.1, test_share=0.1)


_SST = {"level": "phrase", "classes": 5, "repetitions": True, "rebalance": False}
_FOLDS = {"folds": 4, "fold": 0, "dev_share": 0.25, "split_seed": 1}
_TREC = make_options("trec", classes=6, dev_share=0.25, split_seed=1)


def write_corpora(folder: Path) -> list[Target]:
    """Corpora of our own sentences in every format; returns what reads them."""
    trees = "(3 (2 This) (3 (2 soup) (3 (2 is) (3 fine))))\n(1 (2 Cold) (2 soup))\n(2 (2 tea))\n"
    files = {f"sst/sst/trees/{split}.txt": trees for split in ("train", "dev", "test")}
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    rows = (
        "7\tA cook stirs soup\tThe soup isn't hot\t3.6\tNEUTRAL\n8\tTea\tHot tea\t4\tENTAILMENT\n"
    )
    files.update({f"sick/{path}": header + rows for path in sick.FILES.values()})
    lines = "LOC:city Where is soup ?\nNUM:date When is it hot ?\n" * 4
    files.update({f"trec/{path}": lines for path in trec.FILES.values()})
    labels = "".join(f"{n % 2} soup number {n} is hot\n" for n in range(16))
    files["cr/polarity/custrev.all"] = labels
    files["table/a.csv"] = 'text,label\n"good, hot ""soup""",yes\n' + "cold tea,no\nsoup,yes\n" * 9
    files["table/a.tsv"] = "text\tlabel\n" + "cold tea\tno\nhot soup\tyes\n" * 9
    pair = {"text": "soup", "second_text": "hot soup", "score": 2.5}
    files["table/a.jsonl"] = (json.dumps(pair) + "\n") * 12
    files["text/texts/a.txt"] = "the soup is hot .\na cook stirs it .\n" * 20
    files["vectors/glove.txt"] = "soup 1 2\nTea 3 -4e-2\nis 7 8\n"
    files["vectors/w2v.txt"] = "3 2\nsoup 1 2 \nTea 3 4 \nis 7 8 \n"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for name in ("snli", "columns", "multinli"):
        (folder / name).mkdir()
    write(folder / "snli", train=[row(), row("-")])
    write_columns(folder / "columns")
    write(folder / "multinli", multinli.LAYOUT, train=[row(genre="slate")] * 3)
    scores = table_options("a.jsonl", second_text="second_text", label="", score="score")
    find = {
        name: str(path.relative_to(folder / name))
        for name in ("snli", "columns", "multinli")
        for path in sorted((folder / name).rglob("*train*"))
        if path.is_file()
    }
    return [
        corpus_target("sst", "sst/trees/train.txt", make_options("sst", **_SST)),
        corpus_target("sick", sick.FILES["train"], make_options("sick", tokenizer="treebank")),
        corpus_target("trec", trec.FILES["train"], _TREC),
        corpus_target("cr", "polarity/custrev.all", make_options("cr", **_FOLDS)),
        corpus_target("snli", find["snli"], nli_options(), JSON + LINES),
        corpus_target("columns", find["columns"], text_options()),
        corpus_target(
            "multinli", find["multinli"], text_options(corpus="multinli", split_seed=1), JSON
        ),
        corpus_target("table", "a.csv", table_options("a.csv")),
        corpus_target("table", "a.tsv", table_options("a.tsv")),
        corpus_target("table", "a.jsonl", scores, JSON + LINES),
        corpus_target("text", "texts/a.txt", _text_options()),
        Target("vectors", "glove.txt", lambda folder: _read_vectors(folder / "glove.txt")),
        Target("vectors", "w2v.txt", lambda folder: _read_vectors(folder / "w2v.txt")),
    ]


def _read_vectors(path: Path):
    word_vectors.check_dimension(path, 2)
    vectors = word_vectors.read(path, 2, lambda word: True).by_word
    assert all(it.shape == (2,) and np.isfinite(it).all() for it in vectors.values())


def write_inputs(folder: Path) -> list[Target]:
    """Inputs of predict in every format."""
    (folder / "inputs").mkdir()
    texts = {
        "a.txt": "the soup is hot .\n\nokra\n",
        "a.jsonl": '{"text": "hot soup", "id": 7}\n{"tokens": ["hot", "tea"]}\n',
        "a.tsv": "id\ttext\n1\thot soup\n2\tcold tea\n",
        "a.csv": 'id,text\n1,"hot, ""old"" soup"\n2,tea\n',
        "pairs.txt": "hot soup\tthe soup is hot\ntea\tokra\n",
        "pairs.jsonl": '{"premise": "hot", "hypothesis": "cold", "gold_label": "-"}\n' * 2,
    }
    look = TracedTextToIds(TextToIds(["soup", "hot", "tea"], "treebank", True, False, False))

    def reader(name: str):
        fields = ("premise", "hypothesis") if "pairs" in name else ("sentence",)

        def read(folder: Path):
            for records in read_chunks(folder / name, None, fields):
                sentences = tokenise(records, look, fields)
                ids = look_up(sentences, look)
                assert len(sentences) == len(records) == ids[0].shape[0]

        return read

    for name, text in texts.items():
        (folder / "inputs" / name).write_text(text)
    return [
        Target("inputs", name, reader(name), JSON + LINES if "json" in name else LINES)
        for name in texts
    ]


def work_directory_targets(folder: Path) -> list[Target]:
    """Files of the finished training `folder / "model"`, of its bundle and its prepared corpus."""
    (prepared,) = (folder / "model/prepared").glob("sst-*")
    prepared, (weights,) = prepared.name, (folder / "model/best").glob("*.h5")
    arrays = [path.name for path in (folder / f"model/prepared/{prepared}").glob("*.npy")]
    best = folder / "model/best"
    targets = [
        Target("model", "config.json", read_config, JSON),
        Target("model", "run.json", summarise_run, JSON),
        Target("model", "evaluation/test.json", summarise_run, JSON),
        Target("model", "evaluation/test.json", lambda it: summarise(it, {}), JSON, 1),
        Target("model", "metrics.jsonl", lambda it: MetricsLog.read(it / "metrics.jsonl"), JSON),
        Target("model", "metrics.jsonl", summarise_run, JSON),
        Target("model", "best/model.json", lambda it: read_info(it / "best"), JSON),
        Target("model", "best/model.json", lambda it: load_bundle(it / "best"), JSON, 1),
        Target("model", f"best/{weights.name}", _forged, BYTES, 1),
        Target("model", "best/vocabulary.txt", _forged, LINES, 1),
        Target("model", f"best/{weights.name}", lambda it: _refused(it / "best", best), BYTES, 1),
        Target("model", f"prepared/{prepared}/manifest.json", lambda it: _open(it, prepared), JSON),
    ]
    for name in arrays:
        path = f"prepared/{prepared}/{name}"
        targets.append(Target("model", path, lambda it: _open(it, prepared), BYTES, 2))
    return targets


def _forged(folder: Path):
    """Loads a bundle whose digests are those of the damaged files."""
    info = read_json(folder / "best/model.json", "-")
    info["sha256"] = {name: sha256(folder / "best" / name) for name in info["sha256"]}
    (folder / "best/model.json").write_text(json.dumps(info))
    bundle = load_bundle(folder / "best")
    assert all(np.isfinite(weight).all() for weight in bundle.model.get_weights())
    bundle.text_to_ids()


def _refused(bundle: Path, original: Path):
    """Loads a bundle whose digests are right."""
    load_bundle(bundle)
    for path in original.iterdir():
        assert path.read_bytes() == (bundle / path.name).read_bytes(), "damage was not seen"


def _open(folder: Path, name: str):
    corpus = PreparedCorpus(folder / "prepared" / name)
    words, vectors = sum(corpus.words), corpus.vectors
    assert len(vectors) == words == len(corpus.vocabulary) and np.isfinite(vectors).all()
    for split in map(corpus.split, corpus.splits):
        assert all(it.min() >= 0 and it.max() < words + 2 for it in split.ids.values())
        assert split.labels.min() >= 0 and split.labels.max() < len(corpus.classes)
        assert split.field_lengths.min() >= 0


def bilm_targets() -> list[Target]:
    """The official files of a biLM, below `data/elmo`."""
    paths = [f"elmo/tiny_{name}" for name in ("options.json", "weights.hdf5")]

    def read(folder: Path):
        bilm = load_bilm(*(folder / path for path in paths))
        assert all(np.isfinite(weight).all() for weight in bilm.get_weights())

    return [Target("data", path, read, it, 1) for path, it in zip(paths, (JSON, BYTES))]


def result_targets(folder: Path) -> list[Target]:
    """Recorded results of a run and a series, and their answers, which tables are made of."""
    where = folder / "results"
    write_selections(write_run(where / "runs/run", config_of()), heads=0.25)
    write_series(where / "runs/series", config_of())
    report(where / "runs", where)
    (where / "predictions").mkdir(exist_ok=True)
    labels = np.arange(40, dtype=np.uint8) % 5
    for name, members in (("run", ["run"]), ("series", ["seed-1", "seed-2", "seed-3"])):
        answers = {f"{it}/predictions": np.roll(labels, 1) for it in members}
        answers.update({f"{it}/labels": labels for it in members})
        write_arrays(where / f"predictions/{name}.npz", **answers)
    damages = (damage, damage_json, damage_value)
    return [
        Target("results", "results/run.json", _tables, damages),
        Target("results", "results/series.json", _tables, damages),
        Target("results", "predictions/series.npz", _tables, BYTES, 1),
    ]


def _tables(folder: Path):
    """What `--mode=report` does, but for the drawing of all pictures."""
    records = read_records(folder)
    tables = render_tables(records)
    for name, table in TABLES.items():
        if picture(table, records.results):
            assert f"{name}.md" in tables


def all_targets(folder: Path) -> list[Target]:
    """All targets; `folder` has `data` and `model` of `scenarios`."""
    os.makedirs(folder, exist_ok=True)
    targets = write_corpora(folder) + write_inputs(folder)
    targets += work_directory_targets(folder) + bilm_targets()
    return targets + result_targets(folder)
