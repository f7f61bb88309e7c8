"""Compares `configs/own_table.py` and `TextClassifier.fine_tune` with models of other kinds.

The other models are TF-IDF, averaged word vectors and a Bi-LSTM.

TF_NUM_INTRAOP_THREADS=1 TF_NUM_INTEROP_THREADS=1 OMP_NUM_THREADS=1 \\
  python -m tests.measurements.own_tables --data_dir=data --output=own_tables.json

The command continues an existing output. --tables=cr,trec measures only these tables. --data_dir
contains the corpora of `data_prep.download`, with CR, SUBJ and MPQA as `polarity/custrev.all`,
`subj.all` and `mpqa.all`, and in `own_tables/` Banking77 and the Microsoft Research Paraphrase
Corpus.
"""

import argparse
import csv
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from ml_collections import ConfigDict

import disan_tf
from data_prep.corpora import read_texts
from data_prep.prepare import prepare
from disan_tf import TextClassifier
from disan_tf.cli.loading import initial_model, read_config
from disan_tf.common.atomic import write_json
from disan_tf.common.machine import describe_machine
from disan_tf.common.tables import markdown_table
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.metrics.differences import Predictions, difference
from disan_tf.serving.fine_tuning.recipe import hold_out
from disan_tf.study.baseline import fit_baselines
from disan_tf.training.train import train as train_model
from tests.support.runs.training import load_config

Rows = Sequence[tuple[str, ...]]  # one text or two, then the class
JOBS = (  # table, training rows (0 = all), seeds, preset
    ("cr", 500, (1, 2, 3), "disan_sst2"),
    ("cr", 2000, (1,), "disan_sst2"),
    ("subj", 500, (1, 2, 3), "disan_sst2"),
    ("mpqa", 500, (1, 2, 3), "disan_sst2"),
    ("mpqa", 2000, (1,), "disan_sst2"),
    ("trec", 500, (1, 2, 3), "disan_sst2"),
    ("trec", 3000, (1,), "disan_sst2"),
    ("banking77", 0, (1,), "disan_sst2"),
    ("sick", 0, (1,), "disan_snli"),
    ("msr", 0, (1,), "disan_snli"),
    ("multinli_telephone", 0, (1,), "disan_snli"),
)
_SICK = ("sentence_A", "sentence_B", "entailment_judgment")
_MSR = ("#1 String", "#2 String", "Quality")
_MULTINLI = ("train", "dev_matched")
_DIM, _EPOCHS, _BATCH = 100, 30, 16


def read_table(data: Path, name: str) -> tuple[Rows, Rows]:
    """Returns the rows for training, in a fixed random order, and the rows of the test part."""
    polarity = {"cr": ("custrev", 700), "subj": ("subj", 1000), "mpqa": ("mpqa", 1000)}
    if name in polarity:
        stem, count = polarity[name]
        path = data / "polarity" / f"{stem}.all"
        lines = path.read_text(encoding="latin-1").split("\n")
        pairs = (line.partition(" ") for line in lines if len(line.split()) > 1)
        rows = _shuffled([(text.strip(), label) for label, _, text in pairs], 5)
        return rows[count:], rows[:count]
    if name == "trec":
        parts = [data / "trec" / file for file in ("train_5500.label", "TREC_10.label")]
        lines = [path.read_text(encoding="latin-1").split("\n") for path in parts]
        pairs = ([line.partition(" ") for line in part if line] for part in lines)
        return tuple([(text, kind.partition(":")[0]) for kind, _, text in part] for part in pairs)
    if name == "multinli_telephone":
        parts = [data / "multinli_1.0" / f"multinli_1.0_{part}.jsonl" for part in _MULTINLI]
        return tuple(list(_genre(path, "telephone")) for path in parts)
    columns, parts = {
        "banking77": (("text", "category"), ("banking77_train.csv", "banking77_test.csv")),
        "msr": (_MSR, ("msr_train.tsv", "msr_test.tsv")),
        "sick": (_SICK, ("SICK_train.txt", "SICK_test_annotated.txt")),
    }[name]
    folder = data / ("sick" if name == "sick" else "own_tables")
    return tuple(_columns(folder / part, columns) for part in parts)


def _genre(path: Path, genre: str) -> Iterator[tuple[str, str, str]]:
    with open(path, encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["genre"] == genre and row["gold_label"] != "-":
                yield row["sentence1"], row["sentence2"], row["gold_label"]


def _columns(path: Path, names: Sequence[str]) -> Rows:
    is_csv = path.suffix == ".csv"
    form = {} if is_csv else {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    with open(path, encoding="utf-8-sig", newline="") as file:
        return [tuple(row[name] for name in names) for row in csv.DictReader(file, **form)]


def _shuffled(rows: Rows, seed: int) -> Rows:
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return rows


def fit_tfidf(features: str) -> Callable[..., tuple[list[str], dict]]:
    """Returns a function that fits a baseline of `--mode=evaluate` and returns its predictions.

    `features` is a key of `disan_tf.study.baseline.FEATURES`.
    """

    def fit(train, test, *_):
        with tempfile.TemporaryDirectory() as folder:
            config = _write_table(Path(folder), train, test)
            config.data.vectors = ""
            corpus = PreparedCorpus(prepare(config.data, Path(folder), Path(folder) / "prepared"))
            parts = ("train", "dev", "test")
            texts = read_texts(Path(folder), config.data, None, *parts)
            labels = [corpus.split(part).labels for part in parts[:2]]
            found = fit_baselines(texts, labels, len(corpus.classes), "accuracy")
            (made,) = [baseline for baseline in found if baseline.features == features]
            return [corpus.classes[number] for number in made.predictions], {}

    return fit


def _write_table(folder: Path, train: Rows, test: Rows) -> ConfigDict:
    """Writes both parts of a table; returns the config that reads them."""
    names = ("text", "label") if len(train[0]) == 2 else ("text", "second_text", "label")
    for part, rows in (("train", train), ("test", test)):
        with open(folder / f"{part}.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([names, *rows])
    config = load_config("own_table", "pairs" if len(names) == 3 else "")
    config.data.update(train="train.csv", test="test.csv")
    return config


def commands(train: Rows, test: Rows, _, seed: int) -> tuple[list[str], dict]:
    """Returns the predictions of the commands of data_prep/OWN_TABLE.md, epochs and start."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = _write_table(folder, train, test)
        config.seed = seed
        corpus = PreparedCorpus(prepare(config.data, folder, folder / "prepared"))
        work = folder / "work"
        initial = initial_model("auto")
        run = train_model(read_config(config), lambda: corpus, work, None, initial, False)
        model = disan_tf.load(work)
        texts = [row[:-1] if len(row) == 3 else row[0] for row in test]
        start = initial.record["name"] if initial.record else "random weights"
        about = {"epochs": round(run["epoch"]), "began_with": start}
        return [row["label"] for row in model.predict(texts)], about


def fine_tune(train: Rows, test: Rows, preset: str, seed: int) -> tuple[list[str], dict]:
    """Returns the predictions of `TextClassifier.fine_tune`, and the number of epochs."""
    pairs, labels = len(train[0]) == 3, [row[-1] for row in train]
    texts = [[row[:-1] if pairs else row[0] for row in rows] for rows in (train, test)]
    model = TextClassifier.from_preset(preset, sorted({*labels}), pairs=pairs)
    history = model.fine_tune(texts[0], labels, seed=seed, verbose=0)
    return model.predict_labels(texts[1]), {"epochs": len(history.epoch)}


def keras_model(make_encoder: Callable, patience: int) -> Callable[..., tuple[list[str], dict]]:
    """Returns a function that fits a model of Keras' layers and returns its predictions.

    The weights are those of the epoch with the highest validation accuracy.
    """
    keras = tf.keras

    def fit(train, test, _, seed):
        classes = sorted({row[-1] for row in train})
        labels = np.array([classes.index(row[-1]) for row in train])
        columns, test = ([np.array(c, object) for c in zip(*rows)][:-1] for rows in (train, test))
        (columns, labels), (dev, dev_labels) = hold_out(tuple(columns), labels, seed)
        words = keras.layers.TextVectorization(20_000)
        words.adapt(np.concatenate(columns))
        ids, dev, test = ([_ids(words, c) for c in part] for part in (columns, dev, test))
        inputs = [keras.Input([None], dtype="int64") for _ in columns]
        embedding = keras.layers.Embedding(words.vocabulary_size(), _DIM, mask_zero=True)
        encoder = make_encoder()
        vectors = [encoder(embedding(x)) for x in inputs]
        features = vectors[0]
        if len(vectors) == 2:
            first, second = vectors
            parts = [first, second, tf.abs(first - second), first * second]
            features = keras.layers.Dense(_DIM, "relu")(keras.layers.Concatenate()(parts))
        logits = keras.layers.Dense(len(classes))(keras.layers.Dropout(0.25)(features))
        model = keras.Model(inputs, logits)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, metrics=["accuracy"])
        best = {"patience": patience, "restore_best_weights": True}
        stop = keras.callbacks.EarlyStopping("val_accuracy", **best)
        options = {"epochs": _EPOCHS, "batch_size": _BATCH, "callbacks": [stop], "verbose": 0}
        history = model.fit(ids, labels, validation_data=(dev, dev_labels), **options)
        predictions = model.predict(test, verbose=0).argmax(-1)
        return [classes[number] for number in predictions], {"epochs": len(history.epoch)}

    return fit


def _ids(words, texts: np.ndarray) -> np.ndarray:
    """Returns ids <int>[texts, length]; a text of punctuation alone is one unknown word."""
    ids = words(texts).numpy()
    ids[:, 0] = np.maximum(ids[:, 0], 1)
    return ids


def _bi_lstm():
    return tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(_DIM))


METHODS = {  # each returns the predicted classes, and what the record says of the training
    "tfidf": fit_tfidf("words"),
    "tfidf_characters": fit_tfidf("words and characters"),
    "average": keras_model(tf.keras.layers.GlobalAveragePooling1D, _EPOCHS),
    "bi_lstm": keras_model(_bi_lstm, 4),
    "commands": commands,
    "fine_tune": fine_tune,
}


def measure(data: Path, table: str, count: int, seed: int, preset: str) -> dict:
    """Returns test accuracies, processor seconds, and gains over both TF-IDF models."""
    train, test = read_table(data, table)
    train = _shuffled(train, seed)[: count or None]
    classes = sorted({row[-1] for row in (*train, *test)})
    gold = np.array([classes.index(row[-1]) for row in test])
    scores, by_method = {}, {}
    for name, fit in METHODS.items():
        tf.keras.utils.set_random_seed(seed)
        started = time.process_time()
        labels, about = fit(train, test, preset, seed)
        predictions = np.array([classes.index(label) for label in labels])
        seconds = time.process_time() - started
        by_method[name] = Predictions(predictions, gold)
        scores[name] = {
            "accuracy": float(np.mean(predictions == gold)),
            "cpu_seconds": round(seconds, 1),
            **about,
        }
        for key, baseline in {"gain": "tfidf", "gain_over_characters": "tfidf_characters"}.items():
            if baseline in by_method:
                gain, _ = difference([by_method[name]], [by_method[baseline]], "accuracy")
                scores[name][key] = dict(zip(("value", "low", "high"), gain))
        tf.keras.backend.clear_session()
    tokens = sum(len(text.split()) for row in train for text in row[:-1])
    job = {"table": table, "rows": len(train), "tokens": tokens, "seed": seed, "preset": preset}
    return {**job, "test_rows": len(test), "scores": scores}


def table_lines(jobs: Sequence[dict]) -> list[dict[str, str]]:
    """Returns the lines of the table in data_prep/OWN_TABLE.md, with a score for each seed."""
    groups = {}
    for job in jobs:
        groups.setdefault((job["table"], job["requested_rows"]), []).append(job)
    lines = []
    for (table, _), group in groups.items():
        line = {"table": f"{table}, {group[0]['rows']:,}"}
        for method in METHODS:
            scores = (100 * job["scores"][method]["accuracy"] for job in group)
            line[method] = "; ".join(f"{score:.1f}" for score in scores)
        gains = (job["scores"]["commands"]["gain_over_characters"].values() for job in group)
        line["commands' gain over tfidf_characters"] = "; ".join(
            "{:+.1f} ({:+.1f} to {:+.1f})".format(*(100 * x for x in gain)) for gain in gains
        )
        for method in ("tfidf_characters", "bi_lstm", "commands", "fine_tune"):
            seconds = [job["scores"][method]["cpu_seconds"] for job in group]
            line[f"{method}, seconds"] = f"{np.mean(seconds):.0f}"
        lines.append({**line, "preset": group[0]["preset"]})
    return lines


def main() -> None:
    """Measures all jobs; writes the output after each, and prints a table."""
    parser = argparse.ArgumentParser(prog="tests.measurements.own_tables")
    parser.add_argument("--data_dir", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--tables", default=",".join(dict.fromkeys(job[0] for job in JOBS)))
    options = parser.parse_args()
    jobs = json.loads(options.output.read_text())["jobs"] if options.output.exists() else []
    done = {(job["table"], job["requested_rows"], job["seed"]) for job in jobs}
    for table, count, seeds, preset in JOBS:
        for seed in seeds:
            if table in options.tables.split(",") and (table, count, seed) not in done:
                job = measure(options.data_dir, table, count, seed, preset)
                jobs.append({**job, "requested_rows": count})
                print(json.dumps(jobs[-1]), flush=True)
                write_json(options.output, {"machine": describe_machine(), "jobs": jobs})
    print(markdown_table(table_lines(jobs)))


if __name__ == "__main__":
    main()
