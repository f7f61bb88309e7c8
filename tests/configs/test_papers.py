"""The values of the papers, or of their authors' code, that no recorded result fixes.

`test_recorded.py` compares the other values with those of the recorded results, and
`tests/parity/test_configs_golden.py` the layers of the authors' configs with their outputs.
"""

import ast

import pytest

from tests.support.runs.training import load_config

# Below a config and its variant, options and their values.
PAPERS = """
disan_snli:
    train.steps=400000
disan_snli:official
    data.empty_tokens=True data.fixed_words=all
disan_sst:official
    train.dropout=0.3 data.oov=normal data.rebalance=True
resan_snli:
    encoder.activation=relu train.dropout=0.35
resan_sick:
    train.batch_size=128
"""


def _cases():
    for line in PAPERS.strip().splitlines():
        if not line.startswith(" "):
            config = line
            continue
        for option in line.split():
            name, _, value = option.partition("=")
            yield pytest.param(*config.split(":"), name, value, id=f"{config}-{name}")


@pytest.mark.parametrize("name, variant, option, value", _cases())
def test_an_option_has_the_value_of_its_paper(name, variant, option, value):
    found = load_config(name, variant)
    for part in option.split("."):
        found = found[part]
    if not isinstance(found, str):
        value = ast.literal_eval(value)
    assert found == pytest.approx(value) if isinstance(value, float) else found == value
