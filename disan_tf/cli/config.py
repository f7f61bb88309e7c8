"""Reads the config of a command, before any corpus is prepared or any model is trained."""

from ml_collections import ConfigDict

from data_prep.check_options import check_options
from data_prep.corpora import fields_of, splits_of
from disan_tf.training.config import Config, Data, from_dict


def read_config(tree: ConfigDict) -> Config:
    """Checks a config's sections against the components that take them; see `from_dict`."""
    return from_dict(tree, read_data)


def read_data(options: ConfigDict) -> Data:
    """Checks the section `data` against the corpus' reader, the tokenizer and the vocabulary."""
    check_options(options)
    return Data(options, fields_of(options), splits_of(options))
