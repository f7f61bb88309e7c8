"""The modes of `run.py --mode=...`: functions whose parameters are named as their flags.

If neither a parameter nor its flag has a default, the mode needs the flag. The first line of a
mode's docstring is its line in `run.py --help`. Modes import their modules when they are called, so
that help and mistakes in the flags need no TensorFlow.
"""

import sys
from functools import partial
from pathlib import Path

from disan_tf.cli import loading
from disan_tf.common.checks import count, join_choices, suggestion
from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS, IS_INSTALLED
from disan_tf.common.progress import notify


def prepare(config, data_dir, prepared_dir) -> None:
    """Turns a raw corpus into arrays, unless that is done, and prints its counts."""
    loading.prepare_corpus(
        loading.read_config(config).data.options, data_dir, prepared_dir, in_full=True
    )


def train(
    config, workdir, data_dir, prepared_dir, seeds=(), folds=(), pictures=True, init_from=None
) -> None:
    """Prepares the corpus and trains, or resumes at the last checkpoint in --workdir."""
    from disan_tf.cli.help import next_steps
    from disan_tf.training import series, train
    from disan_tf.training.distribution.cluster import open_devices

    config = loading.read_config(config)
    folders = {"data_dir": data_dir, "prepared_dir": prepared_dir}
    version = series.recorded_version(workdir)
    corpus_of = partial(loading.prepare_corpus, **folders, version=version)
    initial = loading.initial_model(init_from) if init_from else None
    if seeds or folds:
        series.train_series(config, workdir, seeds, folds, corpus_of, pictures, initial)
        return
    series.check_no_series(workdir)
    with open_devices(config.train.distribution) as devices, devices.writing(workdir):
        corpus_once = partial(corpus_of, config.data.options)
        summary = train.train(config, corpus_once, workdir, devices, initial, pictures)
    if not devices.is_chief:
        return
    compiled = summary.get("compilations")
    print(
        f"stopped at step {summary['step']:,} (epoch {summary['epoch']:.1f}) after "
        f"{summary['seconds'] / 60:.1f} min; best dev {summary['criterion']} "
        f"{summary['best_score']:.4f} at step {summary['best_step']:,} (epoch "
        f"{summary['best_epoch']:.1f}), in {Path(workdir) / 'best'}; curves: tensorboard "
        f"--logdir {Path(workdir) / 'tensorboard'}"
        + (f"; {compiled:,} compilations by XLA" if compiled is not None else "")
    )
    predicts = config.task.name != "language_model"
    print(next_steps(workdir, data_dir, prepared_dir, predicts))


def evaluate(
    checkpoint, split, data_dir, prepared_dir, workdir=None, output=None, baseline=None
) -> None:
    """Prints a model's or series' scores on a split; writes them into --workdir or --output."""
    if not (output or workdir):
        raise UserError("--mode=evaluate needs --workdir, or --output for the scores.")
    from disan_tf.runs.bundle import load_bundle
    from disan_tf.runs.score_tables import advise_folds, render_scores
    from disan_tf.serving.presets import find_bundle
    from disan_tf.training import evaluation, series

    def corpus_of(data, version):
        splits = loading.read_data(data).splits  # the checkpoint may come from a stranger
        if split not in splits:
            raise UserError(
                f"--split={split} must be {join_choices(splits)}{suggestion(split, splits)}"
            )
        return loading.prepare_corpus(data, data_dir, prepared_dir, version=version)

    if workdir and Path(checkpoint) == Path(workdir) and not output and series.is_series(workdir):
        if baseline:
            raise UserError(
                f"{workdir} is a series of trainings, for which no baselines are scored; leave "
                "--baseline out."
            )
        version = series.recorded_version(workdir)
        series.evaluate_series(workdir, split, partial(corpus_of, version=version))
        return
    directory = find_bundle(checkpoint)
    folder = loading.evaluation_folder(directory, workdir, output)
    bundle = load_bundle(directory)
    has_baseline = loading.wants_baseline(baseline, bundle, split)
    corpus = corpus_of(bundle.config.data, bundle.info["tokenizer"]["version"])
    scores = evaluation.write_evaluation(folder, bundle, corpus, split)
    compared = []
    if has_baseline:
        compared = loading.compare_with_baseline(bundle, corpus, data_dir, folder, split)
    print("\n\n".join([render_scores(scores, compared), *advise_folds(corpus.manifest)]))


def reproduce(row=None, data_dir="data", seeds=(), released=False, output="runs/reproduce") -> None:
    """Trains a row of a paper or scores its released model, and prints a verdict."""
    from disan_tf.cli.reproduce import Reproduction, render_rows, targets
    from disan_tf.study.reproduce import FAIL, find_target

    if released and (row is None or seeds):
        raise UserError("--released scores one model: name its --row, and leave --seeds out.")
    if row is None:
        print(render_rows())
        return
    target = find_target(targets(), row)
    work = Reproduction(Path(output), Path(data_dir))
    if released:
        verdict = work.score_released(target)
    else:
        verdict = work.train(
            target, loading.load_config(*target.row.recorded_config.split(":")), seeds
        )
    print(verdict)
    if verdict.word == FAIL:
        sys.exit(1)


def predict(
    checkpoint,
    input,
    output="-",
    input_format=None,
    output_format=None,
    explain=False,
    text_column=(),
    input_encoding="utf-8",
    escape_formulas=False,
    top_k=None,
    max_tokens=None,
    dtype="float32",
) -> None:
    """Predicts the labels of lines of text or sentence pairs."""
    from disan_tf.serving.inference.model import load_reader
    from disan_tf.serving.inference.predict import predict as predict_lines

    counts = predict_lines(
        load_reader(checkpoint, dtype),
        input,
        output,
        input_format,
        output_format,
        explain=explain,
        text_column=text_column,
        encoding=input_encoding,
        escape_formulas=escape_formulas,
        top_k=top_k,
        max_tokens=max_tokens,
    )
    place = "" if output == "-" else f" in {output}"
    gold = f"; {count(counts.unlabeled, 'row')} without a gold label" if counts.gold else ""
    if place or gold:
        number = counts.rows - counts.blank
        notify(f"{count(number, 'prediction')}{place}{gold}")
    loading.report_lines(counts.rows, counts.blank, input, "are marked and get no prediction")
    for remark in counts.remarks:
        notify(f"warning: {remark}")
    if 0 < counts.renamed < counts.rows:
        notify(
            f"{counts.renamed:,} of {counts.rows:,} records have a field of the prediction's name; "
            "their predictions are in fields with the prefix predicted_."
        )


def encode(
    checkpoint,
    input,
    output,
    input_format=None,
    vector_dtype="float32",
    text_column=(),
    input_encoding="utf-8",
    max_tokens=None,
    dtype="float32",
) -> None:
    """Writes the vectors of lines of text, in their order, as .npy or JSON lines."""
    from disan_tf.serving.inference.encode import encode as encode_lines
    from disan_tf.serving.inference.model import load_reader

    vectors, seconds, blank, remarks = encode_lines(
        load_reader(checkpoint, dtype),
        input,
        output,
        input_format,
        vector_dtype,
        text_column=text_column,
        encoding=input_encoding,
        max_tokens=max_tokens,
    )
    print(f"{count(vectors, 'vector')} in {output}, {vectors / seconds:,.0f} a second")
    loading.report_lines(vectors, blank, input, "have vectors of zeros")
    for remark in remarks:
        notify(f"warning: {remark}")


def attend(
    checkpoint, input, output, input_format=None, text_column=(), input_encoding="utf-8"
) -> None:
    """Writes the attention in lines of text or sentence pairs, and a page that displays it."""
    from disan_tf.serving.attention_page.page import NAME, write_page
    from disan_tf.serving.inference.attend import attend as attend_lines
    from disan_tf.serving.inference.model import load_reader
    from disan_tf.serving.presets import model_name

    bundle = load_reader(checkpoint)

    def add_page(folder):
        write_page(folder, model_name(bundle))

    options = input_format, add_page, text_column, input_encoding
    lines = attend_lines(bundle, input, output, *options)
    page = f"; open {Path(output) / NAME} in a browser" if lines else ""
    print(f"{count(lines, 'line')} in {output}{page}")


def export(
    checkpoint, workdir=None, output=None, format="saved_model", max_tokens=None, prepared_dir=None
) -> None:
    """Writes a model as SavedModels, TFLite or ONNX, or a biLM as its official files."""
    if not (output or workdir):
        raise UserError("--mode=export needs --workdir, or --output for the models.")
    from disan_tf.serving.export.comparison import describe_comparison
    from disan_tf.serving.export.export_model import export_model
    from disan_tf.serving.presets import find_bundle

    folder = find_bundle(checkpoint)
    dev = loading.find_dev(folder, prepared_dir)
    paths = export_model(folder, workdir, output, format, max_tokens, dev)
    for path in paths:
        print(path)
    if remark := describe_comparison(paths[0]):
        notify(remark)


def serve(
    checkpoint,
    host="127.0.0.1",
    port=8000,
    dtype="float32",
    max_request_tokens=4096,
    max_text_tokens=2048,
    timeout=30.0,
    shutdown_delay=0.0,
    log_level="info",
) -> None:
    """Serves predictions and vectors over HTTP, until SIGTERM or Control-C."""
    from disan_tf.serving.inference.model import load_reader
    from disan_tf.serving.presets import model_name

    try:
        from disan_tf.serving.server import process
        from disan_tf.serving.server.service import Limits
    except ImportError as error:
        raise UserError(
            f"--mode=serve needs FastAPI, uvicorn and prometheus-client ({error}); install them "
            "with pip install 'disan_tf[serve]', or in the repository '.[serve]'."
        ) from None
    bundle = load_reader(checkpoint, dtype)
    limits = Limits(max_request_tokens, max_text_tokens, timeout)
    process.serve(bundle, model_name(bundle), host, port, limits, shutdown_delay, log_level)


def compare(runs, output="comparison") -> None:
    """Compares runs: config differences, scores with paired intervals, learning curves."""
    from disan_tf.runs.comparison import compare as compare_runs
    from disan_tf.study.results import read_any_run

    print(compare_runs(runs, Path(output), read_any_run))


def report(workdir=None, output=None) -> None:
    """Tabulates and draws the runs below --workdir; --output=checkpoints: the papers' tables."""
    if workdir is not None and Path(output or "report").resolve() != CHECKPOINTS:
        from disan_tf.runs.comparison import report_runs

        print(report_runs(Path(workdir), Path(output or "report")))
        return
    from disan_tf.study.report import report as record

    if output is None and IS_INSTALLED:
        raise UserError("--mode=report needs --output, the folder of results and tables.")
    record(workdir, Path(output or CHECKPOINTS), loading.load_config)


def figures(
    checkpoint=None, workdir=None, input=None, input_format=None, figures=(), output="figures"
) -> None:
    """Draws the papers' figures from a model's attention or from recorded runs."""
    from disan_tf.study.figures.catalogue import check_names, draw_runs
    from disan_tf.study.results import read_results

    check_names(figures, checkpoint is not None)
    if checkpoint is not None:
        loading.draw_model_figures(checkpoint, input, input_format, figures, Path(output))
    elif input is not None or input_format is not None:
        raise UserError(
            "--input and --input_format are for the figures of a model; add --checkpoint."
        )
    if checkpoint is None or workdir is not None:
        results, root = read_results(CHECKPOINTS / "results"), Path(workdir) if workdir else None
        draw_runs(results, root, Path(output), figures)


def models() -> None:
    """Lists the trained models that come with the package: name, task, score."""
    from disan_tf.cli.help import list_models
    from disan_tf.serving.presets import presets

    print(list_models(presets()))


def configs() -> None:
    """Lists the experiments' configs with their variants."""
    from disan_tf.cli.help import list_configs

    print(list_configs())


def doctor(data_dir, prepared_dir=None) -> None:
    """Prints what a bug report needs: versions, devices, corpora; checks what was prepared."""
    from disan_tf.cli.doctor import diagnose

    print(diagnose(Path(data_dir), prepared_dir and Path(prepared_dir)))


def benchmark(config, benchmark_parts, repetitions: int, output=None) -> None:
    """Times a config's model on this machine, beside its authors' formulation."""
    from disan_tf.study.benchmark.parts import benchmark as measure

    loading.read_config(config)
    measure(config, loading.compared_configs, output, benchmark_parts, repetitions)


_MODES = (prepare, train, evaluate, reproduce, predict, encode, attend, export, serve)
_MODES += (compare, report, figures, models, configs, doctor, benchmark)
MODES = {mode.__name__: mode for mode in _MODES}
