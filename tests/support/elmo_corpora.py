"""A corpus that is prepared for a small biLM, and what an ELMo-fed model reads of text."""

from pathlib import Path

from disan_tf.elmo.weights import save_bilm
from tests.support.small_bilm import small_bilm
from tests.support.training_runs import corpus_of, tiny_config

STEPS = {"steps": 20, "evaluate_every": 5, "checkpoint_every": 4, "log_every": 2}


def elmo_config(dtype: str = "float32", elmo=(), **train):
    """`elmo_disan_sst.py:tiny` with changes, those of `config.embedding` as a dictionary."""
    config = tiny_config(name="elmo_disan_sst", dtype=dtype, **{**STEPS, **train})
    config.embedding.update(dict(elmo))
    config.data.repetitions = False
    return config


def elmo_corpus(folder: Path, config=None, sizes=None, **options):
    """A prepared corpus of synthetic trees beside a biLM of random weights."""
    (folder / "elmo").mkdir(exist_ok=True)
    names = [folder / "elmo" / f"tiny_{kind}" for kind in ("options.json", "weights.hdf5")]
    save_bilm(small_bilm(**options), *names)
    sizes = sizes or {"train": 8, "dev": 6, "test": 6}
    return corpus_of(config or elmo_config(), folder, sizes)
