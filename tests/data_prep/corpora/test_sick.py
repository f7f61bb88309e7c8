"""data_prep/corpora/sick.py: scores, columns by name, editions, bad input."""

import json

import numpy as np
import pytest

from data_prep.corpora import sick
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from tests.support.corpora.readers import make_options, refusal, split_at_spaces

HEADER = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
ROW = ("7", "A cook is stirring soup", "The soup isn't hot", "3.6", "NEUTRAL")


def options(**changed):
    return make_options("sick", **{"tokenizer": "treebank", **changed})


def row(**changed):
    return tuple({**dict(zip(HEADER, ROW)), **changed}.values())


def write(data_dir, header=HEADER, **rows):
    """Writes the three files; a row is a tuple of fields."""
    for split, name in sick.FILES.items():
        path = data_dir / name
        path.parent.mkdir(exist_ok=True)
        lines = ["\t".join(fields) for fields in [header, *rows.get(split, [ROW])]]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return data_dir


def error_of(data_dir, chosen=None):
    return refusal(data_dir, chosen or options())


def test_a_pair_has_its_id_the_tokens_of_both_sentences_and_its_score(tmp_path):
    corpus = sick.read(write(tmp_path), options())
    assert corpus.fields == ("sentence_a", "sentence_b")
    assert corpus.classes == ("1", "2", "3", "4", "5") and corpus.scores
    (example,) = corpus.splits["dev"]
    assert example.example_id == "7" and example.label == 3.6
    assert [" ".join(tokens) for tokens in example.sentences] == [
        "A cook is stirring soup",
        "The soup is n't hot",
    ]


def test_the_splits_are_train_trial_and_test(tmp_path):
    names = {"train": "1", "dev": "2", "test": "3"}
    rows = {split: [row(pair_ID=name)] for split, name in names.items()}
    corpus = sick.read(write(tmp_path, **rows), options())
    assert {split: examples[0].example_id for split, examples in corpus.splits.items()} == names
    assert corpus.inputs == [tmp_path / name for name in sick.FILES.values()]


def test_columns_are_found_by_their_names(tmp_path):
    order = (3, 0, 2, 1)  # without the judgement, which is not needed
    header, fields = (tuple(row[k] for k in order) for row in (HEADER, ROW))
    corpus = sick.read(
        write(tmp_path, header, train=[fields], dev=[fields], test=[fields]), options()
    )
    (example,) = corpus.splits["train"]
    assert (example.example_id, example.label) == ("7", 3.6)
    assert example.sentences[0][1] == "cook"


@pytest.mark.parametrize("score", ["1", "5"])
def test_scores_from_1_to_5_are_read(tmp_path, score):
    corpus = sick.read(write(tmp_path, dev=[row(relatedness_score=score)]), options())
    assert corpus.splits["dev"][0].label == float(score)


def test_blank_lines_and_windows_line_ends_are_accepted(tmp_path):
    write(tmp_path)
    path = tmp_path / sick.FILES["dev"]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    (example,) = sick.read(tmp_path, options()).splits["dev"]
    assert example.label == 3.6


def test_prepared_labels_are_float32_scores(tmp_path):
    folder = prepare(options(), write(tmp_path), tmp_path / "prepared")
    labels = np.load(folder / "train.label.npy")
    assert labels.dtype == np.float32
    np.testing.assert_array_equal(labels, np.float32([3.6]))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["scores"] is True
    text = describe_counts(manifest)
    assert "train: 1 pair (official count 4,500, difference -4,499)" in text
    assert "classes of train" not in text  # labels are scores


# Counts


def test_counts_that_differ_from_the_official_ones_are_a_warning(tmp_path):
    warnings = sick.read(write(tmp_path), options()).warnings
    assert "SICK dev has 1 pairs; the split of SemEval-2014 has 500." in warnings
    assert len(warnings) == 3


def test_the_other_edition_is_named(tmp_path):
    corpus = sick.read(write(tmp_path, dev=[ROW] * 495), options())
    (warning,) = [text for text in corpus.warnings if text.startswith("SICK dev")]
    assert "has 495 pairs: it is of another edition (Zenodo 2787612)" in warning
    assert "the split of SemEval-2014 has 500" in warning


def test_the_real_files_are_the_official_ones(real_data, monkeypatch):
    monkeypatch.setattr(sick, "SentenceTokenizer", split_at_spaces)
    corpus = sick.read(real_data, options())
    sizes = {split: len(examples) for split, examples in corpus.splits.items()}
    assert sizes == {"train": 4500, "dev": 500, "test": 4927} and corpus.warnings == []
    assert all(1 <= e.label <= 5 for examples in corpus.splits.values() for e in examples)


# Bad input


def bad(data_dir, *fields):
    """The message about a training file whose second row is `fields`."""
    message = error_of(write(data_dir, train=[ROW, fields]))
    assert message.startswith(f"{data_dir}/sick/SICK_train.txt, line 3: ")
    assert "python -m data_prep.download sick" in message
    return message


@pytest.mark.parametrize("score", ["0.9", "5.1", "nan"])
def test_a_score_outside_1_to_5_is_named(tmp_path, score):
    message = bad(tmp_path, *row(relatedness_score=score))
    assert f"relatedness_score {score} is not between 1 and 5" in message


@pytest.mark.parametrize("score", ["", "3,6"])
def test_a_score_that_is_no_number_is_named(tmp_path, score):
    message = bad(tmp_path, *row(relatedness_score=score))
    assert f"relatedness_score {score!r} is not a number" in message


def test_a_pair_id_without_end_is_named_with_its_limit(tmp_path):
    message = bad(tmp_path, *row(pair_ID="7" * 300))
    assert "pair_ID has 300 characters; the limit is 255" in message


@pytest.mark.parametrize("fields", [ROW[:4], ROW + ("more",)])
def test_a_row_of_another_number_of_fields_is_named(tmp_path, fields):
    assert f"{len(fields)} columns, and the header has 5; " in bad(tmp_path, *fields)


def test_a_missing_column_is_named(tmp_path):
    header = tuple("score" if name == "relatedness_score" else name for name in HEADER)
    message = error_of(write(tmp_path, header))
    assert message.startswith(
        f"{tmp_path}/sick/SICK_train.txt, line 1: there is no relatedness_score;"
    )


def test_a_file_without_pairs_is_refused(tmp_path):
    assert "SICK_trial.txt holds no pair" in error_of(write(tmp_path, dev=[]))


def test_missing_files_are_named_with_the_command_that_fetches_them(tmp_path):
    (write(tmp_path) / sick.FILES["test"]).unlink()
    message = error_of(tmp_path)
    assert "there is no sick/SICK_test_annotated.txt" in message
    assert f"python -m data_prep.download sick --data_dir={tmp_path}" in message


LATER = ("pair_ID", "sentence_A", "sentence_B", "entailment_label", "relatedness_score")


def write_later(data_dir, *sets):
    """Writes the later release, of which a set names each row's split."""
    lines = ["\t".join((*LATER, "SemEval_set"))]
    lines += [f"{k}\tA cook\tHot soup\tNEUTRAL\t3.{k}\t{name}" for k, name in enumerate(sets)]
    (data_dir / "sick").mkdir()
    (data_dir / "sick/SICK.txt").write_text("\n".join(lines) + "\n")
    return data_dir


def test_the_later_release_names_the_split_of_each_row(tmp_path):
    corpus = sick.read(write_later(tmp_path, "TEST", "TRAIN", "TRIAL", "TRAIN"), options())
    found = {split: [each.label for each in rows] for split, rows in corpus.splits.items()}
    assert found == {"train": [3.1, 3.3], "dev": [3.2], "test": [3.0]}
    assert corpus.inputs == [tmp_path / "sick/SICK.txt"]


def test_the_three_files_are_read_before_the_later_release(tmp_path):
    corpus = sick.read(write(write_later(tmp_path, "TEST")), options())
    assert len(corpus.inputs) == 3


def test_an_unknown_split_of_the_later_release_is_refused(tmp_path):
    message = error_of(write_later(tmp_path, "TRAIN", "DEV"))
    assert "SICK.txt, line 3: SemEval_set 'DEV' is not TRAIN, TRIAL or TEST" in message
