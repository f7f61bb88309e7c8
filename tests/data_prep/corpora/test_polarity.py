"""data_prep/corpora/polarity.py: CR, MPQA and SUBJ, both layouts, folds."""

import pytest

from data_prep.corpora import READERS, polarity
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from disan_tf.input_pipeline.corpus_format import read_manifest
from tests.support.corpora.readers import make_options

LINES = [b"%d soup number %d is hot" % (number % 2, number) for number in range(16)]
NEGATIVE_POSITIVE, SUBJECTIVE = ("negative", "positive"), ("subjective", "objective")


def options(corpus="cr", **changed):
    values = {"folds": 4, "fold": 0, "dev_share": 0.25, "split_seed": 1}
    return make_options(corpus, **{**values, **changed})


def write(data_dir, lines=LINES, name="polarity/custrev.all"):
    path = data_dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return data_dir


def everything(corpus):
    """All examples of a corpus, in the order of the file."""
    examples = [example for part in corpus.splits.values() for example in part]
    return sorted(examples, key=lambda e: int(e.example_id.rpartition("-")[2]))


def names(examples):
    return {example.example_id for example in examples}


def test_a_line_is_a_label_and_a_tokenised_sentence_in_latin_1(tmp_path):
    lines = [b"1 the well-known cook 's soup", b"0 caf\xe9 \x85 au\x1elait", b"1 ", b"0"]
    examples = everything(polarity.read(write(tmp_path, LINES + lines), options()))
    assert (examples[16].example_id, examples[16].label) == ("cr-17", 1)
    assert [example.sentences[0] for example in examples[16:]] == [
        ("the", "well-known", "cook", "'s", "soup"),
        ("caf\u00e9", "\u0085", "au\u001elait"),
        (),
        (),  # sentences without words count as in the papers
    ]


@pytest.mark.parametrize(
    ("corpus", "stem", "classes"),
    [
        ("cr", "custrev", NEGATIVE_POSITIVE),
        ("mpqa", "mpqa", NEGATIVE_POSITIVE),
        ("subj", "subj", SUBJECTIVE),
    ],
)
def test_each_corpus_has_its_file_and_its_classes(tmp_path, corpus, stem, classes):
    read = READERS[corpus].read(write(tmp_path, name=f"polarity/{stem}.all"), options(corpus))
    assert (read.name, read.classes, read.fields) == (corpus, classes, ("sentence",))
    assert len(everything(read)) == 16


@pytest.mark.parametrize(
    ("corpus", "stems", "classes"),
    [
        ("cr", ("polarity/custrev.neg", "polarity/custrev.pos"), NEGATIVE_POSITIVE),
        ("cr", [f"polarity/data/customerr/custrev.{end}" for end in ("neg", "pos")], None),
        ("subj", ("polarity/subj.subjective", "polarity/subj.objective"), SUBJECTIVE),
    ],
)
def test_a_file_for_each_class_is_read_from_either_folder(tmp_path, corpus, stems, classes):
    for path, word in zip(stems, (b"caf\xe9", b"hot")):
        write(tmp_path, [word + b" soup", b"", word + b" rice"] * 4, path)
    read = READERS[corpus].read(tmp_path, options(corpus))
    labels = {e.sentences[0][0]: e.label for e in everything(read) if e.sentences[0]}
    assert labels == {"caf\u00e9": 0, "hot": 1}
    assert read.classes == (classes or NEGATIVE_POSITIVE)
    found = names(everything(read))
    assert len(found) == 24 and f"{corpus}-{stems[1].rpartition('.')[2]}-3" in found
    assert read.inputs == [tmp_path / path for path in stems]


def test_each_sentence_is_tested_in_one_fold_and_used_in_every_fold(tmp_path):
    write(tmp_path)
    folds = [polarity.read(tmp_path, options(fold=fold)).splits for fold in range(4)]
    tested = [name for splits in folds for name in names(splits["test"])]
    assert len(tested) == len(set(tested)) == 16
    for splits in folds:
        assert [len(splits[split]) for split in ("train", "dev", "test")] == [9, 3, 4]
        assert len(set().union(*map(names, splits.values()))) == 16
        assert sorted(e.label for e in splits["test"]) == [0, 0, 1, 1]
        assert {e.label for e in splits["dev"]} == {0, 1}


def test_the_split_seed_and_not_the_seed_decides_the_folds(tmp_path):
    write(tmp_path)
    first, other_seed, other_split = (
        names(polarity.read(tmp_path, options(**changed)).splits["test"])
        for changed in ({}, {"seed": 6}, {"split_seed": 2})
    )
    assert first == other_seed != other_split


def test_folds_are_prepared_apart_and_the_summary_counts_sentences_and_parts(tmp_path):
    write(tmp_path)
    folders = {prepare(options(fold=k), tmp_path, tmp_path / "prepared") for k in range(2)}
    assert len(folders) == 2
    text = describe_counts(read_manifest(folders.pop()))
    assert (
        "train: 16 sentences (official count 3,775, difference -3,759), 3 for dev, 4 for test, "
        "dropped none, kept 9" in text
    )
    assert "CR has 16 sentences; the papers count 3,775, blank ones included." in text
