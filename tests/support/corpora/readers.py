"""What tests of corpus readers share: options, and the sentence of a refusal."""

from ml_collections import ConfigDict

from data_prep.corpora import READERS
from tests.support.errors import user_error


def make_options(corpus: str, **values) -> ConfigDict:
    """The options of a corpus, without vectors."""
    common = {
        "corpus": corpus,
        "tokenizer": "whitespace",
        "lowercase": True,
        "vectors": "",
        "embedding_dim": 2,
        "fixed_words": "corpus",
        "oov": "uniform",
        "seed": 5,
    }
    return ConfigDict({**common, **values})


def table_options(train: str, **changed) -> ConfigDict:
    """The options of a user's own table with the columns text and label."""
    values = {
        "dev": "",
        "test": "",
        "dev_share": 0.1,
        "test_share": 0.1,
        "split_seed": 1,
        "text": "text",
        "second_text": "",
        "label": "label",
        "score": "",
        "example_id": "",
        "classes": (),
        "lowest": 1,
        "highest": 5,
    }
    return make_options("table", train=train, **{**values, **changed})


def refusal(data_dir, options: ConfigDict) -> str:
    """The one sentence with which the reader refuses what is in `data_dir`."""
    message = user_error(READERS[options.corpus].read, data_dir, options)
    assert message.endswith(".")
    return message


def split_at_spaces(*options):
    """In place of `SentenceTokenizer`, where tokens do not matter: spares TensorFlow's time."""
    return lambda texts: [tuple(text.split()) for text in texts]


split_at_spaces.of = split_at_spaces
