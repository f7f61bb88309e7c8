"""Files that version 1.0 wrote still load, and predict what they predicted under 1.0."""

from pathlib import Path

import numpy as np
import pytest

from disan_tf.common.files import read_json
from tests.stored.write import FILES

STORED = Path(__file__).parents[1] / "stored" / "1.0"
EXPECTED = read_json(STORED / "expected.json", "restore the file")


@pytest.mark.parametrize("name", FILES)
def test_a_stored_file_predicts_what_it_predicted(name):
    outputs, expected = FILES[name](STORED / name, EXPECTED["texts"]), np.array(EXPECTED[name])
    assert np.ptp(expected, axis=0).max() > 0.1  # texts differ in their predictions
    np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-6)
