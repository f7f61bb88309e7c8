"""data_prep/corpora/sick.py: scores, columns by name, editions."""

import numpy as np
import pytest

from data_prep.corpora import sick
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from disan_tf.input_pipeline.corpus_format import read_manifest
from tests.support.corpora.raw import OPTIONS

HEADER = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
ROW = ("7", "A cook is stirring soup", "The soup isn't hot", "3.6", "NEUTRAL")


def read(data_dir):
    return sick.read(data_dir, OPTIONS["sick"])


def row(**changed):
    return tuple({**dict(zip(HEADER, ROW)), **changed}.values())


def write(data_dir, header=HEADER, end="\n", **rows):
    """Writes the three files; a row is a tuple of fields."""
    (data_dir / "sick").mkdir(exist_ok=True)
    for split, name in sick.FILES.items():
        lines = ["\t".join(fields) for fields in [header, *rows.get(split, [ROW])]]
        text = "".join(f"{line}{end}" for line in lines)
        (data_dir / name).write_bytes(text.encode())
    return data_dir


def test_a_pair_has_its_id_the_tokens_of_both_sentences_and_its_score(tmp_path):
    rows = {"train": [row(pair_ID="1")], "test": [row(pair_ID="3")]}
    corpus = read(write(tmp_path, **rows))
    names = {split: examples[0].example_id for split, examples in corpus.splits.items()}
    assert names == {"train": "1", "dev": "7", "test": "3"}
    assert corpus.fields == ("sentence_a", "sentence_b")
    assert corpus.classes == ("1", "2", "3", "4", "5") and corpus.scores
    assert corpus.inputs == [tmp_path / name for name in sick.FILES.values()]
    (example,) = corpus.splits["dev"]
    assert example.label == 3.6
    assert [" ".join(tokens) for tokens in example.sentences] == [
        "A cook is stirring soup",
        "The soup is n't hot",
    ]


def test_columns_are_found_by_their_names(tmp_path):
    order = (3, 0, 2, 1)  # without the judgement, which is not needed
    header, fields = (tuple(row[k] for k in order) for row in (HEADER, ROW))
    corpus = read(write(tmp_path, header, train=[fields], dev=[fields], test=[fields]))
    (example,) = corpus.splits["train"]
    assert (example.example_id, example.label) == ("7", 3.6)
    assert example.sentences[0][1] == "cook"


def test_the_ends_of_the_scale_blank_lines_and_windows_line_ends_are_read(tmp_path):
    rows = [row(relatedness_score="1"), row(relatedness_score="5"), ("",)]
    corpus = read(write(tmp_path, dev=rows, end="\r\n"))
    assert [example.label for example in corpus.splits["dev"]] == [1.0, 5.0]


def test_prepared_labels_are_float32_scores(tmp_path):
    folder = prepare(OPTIONS["sick"], write(tmp_path), tmp_path / "prepared")
    labels = np.load(folder / "train.label.npy")
    assert labels.dtype == np.float32 and labels == np.float32([3.6])
    manifest = read_manifest(folder)
    assert manifest["scores"] is True
    text = describe_counts(manifest)
    assert "train: 1 pair (official count 4,500, difference -4,499)" in text
    assert "classes of train" not in text  # labels are scores


@pytest.mark.parametrize(
    "pairs, warning",
    [
        (1, "SICK_trial.txt: SICK dev has 1 pairs; the split of SemEval-2014 has 500."),
        (495, "SICK_trial.txt: SICK dev has 495 pairs: it is of another edition (Zenodo 2787612)"),
    ],
)
def test_counts_that_differ_from_the_official_ones_are_a_warning(tmp_path, pairs, warning):
    warnings = read(write(tmp_path, dev=[ROW] * pairs)).warnings
    assert len(warnings) == 3 and warnings[1].startswith(warning)
    assert warnings[1].endswith("the split of SemEval-2014 has 500.")


def test_the_later_release_names_the_split_of_each_row_and_is_read_last(tmp_path):
    header = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n"
    sets = enumerate(("TEST", "TRAIN", "TRIAL", "TRAIN"))
    rows = [f"{k}\tA cook\tHot soup\tNEUTRAL\t3.{k}\t{name}\n" for k, name in sets]
    (tmp_path / "sick").mkdir()
    (tmp_path / "sick/SICK.txt").write_text(header + "".join(rows))
    corpus = read(tmp_path)
    found = {split: [each.label for each in rows] for split, rows in corpus.splits.items()}
    assert found == {"train": [3.1, 3.3], "dev": [3.2], "test": [3.0]}
    assert corpus.inputs == [tmp_path / "sick/SICK.txt"]
    assert len(read(write(tmp_path)).inputs) == 3
