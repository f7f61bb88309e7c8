"""Corpora that are prepared for a small biLM of random weights."""

from pathlib import Path

from configs.papers.elmo import feed_with_elmo
from data_prep.prepare import prepare
from data_prep.synthetic.pairs import write_pairs
from disan_tf.elmo.official_files import save_bilm
from disan_tf.input_pipeline import PreparedCorpus
from tests.support.models.bilm import small_bilm
from tests.support.runs.training import corpus_of, tiny_config

STEPS = {"steps": 10, "evaluate_every": 5, "checkpoint_every": 4, "log_every": 2}


def elmo_config(dtype: str = "float32", elmo=(), **train):
    """`elmo_disan_sst.py:tiny` with changes, those of `config.embedding` as a dictionary."""
    config = tiny_config(name="elmo_disan_sst", dtype=dtype, **{**STEPS, **train})
    config.embedding.update(dict(elmo))
    config.data.repetitions = False
    return config


def elmo_corpus(folder: Path, config=None, sizes=None, **options):
    """A prepared corpus of synthetic trees beside a biLM of random weights."""
    write_bilm(folder, **options)
    sizes = sizes or {"train": 8, "dev": 6, "test": 6}
    return corpus_of(config or elmo_config(), folder, sizes)


def pair_config(**embedding):
    """ELMo-fed `disan_snli.py:tiny`."""
    config = tiny_config(name="disan_snli", **STEPS)
    feed_with_elmo(config)
    config.data.bilm = "elmo/tiny"
    config.embedding.update(embedding)
    return config


def pair_corpus(folder: Path, config) -> PreparedCorpus:
    """A prepared corpus of a few pairs."""
    write_bilm(folder)
    write_pairs(folder, seed=0, sizes={"train": 12, "dev": 6, "test": 6})
    return PreparedCorpus(prepare(config.data, folder, folder / "prepared"))


def write_bilm(folder, **options):
    (folder / "elmo").mkdir(exist_ok=True)
    names = [folder / "elmo" / f"tiny_{kind}" for kind in ("options.json", "weights.hdf5")]
    save_bilm(small_bilm(**options), *names)
