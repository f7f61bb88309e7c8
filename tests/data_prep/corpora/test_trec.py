"""data_prep/corpora/trec.py: coarse and fine classes, the held-out dev part, bad input."""

import pytest

from data_prep.corpora import READERS, trec
from data_prep.prepare import prepare
from tests.support.corpora.readers import make_options, refusal

COARSE_AND_FINE = [(6, ["LOC", "NUM"]), (50, ["LOC:city", "NUM:date"])]


def options(**changed):
    return make_options("trec", **{"classes": 6, "dev_share": 0.25, "split_seed": 1, **changed})


def write(data_dir, train=None, test=None):
    """Writes both files, of lines in bytes."""
    default = [b"LOC:city Where is soup ?", b"NUM:date When is it hot ?"] * 4
    for split, lines in (("train", train), ("test", test)):
        path = data_dir / trec.FILES[split]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(line + b"\n" for line in (lines or default)))
    return data_dir


def error_of(data_dir, chosen=None):
    return refusal(data_dir, chosen or options())


@pytest.mark.parametrize(("classes", "expected"), COARSE_AND_FINE)
def test_labels_are_coarse_or_fine_classes(tmp_path, classes, expected):
    corpus = trec.read(write(tmp_path), options(classes=classes))
    assert len(corpus.classes) == classes and corpus.fields == ("sentence",)
    assert [corpus.classes[e.label] for e in corpus.splits["test"][:2]] == expected


def test_the_label_maps_are_constants():
    assert trec.CLASSES[6] == ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
    fine = trec.CLASSES[50]
    assert list(fine) == sorted(set(fine)) and len(fine) == 50
    assert {name.partition(":")[0] for name in fine} == set(trec.CLASSES[6])


def test_tokens_stand_between_spaces(tmp_path):
    write(tmp_path, test=[b"HUM:ind Who cooks the well-known cook 's soup ?"])
    (example,) = trec.read(tmp_path, options()).splits["test"]
    assert example.sentences == (("Who", "cooks", "the", "well-known", "cook", "'s", "soup", "?"),)
    assert example.example_id == "test-1"


def test_files_are_latin_1_and_only_newlines_end_a_line(tmp_path):
    write(tmp_path, test=[b"LOC:city Where is caf\xe9 \x85 au lait ?"])
    (example,) = trec.read(tmp_path, options()).splits["test"]
    assert example.sentences[0][2:4] == ("caf\u00e9", "\u0085")


def test_a_stratified_part_of_the_training_questions_is_dev(tmp_path):
    corpus = trec.read(write(tmp_path), options())
    train, dev = corpus.splits["train"], corpus.splits["dev"]
    assert [e.label for e in dev] in ([4, 5], [5, 4]) and len(train) == 6
    names = {e.example_id for e in train + dev}
    assert names == {f"train-{number}" for number in range(1, 9)}


def test_the_split_seed_decides_which_questions_are_dev(tmp_path):
    write(tmp_path)
    chosen = {
        tuple(e.example_id for e in trec.read(tmp_path, options(split_seed=k)).splits["dev"])
        for k in (1, 1, 2, 3, 4)
    }
    assert 1 < len(chosen) < 5


def test_counts_tell_what_was_read_and_what_differs(tmp_path):
    corpus = trec.read(write(tmp_path), options())
    assert corpus.counts["train"] == {
        "questions": 8,
        "expected": 5452,
        "for dev": 2,
        "dropped": {},
        "kept": 6,
    }
    assert "TREC test has 8 questions; the official split has 500." in corpus.warnings


def test_it_is_prepared(tmp_path):
    folder = prepare(options(), write(tmp_path), tmp_path / "prepared")
    assert (folder / "dev.sentence.ids.npy").is_file()


@pytest.mark.parametrize("classes", [6, 50])
def test_the_real_files_are_the_official_ones(real_data, classes):
    corpus = READERS["trec"].read(real_data, options(classes=classes, dev_share=0.1))
    sizes = {split: len(examples) for split, examples in corpus.splits.items()}
    assert sizes == {"train": 4907, "dev": 545, "test": 500} and corpus.warnings == []
    assert {e.label for e in corpus.splits["train"]} == set(range(classes))


# Bad input


@pytest.mark.parametrize(
    ("label", "classes"), [("LOC:town", 6), ("LOC:town", 50), ("LOC", 6), ("loc:city", 6)]
)
def test_an_unknown_label_is_named_with_its_line(tmp_path, label, classes):
    write(tmp_path, train=[b"LOC:city Where is soup ?", f"{label} is it ?".encode()])
    message = error_of(tmp_path, options(classes=classes))
    assert message.startswith(f"{tmp_path}/trec/train_5500.label, line 2: {label!r} is not one")
    assert "python -m data_prep.download trec" in message


def test_a_file_without_questions_is_refused(tmp_path):
    assert "TREC_10.label holds no question" in error_of(write(tmp_path, test=[b" "]))


def test_missing_files_are_named_with_the_command_that_fetches_them(tmp_path):
    (write(tmp_path) / trec.FILES["test"]).unlink()
    message = error_of(tmp_path)
    assert "there is no trec/TREC_10.label" in message
    assert f"python -m data_prep.download trec --data_dir={tmp_path}" in message
