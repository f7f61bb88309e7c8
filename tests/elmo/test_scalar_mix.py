"""The scalar mix: its contract, and the numbers of the official code."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.elmo import ScalarMix
from tests.support.golden.official import GOLDEN
from tests.support.layers.contract import DIM, MaskContract, assert_near


class TestScalarMix(MaskContract):
    bad_arguments = ({"layers": 0},)
    test_weight_decay_is_on_the_matrices = None  # it is on the logits of the mix

    def make(self, **options):
        return ScalarMix(**{"layers": 3, "l2": 0.1, **options})

    def call(self, layer, x, mask, training=None):
        x = tf.cast(x, layer.compute_dtype)
        return layer(tf.stack([x, tf.sin(x), -x * x], axis=2), mask=mask)


class TestNormalizedScalarMix(TestScalarMix, variant=True):
    def make(self, **options):
        return super().make(**{"normalize": True, **options})


@pytest.mark.parametrize(("name", "normalize"), [("mix", False), ("mix_ln", True)])
def test_it_is_that_of_the_official_code(name, normalize):
    golden = np.load(GOLDEN / "elmo_scalar_mix.npz")
    mix = ScalarMix(normalize=normalize, l2=1.0)
    x = golden["out/lm_embeddings"].transpose(0, 2, 1, 3)  # layers after tokens
    mix.build(x.shape)
    mix.logits.assign(golden[f"var/{name}_ELMo_W"])
    mix.gamma.assign(golden[f"var/{name}_ELMo_gamma"][0])
    mask = golden["out/mask"].astype(bool)
    actual = mix(tf.constant(x), mask=tf.constant(mask)).numpy()
    np.testing.assert_allclose(actual[mask], golden[f"out/{name}"][mask], rtol=0, atol=5e-6)
    np.testing.assert_allclose(sum(mix.losses), golden[f"out/{name}_reg"], rtol=1e-6)


def test_normalized_layers_have_mean_0_and_variance_1_over_the_real_tokens():
    x = 5.0 + 3.0 * tf.random.stateless_normal([2, 3, 1, DIM], [1, 2])
    mask = tf.constant([[True, True, False], [True, False, False]])
    mixed = ScalarMix(1, normalize=True)(x, mask=mask)[mask]
    assert_near(tf.reduce_mean(mixed), 0.0, 1e-5)
    assert_near(tf.math.reduce_variance(mixed), 1.0, 1e-5)
