"""Bounds of the programs that XLA gets for a GPU: more operations or another loop are noticed."""

import pytest

from tests.measurements.gpu_programs import count, program_of


@pytest.mark.parametrize(
    "model, instructions, loops",
    [
        ("DiSAN", 4_300, 0),
        pytest.param("DSA", 4_500, 0, marks=pytest.mark.slow),
        pytest.param("Bi-LSTM", 3_250, 4, marks=pytest.mark.slow),
        pytest.param("ReSAN", 10_300, 0, marks=pytest.mark.slow),
        pytest.param("DRCN", 8_900, 12, marks=pytest.mark.slow),
    ],
)
def test_a_step_has_few_operations_and_loops(model, instructions, loops):
    found = count(program_of(model, 16))
    assert 0.8 * instructions < found["instructions"] <= instructions
    assert found["loops"] == loops
    assert found["bytes"] == 43_200_000  # the table of words; the pairs of tokens take less
