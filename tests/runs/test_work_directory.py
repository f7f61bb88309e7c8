"""disan_tf/runs/work_directory.py: the recorded command and data, and data that were changed."""

from types import SimpleNamespace

import pytest

from disan_tf.runs.work_directory import changed_inputs, check_origin, command_line, data_summary
from tests.support.errors import user_error
from tests.support.runs.finished import config_of, write_run


@pytest.mark.parametrize(
    "arguments, command",
    [
        (["--config=configs/x.py:tiny", "--seeds=1,2"], "--config=configs/x.py:tiny --seeds=1,2"),
        (["--workdir=/a/b", "--data_dir", "/c", "--mode=train"], "--mode=train"),
        (["--prepared_dir=/a", "-output", "/b", "--folds", "all"], "--folds=all"),
        (["--init_from=/home/x/runs/snli"], "--init_from=snli"),
        (["--init_from", "disan_snli"], "--init_from=disan_snli"),
        (["--config=/home/x/configs/disan_sst.py:tiny"], "--config=configs/disan_sst.py:tiny"),
        (
            ["--config.evaluate.splits=('test',)"],
            """'--config.evaluate.splits=('"'"'test'"'"',)'""",
        ),
    ],
)
def test_a_command_has_no_paths_of_this_machine(arguments, command):
    assert command_line(["/home/x/run.py", *arguments]) == f"python run.py {command}"


def test_another_program_has_no_command():
    assert command_line(["/usr/bin/pytest", "-x"]) is None


def test_the_data_summary_has_the_counts_of_a_manifest():
    manifest = {
        "splits": {"train": {"examples": 90}, "dev": {"examples": 10}},
        "unit": "pairs",
        "counts": {"train": {"pairs": 100, "expected": 1000}},
        "vectors": {"training_tokens_covered": 0.5},
    }
    assert data_summary(manifest) == {
        "splits": {"train": 90, "dev": 10},
        "training_examples": 90,
        "unit": "pairs",
        "training_read": 100,
        "official_training_examples": 1000,
        "training_tokens_covered": 0.5,
    }


def _inputs(**digests):
    return {f"{name}.txt": {"sha256": digest} for name, digest in digests.items()}


START = {"name": "snli", "sha256": "c", "words": 2, "words_found": 1, "head": False}


@pytest.fixture
def check(tmp_path):
    """Checks a training on a dev file of digest a and a test file of digest b."""
    write_run(tmp_path, config_of(), inputs=_inputs(dev="a", test="b"), init_from=START)

    def check(start=None, **digests):
        check_origin(tmp_path, SimpleNamespace(manifest={"inputs": _inputs(**digests)}), start)

    return check


def test_a_training_resumes_with_a_renamed_file(check):
    check(valid="a", test="b")


def test_a_training_does_not_resume_with_another_model_of_the_same_name(check):
    check(START, dev="a", test="b")
    check({**START, "name": "sick", "sha256": "d"}, dev="a", test="b")  # --init_from=auto
    message = user_error(check, {**START, "sha256": "d"}, dev="a", test="b")
    assert "began with another model, also named snli; restore that model" in message


def test_two_renamed_files_of_equal_content_are_not_changed():
    before, after = _inputs(dev="a", test="a"), _inputs(valid="a", held="a")
    assert changed_inputs(before, after) == set()


@pytest.mark.parametrize(
    "digests, changed",
    [
        ({"dev": "b", "test": "a"}, "dev.txt, test.txt"),
        ({"dev": "a", "test": "a"}, "test.txt"),
        ({"test": "a", "valid": "b"}, "dev.txt, test.txt, valid.txt"),
        ({"dev": "a", "test": "b", "more": "b"}, "more.txt"),
        ({"dev": "a"}, "test.txt"),
    ],
)
def test_a_training_does_not_resume_with_swapped_or_changed_files(digests, changed, check):
    assert f"changed, added or removed: {changed}; restore" in user_error(check, **digests)
