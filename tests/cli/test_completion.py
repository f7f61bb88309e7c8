"""disan_tf/cli/help.py: completions as bash asks for them."""

import subprocess
import sys

import pytest

from disan_tf.cli.command_line import defined_flags
from disan_tf.cli.help import complete
from disan_tf.cli.modes import MODES
from tests.support.runs.training import ROOT


@pytest.mark.parametrize(
    "word, completions",
    [
        ("--mode=pre", ["prepare", "predict"]),
        ("--mode=", list(MODES)),
        ("--init", ["--init_from="]),
        ("--expl", ["--explain"]),
        ("--config=disan_s", ["disan_sick", "disan_snli", "disan_sst", "disan_subj"]),
        ("--config=disan_sst:b", ["bi_lstm", "binary"]),
        ("--config=disan_sts:b", []),
        ("--checkpoint=disan_t", ["disan_trec"]),
        ("--workdir=ru", []),  # the shell completes paths
        ("--nothing=", []),
    ],
)
def test_the_last_word_is_completed(word, completions):
    assert complete(f"disan-tf --mode=predict {word}", defined_flags()) == completions


def test_a_shell_asks_the_program():
    script = """
      complete -o default -o nospace -C '{} -m disan_tf --complete' disan-tf
      COMP_LINE='disan-tf --mode=ben' {} -m disan_tf --complete disan-tf ben =
    """.replace("{}", sys.executable)
    outcome = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert outcome.stdout == "benchmark\n", outcome.stderr
