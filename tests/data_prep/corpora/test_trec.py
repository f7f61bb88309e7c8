"""data_prep/corpora/trec.py: coarse and fine classes, the held-out dev part."""

import pytest

from data_prep.corpora import trec
from data_prep.prepare import prepare
from tests.support.corpora.readers import make_options

LINES = [b"LOC:city Where is soup ?", b"NUM:date When is it hot ?"] * 4


def options(**changed):
    return make_options("trec", **{"classes": 6, "dev_share": 0.25, "split_seed": 1, **changed})


def write(data_dir, test=LINES):
    (data_dir / "trec").mkdir()
    for split, lines in (("train", LINES), ("test", test)):
        (data_dir / trec.FILES[split]).write_bytes(b"".join(line + b"\n" for line in lines))
    return data_dir


@pytest.mark.parametrize(
    ("classes", "expected"), [(6, ["LOC", "NUM"]), (50, ["LOC:city", "NUM:date"])]
)
def test_labels_are_coarse_or_fine_classes(tmp_path, classes, expected):
    corpus = trec.read(write(tmp_path), options(classes=classes))
    assert len(corpus.classes) == classes and corpus.fields == ("sentence",)
    assert [corpus.classes[e.label] for e in corpus.splits["test"][:2]] == expected


def test_the_label_maps_are_constants():
    assert trec.CLASSES[6] == ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
    fine = trec.CLASSES[50]
    assert list(fine) == sorted(set(fine)) and len(fine) == 50
    assert {name.partition(":")[0] for name in fine} == set(trec.CLASSES[6])


def test_tokens_stand_between_spaces_in_latin_1_and_only_newlines_end_a_line(tmp_path):
    write(tmp_path, test=[b"HUM:ind Who 's well-known for caf\xe9 \x85 au lait ?"])
    (example,) = trec.read(tmp_path, options()).splits["test"]
    tokens = ("Who", "'s", "well-known", "for", "caf\u00e9", "\u0085", "au", "lait", "?")
    assert example.sentences == (tokens,) and example.example_id == "test-1"


def test_a_stratified_part_of_the_training_questions_is_dev_by_the_split_seed(tmp_path):
    write(tmp_path)
    chosen = set()
    for seed in (1, 1, 2, 3, 4):
        corpus = trec.read(tmp_path, options(split_seed=seed))
        train, dev = corpus.splits["train"], corpus.splits["dev"]
        assert sorted(e.label for e in dev) == [4, 5] and len(train) == 6
        names = {e.example_id for e in train + dev}
        assert names == {f"train-{number}" for number in range(1, 9)}
        chosen.add(tuple(e.example_id for e in dev))
    assert 1 < len(chosen) < 5


def test_counts_tell_what_was_read_and_what_differs(tmp_path):
    corpus = trec.read(write(tmp_path), options())
    counts = {"questions": 8, "expected": 5452, "for dev": 2, "dropped": {}, "kept": 6}
    assert corpus.counts["train"] == counts
    assert (
        "TREC_10.label: TREC test has 8 questions; the official split has 500." in corpus.warnings
    )
    folder = prepare(options(), tmp_path, tmp_path / "prepared")
    assert (folder / "dev.sentence.ids.npy").is_file()
