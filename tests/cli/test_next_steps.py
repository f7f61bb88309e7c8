"""The commands after a training: three lines that a shell can run."""

import shlex

from disan_tf.cli.command_line import MODES
from disan_tf.cli.help import next_steps


def test_three_commands_name_the_folders_and_known_modes():
    lines = next_steps("my runs/a", "data", "my runs/a/prepared", True).splitlines()
    assert len(lines) == 3
    for line in lines:
        words = shlex.split(line.partition(":")[2])
        assert "--workdir=my runs/a" in words
        mode = next(word for word in words if word.startswith("--mode="))
        assert mode.removeprefix("--mode=") in MODES


def test_a_shared_folder_of_prepared_corpora_is_named():
    score, use, export = next_steps("runs/a", "data", "all/prepared", True).splitlines()
    assert score.endswith("--workdir=runs/a --data_dir=data --prepared_dir=all/prepared")
    assert export.endswith("--workdir=runs/a --prepared_dir=all/prepared")
    assert "--prepared_dir" not in use
    assert "--prepared_dir" not in next_steps("runs/a", "data", "runs/a/prepared", True)


def test_a_language_model_is_not_used_for_predictions():
    assert "predict" not in next_steps("runs/a", "data", "runs/a/prepared", False)
