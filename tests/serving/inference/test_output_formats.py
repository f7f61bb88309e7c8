"""Files for leaderboards: their form, the official counts, and rows that would not count."""

import json

import pytest

from disan_tf.common.errors import UserError
from disan_tf.serving.inference import output_formats
from disan_tf.serving.inference.predict import predict
from tests.support.models.bundles import RELATEDNESS, make_pair_bundle

GLUE_HEADER = "index\tpromptID\tpairID\tgenre\tsentence1\tsentence2\n"


@pytest.fixture(scope="module")
def bundle(nli_bundle):
    return nli_bundle


@pytest.fixture
def jsonl(tmp_path):
    """Three pairs in the form of the official unlabelled test files."""
    path = tmp_path / "in.jsonl"
    rows = [
        {"gold_label": "hidden", "pairID": f"{number}n", "sentence1": "a film", "sentence2": text}
        for number, text in enumerate(["bad", "", "it's new"])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_table(path, indices):
    rows = "".join(f'{index}\t1\t1n\tletters\t"a film\tbad\n' for index in indices)
    path.write_text(GLUE_HEADER + rows)
    return path


def labels(bundle, source, folder):
    predict(bundle, source, folder / "labels.jsonl")
    lines = (folder / "labels.jsonl").read_text().splitlines()
    return [json.loads(line)["label"] for line in lines]


def test_kaggle_takes_the_label_of_each_pair_id(bundle, jsonl, tmp_path):
    predict(bundle, jsonl, tmp_path / "out.csv", output_format="kaggle")
    rows = [f"{number}n,{label}\n" for number, label in enumerate(labels(bundle, jsonl, tmp_path))]
    assert (tmp_path / "out.csv").read_text() == "pairID,gold_label\n" + "".join(rows)


def test_glue_takes_the_label_of_each_index_of_the_table(bundle, tmp_path):
    source = write_table(tmp_path / "test_matched.tsv", [0, 1, 7])
    predict(bundle, source, tmp_path / "dev.tsv", output_format="glue")
    label = labels(bundle, source, tmp_path)[0]
    assert (tmp_path / "dev.tsv").read_text() == "index\tprediction\n" + "".join(
        f"{index}\t{label}\n" for index in (0, 1, 7)
    )


@pytest.mark.parametrize(
    ("form", "names", "official"),
    [
        ("kaggle", ("multinli_0.9_test_matched_unlabeled.jsonl", "out.csv"), 9_796),
        ("kaggle", ("multinli_0.9_test_mismatched_unlabeled.txt", "out.csv"), 9_847),
        ("glue", ("in.tsv", "MNLI-m.tsv"), 9_796),
        ("glue", ("in.tsv", "MNLI-mm.tsv"), 9_847),
        ("glue", ("in.tsv", "AX.tsv"), 1_104),
    ],
)
def test_official_names_have_official_counts(form, names, official):
    submission = output_formats.SUBMISSIONS[form](*names)
    submission.finish(official, official)
    with pytest.raises(UserError, match=f"{names[0]} has 3 rows, and .* has {official:,}"):
        submission.finish(3, 3)


def test_a_file_of_another_count_is_not_written(bundle, tmp_path):
    source = write_table(tmp_path / "in.tsv", range(3))
    with pytest.raises(UserError, match="in.tsv has 3 rows"):
        predict(bundle, source, tmp_path / "AX.tsv", output_format="glue")
    assert list(tmp_path.iterdir()) == [source]


def test_a_repeated_row_is_refused_with_both_lines(bundle, tmp_path):
    source = write_table(tmp_path / "in.tsv", [0, 1, 0])
    message = r"in\.tsv, line 4: duplicate index 0, first seen in .*in\.tsv, line 2;"
    with pytest.raises(UserError, match=message):
        predict(bundle, source, tmp_path / "out.tsv", output_format="glue")
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize("name", [None, "1,n", "a b", True])
def test_a_row_without_a_name_is_refused(name):
    with pytest.raises(UserError, match='line 4: there is no "pairID" that names the row'):
        output_formats.Kaggle("in.jsonl", "out.csv").check({"pairID": name}, "line 4")


def test_a_model_of_other_classes_is_refused(jsonl, tmp_path):
    other = make_pair_bundle(tmp_path / "sick", RELATEDNESS)
    with pytest.raises(UserError, match="predicts 1, 2, 3, 4, 5, but --output_format=glue needs"):
        predict(other, jsonl, tmp_path / "out.tsv", output_format="glue")


def test_an_unknown_output_format_and_standard_output_are_refused(bundle, jsonl, tmp_path):
    with pytest.raises(UserError, match="'tsv'; choose jsonl, csv or one of kaggle, glue"):
        predict(bundle, jsonl, tmp_path / "out", output_format="tsv")
    with pytest.raises(UserError, match="--output_format=kaggle needs --output"):
        predict(bundle, jsonl, "-", output_format="kaggle")
