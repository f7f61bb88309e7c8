"""What `run.py --mode=...` does: each mode as a function whose parameters are named as its flags.

A parameter without a default is a flag that the mode needs.
"""

import sys
from pathlib import Path

import data_prep.prepare
from disan_tf.errors import UserError
from disan_tf.files import CHECKPOINTS, write_json
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.reporting.report import report as record
from disan_tf.serving.attend import attend as attend_lines
from disan_tf.serving.bilm_files import export_bilm, serves
from disan_tf.serving.predict import predict as predict_lines
from disan_tf.serving.released import find_bundle
from disan_tf.serving.saved_model import export_saved_model
from disan_tf.training import experiment
from disan_tf.training.bundle import load_bundle
from disan_tf.training.check_config import check_config
from disan_tf.training.evaluation import evaluate as score
from disan_tf.training.score_tables import render_scores
from disan_tf.training.series import refuse_series, train_series


def prepare(config, data_dir, prepared_dir) -> PreparedCorpus:
    """Prepares the corpus of a config, or finds it prepared, and prints its counts."""
    directory = data_prep.prepare.prepare(config.data, Path(data_dir), Path(prepared_dir))
    corpus = PreparedCorpus(directory)
    print(f"{data_prep.prepare.report(corpus.manifest)}\n  in {directory}")
    return corpus


def train(config, data_dir, prepared_dir, workdir, seeds=(), folds=()) -> None:
    """Prepares the corpus, trains, or resumes, and prints what came of it."""
    if seeds or folds:
        train_series(
            config, workdir, seeds, folds, lambda each: prepare(each, data_dir, prepared_dir)
        )
        return
    refuse_series(workdir)
    corpus = prepare(config, data_dir, prepared_dir)
    check_config(config)
    summary = experiment.train(config, corpus, workdir)
    print(
        f"stopped at step {summary['step']:,} after {summary['seconds'] / 60:.1f} min; best dev "
        f"{summary['criterion']} {summary['best_score']:.4f} at step {summary['best_step']:,}, in "
        f"{Path(workdir) / 'best'}; curves: tensorboard --logdir {Path(workdir) / 'tensorboard'}"
    )


def evaluate(checkpoint, split, data_dir, prepared_dir, workdir=None, output=None) -> None:
    """Prints a model's scores and writes them as `<output>/<split>.json`."""
    if not (output or workdir):
        raise UserError("--mode=evaluate needs --workdir, or --output for the scores.")
    bundle = load_bundle(find_bundle(checkpoint))
    corpus = prepare(bundle.config, data_dir, prepared_dir)
    scores = score(bundle, corpus, split)
    print(render_scores(scores))
    write_json(Path(output or f"{workdir}/evaluation") / f"{split}.json", scores)


def predict(checkpoint, input, output="-", input_format=None, output_format="jsonl") -> None:
    """Answers lines of text, or of pairs, and says how many have no gold label."""
    bundle = _serving(load_bundle(find_bundle(checkpoint)))
    counts = predict_lines(bundle, input, output, input_format, output_format)
    if counts.gold:
        print(
            f"{counts.rows:,} rows are answered; {counts.unlabeled:,} of them have no gold label.",
            file=sys.stderr,
        )


def attend(checkpoint, input, output, input_format=None) -> None:
    """Writes the attention tensors of lines of text."""
    bundle = _serving(load_bundle(find_bundle(checkpoint)))
    count = attend_lines(bundle, input, output, input_format)
    print(f"{count} lines in {output}")


def export(checkpoint, workdir=None, output=None) -> None:
    """Writes the two SavedModels, or a language model's official files, `<output>_options.json`."""
    if not (output or workdir):
        raise UserError("--mode=export needs --workdir, or --output for the models.")
    source, target = find_bundle(checkpoint), Path(output or workdir)
    if serves(source):
        paths = export_saved_model(source, target)
    else:
        paths = export_bilm(source, target if output else target / "bilm")
    for path in paths:
        print(path)


def _serving(bundle):
    if not bundle.model.serves:
        raise UserError(
            f"{bundle.directory} holds a language model, which answers no lines; --mode=export "
            "writes its official files, which feed other models."
        )
    return bundle


def report(workdir=None, output=CHECKPOINTS) -> None:
    """Records the runs of a tree and writes the tables, see `disan_tf.reporting.report`."""
    record(workdir, Path(output))


def doctor(data_dir) -> None:
    """Prints what a bug report needs: versions, devices, threads, corpora, vectors."""
    from disan_tf.doctor import diagnose

    print(diagnose(Path(data_dir)))


def benchmark(config, benchmark_parts, repetitions: int, output=None) -> None:
    """Measures this machine against the authors' formulation, see `disan_tf.benchmark`."""
    from disan_tf.benchmark.main import benchmark as measure  # only then is matplotlib needed

    measure(config, output, benchmark_parts, repetitions)
