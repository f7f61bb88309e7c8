"""Where a run says that it comes from."""

import pytest

from disan_tf.runs.work_directory import command_line, data_summary


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


def test_facts_of_a_manifest():
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
