"""data_prep/corpora/polarity.py: CR, MPQA and SUBJ, both layouts, folds, bad input."""

import json

import pytest

from data_prep.corpora import READERS, polarity
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from tests.support.corpora.readers import make_options, refusal

REAL_SENTENCES = {"cr": 3774, "mpqa": 10_605, "subj": 10_000}


def options(corpus="cr", **changed):
    values = {"folds": 4, "fold": 0, "dev_share": 0.25, "split_seed": 1}
    return make_options(corpus, **{**values, **changed})


LINES = [b"%d soup number %d is hot" % (number % 2, number) for number in range(16)]


def write(data_dir, lines=LINES, name="polarity/custrev.all"):
    path = data_dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return data_dir


def write_pair(data_dir, folder="polarity", names=("custrev.neg", "custrev.pos")):
    for name, word in zip(names, (b"cold", b"hot")):
        write(data_dir, [word + b" soup", word + b" rice"] * 4, f"{folder}/{name}")
    return data_dir


def everything(corpus):
    """All examples of a corpus, in the order of the file."""
    examples = [example for part in corpus.splits.values() for example in part]
    return sorted(examples, key=lambda e: int(e.example_id.rpartition("-")[2]))


def error_of(data_dir, chosen=None):
    return refusal(data_dir, chosen or options())


# Layouts


def test_a_line_is_a_label_and_a_tokenised_sentence(tmp_path):
    write(tmp_path, LINES + [b"1 the well-known cook 's soup"])
    example = everything(polarity.read(tmp_path, options()))[-1]
    assert example.sentences == (("the", "well-known", "cook", "'s", "soup"),)
    assert (example.example_id, example.label) == ("cr-17", 1)


@pytest.mark.parametrize(
    ("corpus", "stem", "classes"),
    [
        ("cr", "custrev", ("negative", "positive")),
        ("mpqa", "mpqa", ("negative", "positive")),
        ("subj", "subj", ("subjective", "objective")),
    ],
)
def test_each_corpus_has_its_file_and_its_classes(tmp_path, corpus, stem, classes):
    read = READERS[corpus].read(write(tmp_path, name=f"polarity/{stem}.all"), options(corpus))
    assert (read.name, read.classes, read.fields) == (corpus, classes, ("sentence",))
    assert len(everything(read)) == 16


def test_files_are_latin_1_and_only_newlines_end_a_line(tmp_path):
    write(tmp_path, LINES + [b"0 caf\xe9 \x85 au\x1elait"])
    example = everything(polarity.read(tmp_path, options()))[-1]
    assert example.sentences == (("caf\u00e9", "\u0085", "au\u001elait"),)


def test_two_files_are_latin_1_too(tmp_path):
    write_pair(tmp_path)
    write(tmp_path, [b"caf\xe9"] * 8, "polarity/custrev.neg")
    words = {e.sentences[0][0] for e in everything(polarity.read(tmp_path, options()))}
    assert words == {"caf\u00e9", "hot"}


@pytest.mark.parametrize("folder", ["polarity", "polarity/data/customerr"])
def test_a_file_for_each_class_is_read_from_either_folder(tmp_path, folder):
    corpus = polarity.read(write_pair(tmp_path, folder), options())
    words = {(corpus.classes[e.label], e.sentences[0][0]) for e in everything(corpus)}
    assert words == {("negative", "cold"), ("positive", "hot")}
    names = [e.example_id for e in everything(corpus)]
    assert len(set(names)) == 16 and "cr-pos-3" in names
    assert [path.name for path in corpus.inputs] == ["custrev.neg", "custrev.pos"]


def test_the_files_of_subj_are_named_by_their_classes(tmp_path):
    write_pair(tmp_path, names=("subj.subjective", "subj.objective"))
    corpus = READERS["subj"].read(tmp_path, options("subj"))
    words = {(corpus.classes[e.label], e.sentences[0][0]) for e in everything(corpus)}
    assert words == {("subjective", "cold"), ("objective", "hot")}


def test_sentences_without_words_count_as_in_the_papers(tmp_path):
    write(tmp_path, LINES + [b"1 ", b"0"])
    assert [e.sentences for e in everything(polarity.read(tmp_path, options()))[-2:]] == [
        ((),),
        ((),),
    ]
    other = write_pair(tmp_path / "other")
    write(other, [b"hot", b"", b"soup", b""], "polarity/custrev.pos")
    assert len(everything(polarity.read(other, options()))) == 12


# Folds


def names(examples):
    return {example.example_id for example in examples}


def test_each_sentence_is_tested_in_one_fold_and_used_in_every_fold(tmp_path):
    write(tmp_path)
    folds = [polarity.read(tmp_path, options(fold=fold)).splits for fold in range(4)]
    tested = [name for splits in folds for name in names(splits["test"])]
    assert len(tested) == len(set(tested)) == 16
    for splits in folds:
        assert [len(splits[split]) for split in ("train", "dev", "test")] == [9, 3, 4]
        assert len(set().union(*map(names, splits.values()))) == 16


def test_both_classes_are_in_every_part(tmp_path):
    splits = polarity.read(write(tmp_path), options(fold=3)).splits
    assert sorted(e.label for e in splits["test"]) == [0, 0, 1, 1]
    assert {e.label for e in splits["dev"]} == {0, 1}


def test_the_split_seed_and_not_the_seed_decides_the_folds(tmp_path):
    write(tmp_path)
    first, other_seed, other_split = (
        names(polarity.read(tmp_path, options(**changed)).splits["test"])
        for changed in ({}, {"seed": 6}, {"split_seed": 2})
    )
    assert first == other_seed != other_split


def test_folds_are_prepared_apart(tmp_path):
    write(tmp_path)
    folders = {prepare(options(fold=k), tmp_path, tmp_path / "prepared") for k in range(4)}
    assert len(folders) == 4


def test_the_summary_counts_sentences_and_parts(tmp_path):
    folder = prepare(options(), write(tmp_path), tmp_path / "prepared")
    text = describe_counts(json.loads((folder / "manifest.json").read_text()))
    assert (
        "train: 16 sentences (official count 3,775, difference -3,759), 3 for dev, 4 for test, "
        "dropped none, kept 9" in text
    )
    assert "CR has 16 sentences; the papers count 3,775, blank ones included." in text


@pytest.mark.parametrize("corpus", REAL_SENTENCES)
def test_the_real_files_have_their_counts(real_data, corpus):
    read = READERS[corpus].read(real_data, options(corpus, folds=10, dev_share=0.1))
    assert len(everything(read)) == REAL_SENTENCES[corpus]
    assert bool(read.warnings) == (corpus != "subj")
    labels = [e.label for e in read.splits["test"]]
    assert len(labels) == pytest.approx(REAL_SENTENCES[corpus] / 10, abs=1)


# Bad input


@pytest.mark.parametrize("line", [b"2 soup", b"soup", b"1.0 soup", b"\t1 soup"])
def test_an_unknown_label_is_named_with_its_line(tmp_path, line):
    message = error_of(write(tmp_path, [LINES[0], line]))
    assert message.startswith(f"{tmp_path}/polarity/custrev.all, line 2: ")
    assert "is not the label 0 (negative) or 1 (positive)" in message
    assert "python -m data_prep.download polarity" in message


def test_more_folds_than_a_class_has_sentences_are_refused(tmp_path):
    message = error_of(write(tmp_path), options(folds=9))
    assert "--config.data.folds=9 is more than the 8 sentences of the smaller class" in message


def test_a_file_without_sentences_is_refused(tmp_path):
    assert "custrev.all holds no sentence" in error_of(write(tmp_path, [b""]))


def test_missing_files_are_named_in_both_layouts_with_the_command_that_fetches_them(tmp_path):
    write(tmp_path, name="polarity/custrev.pos")
    message = error_of(tmp_path)
    assert "no polarity/custrev.all and no polarity/custrev.neg and .pos" in message
    assert f"python -m data_prep.download polarity --data_dir={tmp_path}" in message
