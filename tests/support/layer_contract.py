"""What every layer of this package promises, written once.

A test class inherits the contract that its layer keeps and says how to make and call the layer:
`LayerContract` for any layer, `SequenceContract` for layers of [batch, length, dim], and
`MaskContract` for those that take a mask.
"""

import contextlib
import json
import re

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops import portable
from tests.support.backends import BACKENDS, needs_native

# The largest relative error of one rounding.
ROUNDING = {"float32": 2.0**-24, "mixed_bfloat16": 2.0**-8, "mixed_float16": 2.0**-11}
HALF = ("mixed_bfloat16", "mixed_float16")
DIM = 8
LENGTHS = (5, 3, 1, 0)  # a full sentence, padding, one token, nothing


class Holder(tf.keras.Model):
    """The smallest model that holds a layer."""

    def __init__(self, contract, layer):
        super().__init__()
        self.contract = contract
        self.layer = layer

    def call(self, x, mask, training=None):
        return self.contract.call(self.layer, x, mask, training)


class LayerContract:
    """Shapes, precision, configuration, training, saving."""

    units = DIM  # size of the last axis of the output
    reduces = False  # whether [batch, length, dim] becomes [batch, dim]
    output_dtype = None  # None = the compute dtype
    bad_arguments = ()  # dictionaries, each with one argument that must be refused
    roundings = 6  # how many roundings half precision may be away from float32

    def make(self, **options) -> tf.keras.layers.Layer:
        """A new layer; `options` win over the test's own."""
        raise NotImplementedError

    def call(self, layer, x, mask, training=None) -> tf.Tensor:
        raise NotImplementedError

    def idle(self, layer) -> list:
        """The weights that cannot matter to the output."""
        return []

    @pytest.fixture(params=BACKENDS)
    def world(self, request):
        """A test that asks for it runs natively and portably."""
        with request.param():
            yield

    def inputs(self):
        """x <float32>[batch, length, DIM] and mask <bool>[batch, length]."""
        x = np.random.default_rng(1).normal(size=[len(LENGTHS), max(LENGTHS), DIM])
        return tf.constant(x, tf.float32), tf.sequence_mask(LENGTHS)

    def expected_shape(self, x):
        return [*x.shape[: 1 if self.reduces else -1], self.units]

    def built(self, policy="float32", **options):
        """A layer whose biases are not 0, with the same weights under every policy."""
        layer = self.make(dtype=tf.keras.mixed_precision.Policy(policy), **options)
        self.call(layer, *self.inputs())
        generator = np.random.default_rng(2)
        for weight in layer.weights:
            if weight.dtype.is_floating:
                weight.assign(0.4 * generator.normal(size=weight.shape))
        return layer

    @pytest.mark.parametrize("policy", ROUNDING)
    def test_output_has_the_promised_shape_and_dtype(self, policy, world):
        x, mask = self.inputs()
        layer = self.built(policy)
        for training in (False, True):
            output = self.call(layer, x, mask, training)
            assert output.shape == self.expected_shape(x)
            assert output.dtype == (self.output_dtype or layer.compute_dtype)
            assert np.isfinite(output.numpy().astype(np.float32)).all()

    @pytest.mark.parametrize("policy", ROUNDING)
    def test_its_children_compute_in_its_precision(self, policy):
        children = [it for it in self.built(policy).submodules if hasattr(it, "dtype_policy")]
        assert {child.dtype_policy.name for child in children} <= {policy}

    @pytest.mark.parametrize("policy", HALF)
    def test_half_precision_is_near_float32(self, policy, world):
        expected = self.call(self.built(), *self.inputs())
        actual = self.call(self.built(policy), *self.inputs())
        assert_near(actual, expected, self.roundings * ROUNDING[policy])

    @needs_native
    @pytest.mark.parametrize("policy", ROUNDING)
    def test_native_and_portable_outputs_agree_under_the_same_dropout(self, policy):
        x, mask = self.inputs()
        native = self.call(self.built(policy), x, mask, training=True)
        with portable():
            expected = self.call(self.built(policy), x, mask, training=True)
        assert_near(native, expected, self.roundings * max(ROUNDING[policy], 2e-7))

    @needs_native
    def test_native_and_portable_gradients_agree_under_the_same_dropout(self):
        found = []
        for world in (contextlib.nullcontext, portable):
            with world():
                layer = self.built()
                x, mask = self.inputs()
                found.append(self.gradients(layer, x, mask, layer.trainable_weights, training=True))
        for native, expected in zip(*map(tf.nest.flatten, found)):
            if expected is not None:  # ids have none
                assert_near(tf.convert_to_tensor(native), tf.convert_to_tensor(expected), 1e-5)

    def test_compiled_for_any_batch_and_length_gives_the_same(self):
        x, mask = self.inputs()
        layer = self.built()
        anything = [None] * (len(x.shape) - 1)
        last = anything + [DIM] if x.dtype.is_floating else [None, None]
        compiled = tf.function(
            lambda x, mask: self.call(layer, x, mask),
            input_signature=[tf.TensorSpec(last, x.dtype), tf.TensorSpec([None, None], tf.bool)],
        )
        static = compiled.get_concrete_function().output_shapes
        assert static.rank == len(self.expected_shape(x))
        assert static[-1] == self.units
        for batch in (len(LENGTHS), 1):
            expected = self.call(layer, x[:batch], mask[:batch])
            assert_near(compiled(x[:batch], mask[:batch]), expected, 1e-6)

    def test_config_survives_json_and_a_round_trip(self):
        for policy in ROUNDING:
            layer = self.make(name="it", dtype=tf.keras.mixed_precision.Policy(policy))
            config = json.loads(json.dumps(layer.get_config()))
            assert config == layer.get_config()
            assert type(layer).from_config(config).get_config() == config

    def test_a_copy_by_config_and_weights_gives_the_same_output(self):
        layer = self.built()
        copy = type(layer).from_config(layer.get_config())
        self.call(copy, *self.inputs())
        copy.set_weights(layer.get_weights())
        for training in (False, True):  # the same dropout too
            actual, expected = (self.call(it, *self.inputs(), training) for it in (copy, layer))
            np.testing.assert_array_equal(actual, expected)

    @pytest.mark.parametrize("policy", ROUNDING)
    def test_a_training_step_moves_every_weight(self, policy, world):
        layer = self.built(policy)
        idle = {id(weight) for weight in self.idle(layer)}
        weights = [weight for weight in layer.trainable_weights if id(weight) not in idle]
        before = [weight.numpy() for weight in weights]
        _, gradients = self.gradients(layer, *self.inputs(), weights, training=True)
        tf.keras.optimizers.legacy.SGD(0.1).apply_gradients(zip(gradients, weights))
        for weight, old in zip(weights, before):
            assert np.any(weight.numpy() != old), f"{weight.name} stays"
            assert np.isfinite(weight.numpy()).all(), weight.name

    def test_a_weights_file_restores_everything(self, tmp_path):
        self.check_restored(
            save=lambda model: model.save_weights(tmp_path / "layer.weights.h5"),
            load=lambda model: model.load_weights(tmp_path / "layer.weights.h5"),
        )

    def test_a_checkpoint_restores_everything(self, tmp_path):
        path = str(tmp_path / "checkpoint")
        self.check_restored(
            save=lambda model: tf.train.Checkpoint(model=model).write(path),
            load=lambda model: tf.train.Checkpoint(model=model).read(path).assert_consumed(),
        )

    def test_bad_arguments_are_refused_by_name(self):
        for bad in self.bad_arguments:
            (value,) = bad.values()
            with pytest.raises(ValueError, match=re.escape(f"={value!r};")):
                self.call(self.make(**bad), *self.inputs())

    def check_restored(self, save, load):
        model, fresh = Holder(self, self.built()), Holder(self, self.make())
        for _ in range(2):  # dropout has counted when it is saved
            model(*self.inputs(), training=True)
        fresh(*self.inputs())
        save(model)
        load(fresh)
        for actual, expected in zip(fresh.weights, model.weights):
            np.testing.assert_array_equal(actual, expected, expected.name)
        for training in (False, True):
            actual, expected = (it(*self.inputs(), training=training) for it in (fresh, model))
            np.testing.assert_array_equal(actual, expected)

    def gradients(self, layer, x, mask, weights, training=None):
        """The gradients of sum(output * noise) for x and for each of `weights`."""
        with tf.GradientTape() as tape:
            tape.watch(x)
            output = tf.cast(self.call(layer, x, mask, training), tf.float32)
            noise = np.random.default_rng(3).normal(size=output.shape)
            total = tf.reduce_sum(output * tf.constant(noise, tf.float32))
        return tape.gradient(total, (x, weights))


class SequenceContract(LayerContract):
    """Padding is nothing."""

    def pad(self, x, tokens):
        """x with `tokens` more tokens of padding."""
        return tf.pad(x, [[0, 0], [0, tokens], [0, 0]])

    def garbage(self, x):
        """Something to stand at padding, of the kind of x."""
        return 1e4 * tf.sign(tf.reverse(x, [1]) + 0.5)

    def valid(self, output, mask):
        """What the contract promises: vectors of sentences, or vectors of real tokens."""
        output = tf.cast(output, tf.float32)
        return output if self.reduces else output[:, : mask.shape[1]][mask]

    @pytest.mark.parametrize("policy", ROUNDING)
    def test_more_padding_changes_nothing(self, policy):
        x, mask = self.inputs()
        layer = self.built(policy)
        expected = self.valid(self.call(layer, x, mask), mask)
        for tokens in (1, 9):
            padded = self.call(layer, self.pad(x, tokens), tf.pad(mask, [[0, 0], [0, tokens]]))
            assert_near(self.valid(padded, mask), expected, max(1e-6, ROUNDING[policy]))

    @pytest.mark.parametrize("policy", ROUNDING)
    def test_what_stands_on_padding_does_not_matter(self, policy):
        x, mask = self.inputs()
        layer = self.built(policy)
        real = mask[:, :, None] if x.dtype.is_floating else mask
        dirty = tf.where(real, x, self.garbage(x))
        expected, actual = (self.valid(self.call(layer, it, mask), mask) for it in (x, dirty))
        np.testing.assert_array_equal(actual, expected)

    @pytest.mark.parametrize("policy", ROUNDING)
    def test_gradients_are_finite_where_sentences_are_short_or_empty(self, policy, world):
        layer = self.built(policy)
        x, mask = self.inputs()
        x_gradient, gradients = self.gradients(layer, x, mask, layer.trainable_weights)
        gradients = [each for each in gradients if each is not None]  # samplers have none
        for gradient in [x_gradient] * x.dtype.is_floating + gradients:
            assert np.isfinite(tf.convert_to_tensor(gradient).numpy()).all()


class MaskContract(SequenceContract):
    """Nothing comes from nothing."""

    @pytest.mark.parametrize("policy", ROUNDING)
    def test_where_there_is_no_token_the_output_is_exactly_zero(self, policy, world):
        x, mask = self.inputs()
        output = tf.cast(self.call(self.built(policy), x, mask), tf.float32)
        nothing = output[~tf.reduce_any(mask, axis=1) if self.reduces else ~mask]
        assert nothing.shape[0]
        np.testing.assert_array_equal(nothing, np.zeros(nothing.shape))

    @pytest.mark.parametrize("policy", ROUNDING)
    def test_padding_gets_no_gradient(self, policy, world):
        layer = self.built(policy)
        x, mask = self.inputs()
        gradient, _ = self.gradients(layer, x, mask, layer.trainable_weights)
        on_padding = gradient[~mask]
        np.testing.assert_array_equal(on_padding, np.zeros(on_padding.shape))


def assert_near(actual, expected, bound):
    """|a - b| <= bound * max(1, |b|)."""
    actual, expected = (np.asarray(tf.cast(it, tf.float32)) for it in (actual, expected))
    assert actual.shape == expected.shape
    error = np.abs(actual - expected) / np.maximum(1.0, np.abs(expected))
    assert not np.isnan(error).any() and np.max(error, initial=0.0) <= bound, np.max(error)
