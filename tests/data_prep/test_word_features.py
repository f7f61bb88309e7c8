"""Word features of a prepared corpus: what raw text has in serving, and what corpora lack them."""

from importlib.metadata import version

import numpy as np
import pytest
import tensorflow as tf

from data_prep import stems_and_lemmas, word_features
from data_prep.prepare import directory_name, prepare
from disan_tf.common.files import read_json
from disan_tf.input_pipeline import PreparedCorpus, make_dataset
from disan_tf.text import TextToPairFeatures, WordForms
from disan_tf.text.word_forms import read_forms
from tests.support.corpora import nli

PAIRS = [
    ("A dog plays with Ann's bone.", "Playing dogs like bones and bones!"),
    ("", "The children were here"),
    ("Three mice ate", ""),
    ("", ""),
    ("It is as it was: I isn't one of us.", "as I is, so a child (it) 's"),
    ('The "Women" bought extraordinarily-long caf\u00e9 \u65e5', "a woman buys \u65e5 CAF\u00c9"),
    ("better", "good good GOOD"),
    ("It's well-made", "She's half-right"),  # may be split into empty tokens, which match nothing
]
FORMS = {  # word -> stem, lemma
    "bones": ("bone", "bone"),
    "children": ("children", "child"),
    "dogs": ("dog", "dog"),
    "playing": ("play", "playe"),
    "plays": ("play", "play"),
    "better": ("better", "good"),
    "mice": ("mice", "mouse"),
    "women": ("women", "woman"),
    "bought": ("bought", "buy"),
}
FIELDS = ("premise", "hypothesis")
LENGTH = 5
ARRAYS = {
    "train.premise.spelling": np.int32,
    "dev.hypothesis.match": np.uint8,
    "spellings": np.uint8,
}


def options(**changed):
    features = {"word_features": True, "word_length": LENGTH}
    return nli.text_options(**{**features, **changed})


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    train = [nli.row(premise=premise, hypothesis=other) for premise, other in PAIRS]
    return nli.write(tmp_path_factory.mktemp("raw"), train=train)


@pytest.fixture(scope="module", autouse=True)
def few_forms():
    """Spares preparations the stemming of a whole dictionary."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_features, "find_forms", lambda words: FORMS)
        yield


@pytest.fixture(scope="module")
def prepared(data_dir, tmp_path_factory):
    return prepare(options(), data_dir, tmp_path_factory.mktemp("prepared"))


def batch_of(folder):
    split = PreparedCorpus(folder).split("train")
    (batch,) = make_dataset(split, np.arange(len(split))[None])
    return batch


@pytest.mark.parametrize(("lowercase", "empty_tokens"), [(True, False), (False, True)])
def test_preparation_agrees_with_raw_text(data_dir, tmp_path, lowercase, empty_tokens):
    chosen = options(lowercase=lowercase, split_words=empty_tokens, empty_tokens=empty_tokens)
    folder = prepare(chosen, data_dir, tmp_path)
    text = TextToPairFeatures(
        PreparedCorpus(folder).vocabulary,
        "treebank",
        lowercase,
        empty_tokens,
        empty_tokens,
        forms=WordForms(read_forms(folder / "forms.tsv")),
        word_length=LENGTH,
    )
    expected = text.inputs(*(text.tokens(tf.constant(lines)) for lines in zip(*PAIRS)))
    batch = batch_of(folder)
    names = [f"{field}{name}" for name in ("", "_characters", "_match") for field in FIELDS]
    for name, value in zip(names, expected):
        assert batch[name].dtype == tf.int32
        np.testing.assert_array_equal(batch[name], value, err_msg=name)


def test_flags_are_those_of_stems_and_lemmas_and_spellings_keep_their_case(prepared):
    batch = batch_of(prepared)
    flags = batch["hypothesis_match"].numpy()
    assert flags[0].tolist()[:7] == [1, 1, 0, 1, 0, 1, 0]  # playing dogs like bones and bones !
    assert not flags[1:4].any()
    assert flags[6].tolist()[:3] == [1, 1, 1]
    characters = batch["premise_characters"].numpy()
    assert characters[0, 0].tolist() == [ord("A") - 31, 0, 0, 0, 0]


def test_array_types_and_the_manifest_are_the_documented_ones(prepared):
    arrays = {name: np.load(prepared / f"{name}.npy") for name in ARRAYS}
    assert {name: array.dtype for name, array in arrays.items()} == ARRAYS
    assert arrays["spellings"].shape[1] == LENGTH and not arrays["spellings"][0].any()
    manifest = read_json(prepared / "manifest.json", "")
    assert manifest["word_features"] == {
        "word_length": LENGTH,
        "spellings": len(arrays["spellings"]) - 1,
        "forms": len(FORMS),
        "snowballstemmer": version("snowballstemmer"),
        "simplemma": version("simplemma"),
    }


def test_another_version_of_a_dictionary_makes_another_corpus(monkeypatch):
    names = [directory_name(options(word_features=has), 1) for has in (True, False)]
    monkeypatch.setattr(stems_and_lemmas, "version", lambda package: "0.0.1")
    again = [directory_name(options(word_features=has), 1) for has in (True, False)]
    assert again[0] != names[0] and again[1] == names[1]


def test_without_features_nothing_is_added_and_other_arrays_are_the_same(
    data_dir, prepared, tmp_path
):
    folder = prepare(options(word_features=False), data_dir, tmp_path)
    corpus = PreparedCorpus(folder)
    assert folder.name != prepared.name
    assert not corpus.word_features and corpus.split("dev").features is None
    names = {path.name for path in folder.iterdir()}
    assert not any("spelling" in name or "match" in name or "forms" in name for name in names)
    for path in folder.glob("*.npy"):
        assert path.read_bytes() == (prepared / path.name).read_bytes()
