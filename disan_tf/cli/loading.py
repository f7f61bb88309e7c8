"""Functions of several modes: they load, prepare, draw or report.

They import TensorFlow when they are called, as modes do.
"""

import importlib
from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.installation import import_configs
from disan_tf.common.progress import notify


def read_config(tree):
    """Checks a config's sections against the components that take them; see `from_dict`."""
    from disan_tf.training.config import from_dict

    return from_dict(tree, read_data)


def read_data(options):
    """Checks the section `data` against the corpus' reader, the tokenizer and the vocabulary."""
    from data_prep.check_options import check_options
    from data_prep.corpora import fields_of, splits_of
    from disan_tf.training.config import Data

    check_options(options)
    return Data(options, fields_of(options), splits_of(options))


def load_config(name: str, variant: str = ""):
    """Returns a config of `configs/`."""
    import_configs()
    return importlib.import_module(f"configs.{name}").get_config(variant)


def compared_configs(config) -> dict:
    """Returns the configs to time beside a config: DiSAN's, or its own paper's baselines."""
    import_configs()
    if config.encoder.name == "resan":
        variants = importlib.import_module("configs.papers.resan").RESAN_VARIANTS
        names = ("bi_lstm", "bi_gru", "disan")
        return {**{name: _changed(config, variants[name]) for name in names}, "resan": config}
    paper = importlib.import_module("configs.papers.disan")
    if config.encoder.name != "disan":
        disan = paper.disan("disan_snli", config.data.corpus, config.task.name)
        disan.data.embedding_dim = config.data.embedding_dim
        for name in ("batch_size", "steps", "evaluate_every"):
            disan.train[name] = config.train[name]
        return {"disan": disan}
    configs = {name: _changed(config, change) for name, change in paper.BASELINES.items()}
    return {**configs, "disan": config}


def _changed(config, change):
    """Returns a copy of a config after a variant's change."""
    copy = config.copy_and_resolve_references()
    with copy.unlocked():
        change(copy)
    return copy


def prepare_corpus(data, data_dir, prepared_dir, in_full: bool = False, version=None):
    """Prepares the corpus of `config.data` and prints its counts; returns the `PreparedCorpus`.

    A corpus that was prepared before takes one line, unless `in_full` asks for all counts.
    `version` is the version of the tokenizer, see `data_prep.prepare.prepare`.
    """
    import data_prep.prepare
    from data_prep import bilm_files
    from data_prep.manifest import describe_briefly, describe_counts
    from disan_tf.elmo.official_files import read_options
    from disan_tf.input_pipeline import PreparedCorpus

    read_data(data)  # a member of a series has its own seed and fold
    if data.get("bilm"):
        read_options(bilm_files.find(Path(data_dir), data.bilm)[0])
    folders = Path(data_dir), Path(prepared_dir)
    was_prepared = data_prep.prepare.is_prepared(data, *folders, version)
    corpus = PreparedCorpus(data_prep.prepare.prepare(data, *folders, version))
    if was_prepared and not in_full:
        print(f"{describe_briefly(corpus.manifest)}, prepared before in {corpus.directory}")
    else:
        print(
            f"{describe_counts(corpus.manifest)}\n  in {corpus.directory}"
            + (", prepared before" if was_prepared else "")
        )
    return corpus


def find_dev(checkpoint, prepared_dir):
    """Returns the model's development set if `prepared_dir` contains its corpus; else None."""
    import ml_collections

    from data_prep.prepare import directory_name
    from disan_tf.input_pipeline import PreparedCorpus
    from disan_tf.input_pipeline.corpus_format import MANIFEST
    from disan_tf.runs.bundle import read_info
    from disan_tf.text.lookup import VOCABULARY

    info = read_info(checkpoint)
    if not prepared_dir or info["config"]["task"]["name"] == "language_model":
        return None
    data = ml_collections.ConfigDict(info["config"]["data"])
    read_data(data)  # the checkpoint may come from a stranger
    folder = Path(prepared_dir) / directory_name(data, info["tokenizer"]["version"])
    if not (folder / MANIFEST).is_file():
        return None
    try:
        corpus = PreparedCorpus(folder)
        words = (Path(checkpoint) / VOCABULARY).read_bytes()
        is_same = corpus.classes == info["classes"] and words == corpus.word_files[VOCABULARY]
        return corpus.split("dev") if is_same else None
    except UserError as error:  # a damaged file stops no export
        notify(str(error))
        return None


def evaluation_folder(bundle_directory: Path, workdir, output) -> Path:
    """Returns the folder for the scores of a model: `output`, or a folder of its work directory.

    Raises UserError if there is no `output` and the model is not that of the work directory.
    """
    if output:
        return Path(output)
    own = (Path(workdir) / "best").resolve(), Path(workdir).resolve()
    if bundle_directory.resolve() not in own:
        raise UserError(
            f"{bundle_directory} is not the model of --workdir={workdir}; name a folder for the "
            "scores with --output, or leave --checkpoint out."
        )
    return Path(workdir) / "evaluation"


def wants_baseline(flag, bundle, split: str) -> bool:
    """Returns whether baselines are scored beside a model on a split.

    `flag` is the value of --baseline; None = only the user's own tables have baselines. Raises
    UserError if the flag asks for baselines of a task or a split that has none.
    """
    is_possible = bundle.model.criterion == "accuracy" and split != "train"
    if flag and not is_possible:
        raise UserError(
            "--baseline needs a model that predicts classes and a split other than train; leave "
            f"--baseline out for {bundle.info['name']} on {split}."
        )
    return is_possible and (bundle.config.data.corpus == "table" if flag is None else flag)


def compare_with_baseline(bundle, corpus, data_dir, folder, split: str) -> list[str]:
    """Compares baselines with the predictions of `write_evaluation`; returns a line for each.

    The baselines read the corpus' files in `data_dir`, since a prepared corpus lacks the words of
    dev and test that have no vector.
    """
    import numpy as np

    from data_prep.corpora import read_texts
    from disan_tf.study.baseline import describe_baseline, fit_baselines, texts_of
    from disan_tf.training.evaluation import scored_split

    splits = [scored_split(bundle, corpus, name) for name in ("train", "dev", split)]
    criterion = bundle.config.train.get("criterion") or bundle.model.criterion
    judged = len(bundle.classes), criterion
    version = bundle.info["tokenizer"]["version"]
    read = read_texts(Path(data_dir), bundle.config.data, version, "dev", split)
    texts = [texts_of(splits[0], corpus.vocabulary), *read]
    fitted = fit_baselines(texts, [part.labels for part in splits[:2]], *judged)
    with np.load(folder / f"{split}.npz") as written:
        predictions = written["predictions"]
    labels = splits[-1].labels
    return [describe_baseline(baseline, predictions, labels, *judged) for baseline in fitted]


def initial_model(name):
    """Returns the model of --init_from, which is loaded when a training begins."""
    from disan_tf.runs.bundle import load_bundle
    from disan_tf.runs.work_directory import AUTO
    from disan_tf.serving.presets import find_bundle
    from disan_tf.study.start import CANDIDATES, AutomaticStart
    from disan_tf.training.initial_model import InitialModel

    if name == AUTO:
        return AutomaticStart([initial_model(candidate) for candidate in CANDIDATES])
    return InitialModel(name, lambda: load_bundle(find_bundle(name)))


def draw_model_figures(checkpoint, input, input_format, names, output) -> None:
    """Draws a model's figures for the sentences of its paper or of an input file."""
    from disan_tf.common.atomic import scratch_folder
    from disan_tf.common.files import read_json
    from disan_tf.serving.attention_page.attention_files import read_lines
    from disan_tf.serving.inference.attend import WEIGHT_VECTORS
    from disan_tf.serving.inference.attend import attend as attend_lines
    from disan_tf.serving.inference.model import load_reader
    from disan_tf.serving.inference.records import text_name
    from disan_tf.serving.presets import model_name
    from disan_tf.study.figures.catalogue import (
        DrawnModel,
        check_encoder,
        draw_model,
        write_examples,
    )

    bundle = load_reader(checkpoint)
    encoder, name = bundle.config.encoder.name, model_name(bundle)
    check_encoder(encoder, names)
    drawn_by = f"python run.py --mode=figures --checkpoint={checkpoint}"
    lines = "the example sentences of the papers"
    with scratch_folder(output) as scratch:
        if input is not None:
            drawn_by += f" --input={Path(input).name}"
            lines = f"the lines of {Path(input).name}"
        else:
            input = scratch / "examples.jsonl"
            write_examples(input, encoder, list(map(text_name, bundle.model.fields)))
        attend_lines(bundle, input, scratch / "attention", input_format)
        step = bundle.info["scores"]["step"]
        model = DrawnModel(name, bundle.config.to_dict(), step, lines, drawn_by)
        vectors = scratch / "attention" / f"{WEIGHT_VECTORS}.json"
        sources = {
            "lines": list(read_lines(scratch / "attention")),
            "vectors": read_json(vectors, "attend again") if vectors.exists() else {},
        }
        draw_model(sources, model, output, names)


def report_lines(lines: int, blank: int, input, treatment: str) -> None:
    """Reports to standard error that an input had no lines, or some blank lines."""
    name = "standard input" if input == "-" else input
    if not lines:
        notify(f"0 lines read from {name}; nothing was predicted or encoded.")
    if blank:
        notify(f"blank lines: {blank:,} of {lines:,} in {name}; they {treatment}.")
