"""disan_tf/common/int8_arrays.py: arrays as int8 codes and scales."""

import h5py
import numpy as np
import pytest

from disan_tf.common.int8_arrays import encode, read_array, scales_of

ARRAY = np.array([[1.0, -4.0, 0.5], [0.0, 0.0, 0.0], [-0.02, 0.01, 0.004]], np.float32)


@pytest.mark.parametrize("largest", [127, 31, 1])
@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1)])
def test_an_array_comes_back_within_half_a_step(largest, axis, tmp_path):
    codes, scales = encode(ARRAY, largest, axis)
    assert codes.dtype == np.int8 and np.abs(codes).max() in (largest, largest - 1)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x/0"], file[scales_of("x/0")] = codes, scales
        array = read_array(file, "/x/0")
    assert array.dtype == np.float32
    steps = np.broadcast_to(np.abs(ARRAY).max(axis, keepdims=True) / largest, ARRAY.shape)
    assert np.all(np.abs(array - ARRAY) <= steps * 0.5 * (1 + 2.0**-7))


def test_codes_and_scales_equal_a_computation_by_hand():
    """4 / 100 and .02 / 100, rounded upwards to eight bits, are 164 / 4096 and 210 / 2^20."""
    codes, scales = encode(ARRAY, 100, (1,))
    np.testing.assert_array_equal(scales, np.float32([[164 / 4096], [0.0], [210 / 2**20]]))
    np.testing.assert_array_equal(codes, [[25, -100, 12], [0, 0, 0], [-100, 50, 20]])


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (2, 3, 4)])
def test_arrays_may_be_empty_or_have_three_dimensions(shape, tmp_path):
    array = np.full(shape, -2.0, np.float32)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"], file[scales_of("x")] = encode(array, 127, (0,))
        np.testing.assert_allclose(read_array(file, "x"), array, rtol=2.0**-8)


def test_arrays_of_other_types_are_read_unchanged(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.float16([0.1])
        assert read_array(file, "x").dtype == np.float16
