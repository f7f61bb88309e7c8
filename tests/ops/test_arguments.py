"""Variables, NumPy arrays and lists as arguments of the functions of `disan_tf.ops`."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops import directional_attention, portable
from disan_tf.ops.co_attention_scores import additive_scores, product_scores
from disan_tf.ops.dropout import apply_mask, keep_mask
from disan_tf.ops.elementwise import bias_activation, copies, fusion_gate, softmax_pool
from tests.support.ops.backends import BACKENDS

MASK = np.array([[True, True, False], [True, True, True]])
X, OTHER = np.random.default_rng(1).normal(size=[2, 2, 3, 4]).astype(np.float32)
VECTOR = np.arange(4, dtype=np.float32)


def _dropped(x):
    return apply_mask(x, keep_mask(24, tf.constant([1, 2], tf.int64), 0.5), 0.5)


FUNCTIONS = {
    **{
        form: (
            lambda *inputs, form=form: directional_attention(
                *inputs, MASK, direction="forward", head_mask=MASK, form=form
            ),
            (X, OTHER, X + 1),
        )
        for form in ("auto", "plain", "lean", "saved")
    },
    "additive_scores": (additive_scores, (X, OTHER, VECTOR)),
    "product_scores": (product_scores, (X, OTHER, np.eye(4, dtype=np.float32), VECTOR)),
    "product_scores of pairs": (
        lambda *inputs: product_scores(*inputs, pairs=MASK[:, :, None] & MASK[:, None]),
        (X, OTHER, np.eye(4, dtype=np.float32), VECTOR),
    ),
    "copies": (lambda x: sum(copies(x, 3)), (X,)),
    "bias_activation": (
        lambda x, bias: bias_activation(x, bias, tf.keras.activations.elu),
        (X, VECTOR),
    ),
    "fusion_gate": (lambda *inputs: fusion_gate(*inputs, MASK), (X, OTHER, VECTOR, X, OTHER)),
    "softmax_pool": (lambda *inputs: softmax_pool(*inputs, MASK), (X, OTHER)),
    "apply_mask": (_dropped, (X,)),
}


def test_masks_of_numbers_are_masks_of_booleans():
    options = {"direction": "forward", "form": "plain"}
    with portable():
        expected = directional_attention(X, OTHER, X, MASK, head_mask=MASK[::-1], **options)
        for dtype in (np.int32, np.float32, np.float16):
            masks = MASK.astype(dtype), MASK[::-1].astype(dtype)
            found = directional_attention(X, OTHER, X, masks[0], head_mask=masks[1], **options)
            np.testing.assert_array_equal(found, expected)


def test_masks_of_another_shape_are_refused_in_one_sentence():
    options = {"direction": "forward"}
    with portable():
        for shape in ([2], [2, 4], [1, 3], [2, 3, 1]):
            mask = np.ones(shape, bool)
            for name, masks in {"mask": (mask, None), "head_mask": (MASK, mask)}.items():
                with pytest.raises(ValueError, match=f"^{name} has the shape .* is .2, 3. for"):
                    directional_attention(X, OTHER, X, masks[0], head_mask=masks[1], **options)


def _results(function, inputs):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(*inputs)
    return [result, *tape.gradient(result, inputs)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_variables_arrays_and_lists_are_read_like_tensors(name, backend):
    function, arrays = FUNCTIONS[name]
    with backend():
        expected = _results(function, [tf.constant(array) for array in arrays])
        found = _results(function, [tf.Variable(array) for array in arrays])
        for ours, theirs in zip(found, expected):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(function(*arrays), expected[0])
        lists = [array.tolist() for array in arrays]
        np.testing.assert_array_equal(function(*lists), expected[0])
