"""What every layer of this package promises, written once.

A test class inherits the contract that its layer keeps and names the layer's class and arguments:
`LayerContract` for any layer, `VectorContract` for layers of [batch, dim], `SequenceContract` for
layers of [batch, length, dim], and `MaskContract` for those that take a mask. A class that tests
the same layer with other options is a variant of the first:

    class TestBackwardLSTM(TestForwardLSTM, variant=True):

and checks numbers in float32 alone: its configuration, its files, its compilation and its half
precision are those of the first.
"""

import contextlib
import json
import re

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.keras_layer import sublayers
from disan_tf.ops import portable
from tests.support.layers.weights import draw_weights
from tests.support.ops.backends import BACKENDS, needs_native

# The largest relative error of one rounding.
ROUNDING = {"float32": 2.0**-24, "mixed_bfloat16": 2.0**-8, "mixed_float16": 2.0**-11}
HALF = ("mixed_bfloat16", "mixed_float16")
DIM = 8
LENGTHS = (5, 3, 1, 0)  # a full sentence, padding, one token, nothing
SHARED = {"dropout": 0.25, "l2": 1e-4, "seed": 5}  # arguments of most layers
BAD_DROPOUT = ({"dropout": 1.0}, {"dropout": -0.1})
POLICIES = {  # of the tests of numbers: each where a fault would show first
    "test_output_has_the_promised_shape_and_dtype": ("float32", "mixed_bfloat16"),
    "test_native_and_portable_outputs_agree_under_the_same_dropout": ("mixed_bfloat16",),
    "test_a_training_step_moves_every_weight": ("mixed_float16",),
    "test_gradients_are_finite_where_sentences_are_short_or_empty": ("mixed_float16",),
    "test_attend_gives_named_float32_tensors": ("mixed_bfloat16",),
}
# In the name of a matrix and its number of columns.
WITHOUT_DECAY = re.compile(
    r"/(trained|vectors|kernel_\d|(head|dependent)_map/kernel)|score_map/dense/kernel.* 1$"
)
ONCE_PER_LAYER = (  # the tests that a variant leaves out
    "test_compiled_for_any_batch_and_length_gives_the_same",
    "test_config_survives_json_and_a_round_trip",
    "test_a_copy_takes_its_weights_from_memory_a_file_and_a_checkpoint",
    "test_half_precision_is_near_float32",
    "test_bad_arguments_are_refused_by_name",
)


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

    kind: type  # of the layer
    arguments = {}  # of the layer, beside `SHARED`
    units = DIM  # size of the last axis of the output
    reduces = False  # whether [batch, length, dim] becomes [batch, dim]
    output_dtype = None  # None = the compute dtype
    bad_arguments = ()  # dictionaries, each with one argument that must be refused
    roundings = 6  # how many roundings half precision may be away from float32
    is_variant = False

    def __init_subclass__(cls, variant=False, **options):
        super().__init_subclass__(**options)
        if variant:
            cls.is_variant = True
            for name in ONCE_PER_LAYER:
                setattr(cls, name, None)  # pytest does not collect it

    def pytest_generate_tests(self, metafunc):
        if "policy" in metafunc.fixturenames:
            policies = {} if self.is_variant else POLICIES
            policies = policies.get(metafunc.function.__name__, ("float32",))
            metafunc.parametrize("policy", policies)

    def make(self, **options) -> tf.keras.layers.Layer:
        """A new layer; `options` win over the test's own."""
        return self.kind(**{**SHARED, **self.arguments, **options})

    def call(self, layer, x, mask, training=None) -> tf.Tensor:
        return layer(x, training=training)

    def idle(self, layer) -> list:
        """The weights that cannot matter to the output."""
        return []

    @pytest.fixture(scope="class", autouse=True)
    def _built(self, request):
        """Building is what takes long, so the tests of a class share a layer of each policy."""
        request.cls.built_layers = {}
        yield
        request.cls.built_layers = {}

    def inputs(self):
        """x <float32>[batch, length, DIM] and mask <bool>[batch, length]."""
        x = np.random.default_rng(1).normal(size=[len(LENGTHS), max(LENGTHS), DIM])
        return tf.constant(x, tf.float32), tf.sequence_mask(LENGTHS)

    def parts(self, x, mask):
        """Returns the whole batch, its first sentence, and an empty batch."""
        return [(x[:batch], mask[:batch]) for batch in (len(LENGTHS), 1, 0)]

    def expected_shape(self, x):
        return [*x.shape[: 1 if self.reduces else -1], self.units]

    def built(self, policy="float32", **options):
        """A new layer whose biases are not 0, with the same weights under every policy."""
        layer = self.make(dtype=tf.keras.mixed_precision.Policy(policy), **options)
        self.call(layer, *self.inputs())
        draw_weights(layer.weights, seed=2, size=0.4)
        return layer

    def shared(self, policy="float32"):
        """The layer of the class as `built` made it, whatever other tests did to its weights."""
        if policy not in self.built_layers:
            layer = self.built(policy)
            self.built_layers[policy] = layer, layer.get_weights()
        layer, weights = self.built_layers[policy]
        layer.set_weights(weights)
        return layer

    def test_output_has_the_promised_shape_and_dtype(self, policy):
        x, mask = self.inputs()
        layer = self.shared(policy)
        for training in (False, True):
            output = self.call(layer, x, mask, training)
            assert output.shape == self.expected_shape(x)
            assert output.dtype == (self.output_dtype or layer.compute_dtype)
            assert np.isfinite(output.numpy().astype(np.float32)).all()
        assert {child.dtype_policy.name for child in sublayers(layer)[1:]} <= {policy}

    def test_a_batch_without_rows_gives_none(self):
        x, mask = self.inputs()
        output = self.call(self.shared(), x[:0], mask[:0], training=True)
        assert output.shape == [0, *self.expected_shape(x)[1:]]

    @pytest.mark.parametrize(
        "half, backend",
        [pytest.param(half, *it.values, marks=it.marks) for half, it in zip(HALF, BACKENDS)],
    )
    def test_half_precision_is_near_float32(self, half, backend):
        with backend():
            expected = self.call(self.shared(), *self.inputs())
            actual = self.call(self.shared(half), *self.inputs())
        assert_near(actual, expected, self.roundings * ROUNDING[half])

    @needs_native
    def test_native_and_portable_outputs_agree_under_the_same_dropout(self, policy):
        x, mask = self.inputs()
        native = self.call(self.shared(policy), x, mask, training=True)
        with portable():
            expected = self.call(self.shared(policy), x, mask, training=True)
        assert_near(native, expected, self.roundings * max(ROUNDING[policy], 2e-7))

    @needs_native
    def test_native_and_portable_gradients_agree_under_the_same_dropout(self):
        both = []
        for backend in (contextlib.nullcontext, portable):
            with backend():
                layer = self.shared()
                x, mask = self.inputs()
                both.append(self.gradients(layer, x, mask, layer.trainable_weights, training=True))
        for native, expected in zip(*map(tf.nest.flatten, both)):
            if expected is not None:  # ids have none
                assert_near(tf.convert_to_tensor(native), tf.convert_to_tensor(expected), 1e-5)

    def test_compiled_for_any_batch_and_length_gives_the_same(self):
        x, mask = self.inputs()
        layer = self.shared()
        anything = [None] * (len(x.shape) - 1)
        last = anything + [DIM] if x.dtype.is_floating else [None, None]
        compiled = tf.function(
            lambda x, mask: self.call(layer, x, mask),
            input_signature=[tf.TensorSpec(last, x.dtype), tf.TensorSpec([None, None], tf.bool)],
            autograph=False,
        )
        static = compiled.get_concrete_function().output_shapes
        assert static.rank == len(self.expected_shape(x))
        assert static[-1] == self.units
        for part in self.parts(x, mask):
            assert_near(compiled(*part), self.call(layer, *part), 1e-6)

    def test_config_survives_json_and_a_round_trip(self):
        layer = self.make(name="it", dtype=tf.keras.mixed_precision.Policy("mixed_bfloat16"))
        config = json.loads(json.dumps(layer.get_config()))
        assert config == layer.get_config()
        assert type(layer).from_config(config).get_config() == config

    def test_a_copy_takes_its_weights_from_memory_a_file_and_a_checkpoint(self, tmp_path):
        """The weights of a copy by config, and with them its outputs, the same dropout too."""
        model = Holder(self, self.shared())
        model(*self.inputs(), training=True)  # dropout has counted when it is saved
        weights, checkpoint = model.get_weights(), tf.train.Checkpoint(model=model)
        model.save_weights(tmp_path / "layer.weights.h5")
        path = checkpoint.write(str(tmp_path / "checkpoint"))
        copy = Holder(self, type(model.layer).from_config(model.layer.get_config()))
        copy(*self.inputs())
        others = copy.get_weights()
        expected = [model(*self.inputs(), training=training) for training in (False, True)]
        for place, load in {
            "memory": lambda: copy.set_weights(weights),
            "file": lambda: copy.load_weights(tmp_path / "layer.weights.h5"),
            "checkpoint": lambda: tf.train.Checkpoint(model=copy).read(path).assert_consumed(),
        }.items():
            copy.set_weights(others)
            load()
            for weight, wanted in zip(copy.weights, weights):
                np.testing.assert_array_equal(weight, wanted, f"{weight.name} from {place}")
        for training, wanted in zip((False, True), expected):
            actual = copy(*self.inputs(), training=training)
            np.testing.assert_array_equal(actual, wanted)

    def test_a_training_step_moves_every_weight(self, policy):
        layer = self.shared(policy)
        idle = {id(weight) for weight in self.idle(layer)}
        weights = [weight for weight in layer.trainable_weights if id(weight) not in idle]
        before = [weight.numpy() for weight in weights]
        _, gradients = self.gradients(layer, *self.inputs(), weights, training=True)
        for weight, gradient in zip(weights, gradients):
            weight.assign_sub(0.1 * tf.convert_to_tensor(gradient))
        for weight, old in zip(weights, before):
            assert np.any(weight.numpy() != old), f"{weight.name} stays"
            assert np.isfinite(weight.numpy()).all(), weight.name

    def test_weight_decay_is_on_the_matrices(self):
        """But for tables, the vectors of additive scores, and what the papers leave out."""
        layer = self.shared()
        self.call(layer, *self.inputs())  # forgets the losses of a call in training
        matrices = [
            weight
            for weight in layer.trainable_weights
            if weight.shape.rank > 1 and not WITHOUT_DECAY.search(_path(weight, weight.shape[-1]))
        ]
        l2 = getattr(layer, "l2", 0)
        expected = [0.5 * l2 * np.sum(np.square(matrix)) for matrix in matrices if l2]
        np.testing.assert_allclose(sorted(layer.losses), sorted(expected), rtol=1e-5)

    def test_bad_arguments_are_refused_by_name(self):
        for bad in self.bad_arguments:
            (value,) = bad.values()
            with pytest.raises(ValueError, match=re.escape(f"={value} must")):
                self.call(self.make(**bad), *self.inputs())

    def gradients(self, layer, x, mask, weights, training=None):
        """The gradients of sum(output * noise) for x and for each of `weights`."""
        with tf.GradientTape() as tape:
            tape.watch(x)
            output = tf.cast(self.call(layer, x, mask, training), tf.float32)
            noise = np.random.default_rng(3).normal(size=output.shape)
            total = tf.reduce_sum(output * tf.constant(noise, tf.float32))
        return tape.gradient(total, (x, weights))


class VectorContract(LayerContract):
    """A layer of [batch, dim]."""

    def inputs(self):
        x, mask = super().inputs()
        return x[:, 0], mask


class SequenceContract(LayerContract):
    """Padding is nothing."""

    def parts(self, x, mask):
        """Returns the same parts, and the batch without tokens."""
        return [*super().parts(x, mask), (x[:, :0], mask[:, :0])]

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

    def test_padding_changes_nothing_however_long_and_whatever_stands_on_it(self, policy):
        x, mask = self.inputs()
        layer = self.shared(policy)
        expected = self.valid(self.call(layer, x, mask), mask)
        padded = self.call(layer, self.pad(x, 9), tf.pad(mask, [[0, 0], [0, 9]]))
        assert_near(self.valid(padded, mask), expected, 1e-6)
        real = mask[:, :, None] if x.dtype.is_floating else mask
        dirty = self.call(layer, tf.where(real, x, self.garbage(x)), mask)
        np.testing.assert_array_equal(self.valid(dirty, mask), expected)

    def test_gradients_are_finite_where_sentences_are_short_or_empty(self, policy):
        self.check_gradients(policy)

    def check_gradients(self, policy):
        """Returns the one for x, None if x are ids."""
        layer = self.shared(policy)
        x, mask = self.inputs()
        of_x, gradients = self.gradients(layer, x, mask, layer.trainable_weights)
        gradients = [gradient for gradient in gradients if gradient is not None]  # samplers' are
        for gradient in [of_x] * x.dtype.is_floating + gradients:
            assert np.isfinite(tf.convert_to_tensor(gradient).numpy()).all()
        return of_x


class MaskContract(SequenceContract):
    """Nothing comes from nothing."""

    def call(self, layer, x, mask, training=None):
        return layer(x, mask=mask, training=training)

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_where_there_is_no_token_the_output_is_exactly_zero(self, policy, backend):
        x, mask = self.inputs()
        with backend():
            output = tf.cast(self.call(self.shared(policy), x, mask), tf.float32)
        nothing = output[~tf.reduce_any(mask, axis=1) if self.reduces else ~mask]
        assert nothing.shape[0]
        np.testing.assert_array_equal(nothing, np.zeros(nothing.shape))

    def test_gradients_are_finite_where_sentences_are_short_or_empty(self, policy):
        """And padding gets none."""
        of_x = self.check_gradients(policy)
        if of_x is not None:
            on_padding = of_x[~self.inputs()[1]]
            np.testing.assert_array_equal(on_padding, np.zeros(on_padding.shape))


def _path(weight, columns):
    return f"{getattr(weight, 'path', weight.name)} {columns}"


def assert_near(actual, expected, bound):
    """|a - b| <= bound * max(1, |b|)."""
    actual, expected = (np.asarray(tf.cast(it, tf.float32)) for it in (actual, expected))
    assert actual.shape == expected.shape
    error = np.abs(actual - expected) / np.maximum(1.0, np.abs(expected))
    assert not np.isnan(error).any() and np.max(error, initial=0.0) <= bound, np.max(error)
