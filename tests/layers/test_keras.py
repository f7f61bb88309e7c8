"""What Keras expects of every public class: names, masks, shapes, files, XLA."""

import inspect

import numpy as np
import pytest
import tensorflow as tf

import disan_tf.elmo
import disan_tf.encoders
import disan_tf.layers
from disan_tf import encoders, layers
from disan_tf.models.factory import TASKS
from tests.support.layers.contract import assert_near
from tests.support.layers.weights import draw_weights

IDS = tf.constant([[2, 3, 4, 5], [6, 7, 0, 0], [3, 0, 0, 0]])
DIM = 6
MODULES = (disan_tf.layers, disan_tf.encoders, disan_tf.elmo)
ABSTRACT = {"PairEncoder", "SentenceEncoder"}
PUBLIC = {
    name: cls
    for module in MODULES
    for name, cls in inspect.getmembers(module, inspect.isclass)
    if issubclass(cls, tf.keras.layers.Layer) and name not in ABSTRACT
}
PUBLIC.update({cls.__name__: cls for cls in TASKS.values()})
OF_TOKENS = {  # of one sentence: name -> a new layer
    "AdditiveSelfAttention": layers.AdditiveSelfAttention,
    "BasicGRU": lambda: layers.BasicGRU(4),
    "BasicLSTM": lambda: layers.BasicLSTM(4),
    "BasicRNN": lambda: layers.BasicRNN(4),
    "Bottleneck": lambda: layers.Bottleneck(4, 0.1),
    "Convolution": lambda: layers.Convolution(4, width=3),
    "DenselyConnectedCNN": lambda: layers.DenselyConnectedCNN(
        layers=2, first_units=3, units=2, compressed_units=4
    ),
    "DirectionalSelfAttention": lambda: layers.DirectionalSelfAttention(5),
    "Dropout": lambda: layers.Dropout(0.5),
    "DynamicSelfAttention": lambda: layers.DynamicSelfAttention(5),
    "Highway": layers.Highway,
    "IntraAttention": layers.IntraAttention,
    "IterativeSequenceSampling": lambda: layers.IterativeSequenceSampling(4),
    "Linear": lambda: layers.Linear(4),
    "MultiHeadSelfAttention": lambda: layers.MultiHeadSelfAttention(2, 3),
    "ReinforcedSelfAttention": lambda: layers.ReinforcedSelfAttention(4),
    "ReinforcedSequenceSampling": lambda: layers.ReinforcedSequenceSampling(4),
    "SelfAlignment": layers.SelfAlignment,
    "Source2Token": layers.Source2Token,
    "StaticSelfAttention": lambda: layers.StaticSelfAttention(5),
    "Token2Token": layers.Token2Token,
    "AdditiveEncoder": lambda: encoders.AdditiveEncoder(units=3),
    "BiGRUEncoder": lambda: encoders.BiGRUEncoder(units=3),
    "BiLSTMEncoder": lambda: encoders.BiLSTMEncoder(units=3),
    "DSAEncoder": lambda: encoders.DSAEncoder(
        units=5, first_units=3, dense_units=2, compressed_units=5
    ),
    "DiSAN": lambda: encoders.DiSAN(units=4),
    "HierarchicalCNNEncoder": lambda: encoders.HierarchicalCNNEncoder(units=4, width=3),
    "MultiHeadEncoder": lambda: encoders.MultiHeadEncoder(heads=2, units=3),
    "MultiWindowCNNEncoder": lambda: encoders.MultiWindowCNNEncoder(windows=(2, 3), units=3),
    "PooledBiLSTMEncoder": lambda: encoders.PooledBiLSTMEncoder(units=3),
    "ReSAN": lambda: encoders.ReSAN(units=4),
    "SelectedSource2TokenEncoder": lambda: encoders.SelectedSource2TokenEncoder(units=4),
    "Source2TokenEncoder": encoders.Source2TokenEncoder,
}
SEQUENTIAL = sorted({*OF_TOKENS} - {"ReinforcedSelfAttention"})  # which gives its mask beside
OTHERS = {  # of other inputs, whose own tests call them
    "BiLM",
    "ClassificationHead",
    "DRCN",
    "DRCNHead",
    "DSAHead",
    "ElmoEmbedding",
    "FusionGate",
    "LanguageModel",
    "MultiDimAttention",
    "MultiwayCoAttention",
    "ProjectedLSTM",
    "RelatednessModel",
    "ScalarMix",
    "SelectiveSelfAttention",
    "SentenceClassifier",
    "SentencePairClassifier",
    "TokenEncoder",
    "VanillaAttention",
    "WordEmbedding",
    "WordSoftmax",
}
SLOW = {*SEQUENTIAL} & {cls.__name__ for cls in encoders.ENCODERS.values()} - {"DiSAN"}


EACH = [
    pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in SEQUENTIAL
]  # encoders, which are made of the others, by night
COMPILED = ["BasicLSTM", "DenselyConnectedCNN", "DirectionalSelfAttention"]


def test_every_public_class_is_here():
    assert {*OF_TOKENS} | OTHERS >= {*PUBLIC}


@pytest.mark.parametrize("name", PUBLIC)
def test_keras_finds_a_class_by_its_name(name):
    cls = PUBLIC[name]
    assert tf.keras.utils.get_registered_object(f"disan_tf>{name}") is cls
    assert tf.keras.utils.get_registered_name(cls) == f"disan_tf>{name}"


def _stack(name):
    """Embedding -> the layer, with Keras' own embedding and masks that nobody passes on."""
    model = tf.keras.Sequential(
        [tf.keras.layers.Embedding(9, DIM, mask_zero=True), OF_TOKENS[name]()]
    )
    model(IDS)
    draw_weights(model.weights, seed=4, size=0.4)
    return model


@pytest.mark.parametrize("name", EACH)
def test_masks_are_explicit_or_implicit_or_all_true_and_go_on(name):
    model = _stack(name)
    embedding, layer = model.layers
    x, mask = embedding(IDS), embedding.compute_mask(IDS)
    bare = tf.identity(x)  # without Keras' mask
    takes_mask = "mask" in inspect.signature(layer.call).parameters
    output = model(IDS)
    if takes_mask:
        other = tf.sequence_mask([1, 2, 1], 4)
        for given in (mask, other):
            expected = layer(bare, mask=given)
            actual = output if given is mask else layer(x, mask=given)
            np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(layer(bare), layer(bare, mask=tf.ones([3, 4], tf.bool)))
    else:
        np.testing.assert_array_equal(output, layer(bare))
    found = getattr(layer(x), "_keras_mask", None)
    if output.shape[1:2] == mask.shape[1:2]:
        np.testing.assert_array_equal(found, mask)
    else:
        assert found is None


def test_a_mask_of_numbers_is_one_of_booleans():
    layer, mask = layers.DirectionalSelfAttention(5), np.asarray(IDS != 0)
    x = tf.random.stateless_normal([3, 4, DIM], [1, 2])
    expected = layer(x, mask=tf.constant(mask))
    for dtype in ("int32", "int64", "float32", "float16"):
        found = layer(x, mask=mask.astype(dtype))
        np.testing.assert_array_equal(found, expected)
        assert found._keras_mask.dtype == tf.bool


def test_a_mask_of_another_shape_is_refused_in_one_sentence():
    layer = layers.DirectionalSelfAttention(5)
    for shape in ([3, 4, DIM], [3], [3, 5], [1, 4]):
        with pytest.raises(ValueError, match=r"mask has the shape .*; it must be \[batch, length"):
            layer(tf.ones([3, 4, DIM]), mask=tf.ones(shape, tf.bool))


def test_a_symbolic_mask_of_numbers_is_one_of_booleans():
    x, mask = tf.keras.Input([4, DIM]), tf.keras.Input([4], dtype="int32")
    layer = layers.Source2Token()
    model = tf.keras.Model([x, mask], layer(x, mask=mask))
    values = tf.random.stateless_normal([3, 4, DIM], [1, 2])
    real = tf.cast(IDS != 0, tf.int32)
    np.testing.assert_array_equal(model([values, real]), layer(values, mask=IDS != 0))


@pytest.mark.parametrize("name", ["ReSAN", "SelectedSource2TokenEncoder"])
def test_attention_tensors_take_a_mask_of_numbers(name):
    layer, x = OF_TOKENS[name](), tf.random.stateless_normal([3, 4, DIM], [1, 2])
    layer(x)
    expected = layer.attend(x, IDS != 0)
    for found_name, found in layer.attend(x, np.float32(IDS != 0)).items():
        np.testing.assert_array_equal(found, expected[found_name])


def test_a_pair_takes_masks_of_numbers():
    encoder = encoders.DRCN(units=3, layers=1)
    pair = tf.random.stateless_normal([2, 3, 4, DIM], [1, 2])
    masks = np.asarray(IDS != 0), np.asarray(IDS != 0)[::-1]
    numbers = [mask.astype(np.float32) for mask in masks]
    for found, expected in zip(encoder(*pair, *numbers), encoder(*pair, *masks)):
        np.testing.assert_array_equal(found, expected)
    attended = encoder.attend_pair(*pair, *numbers), encoder.attend_pair(*pair, *masks)
    for found, expected in zip(*attended):
        for name in expected:
            np.testing.assert_array_equal(found[name], expected[name])
    with pytest.raises(ValueError, match=r"DRCN: second_mask has the shape \(3, 3\); it must be"):
        encoder(*pair, masks[0], masks[1][:, :3])


def test_a_keras_file_of_all_layers_loads_by_itself(tmp_path):
    """And all weights have names of their own, as `.h5` files need."""
    ids = tf.keras.Input([4], dtype="int32")
    x = tf.keras.layers.Embedding(9, DIM, mask_zero=True)(ids)
    names = sorted({*SEQUENTIAL} - SLOW)
    model = tf.keras.Model(ids, [OF_TOKENS[name]()(x) for name in names])
    draw_weights(model.weights, seed=4, size=0.4)
    expected = model(IDS)
    for output, symbol in zip(expected, model.outputs):
        assert symbol.shape[1:] == output.shape[1:]
    paths = [getattr(weight, "path", weight.name) for weight in model.weights]
    assert len({*paths}) == len(paths)
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "it.weights.h5")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    model.set_weights([np.zeros_like(weight) for weight in model.get_weights()])
    model.load_weights(tmp_path / "it.weights.h5")
    for again in (loaded, model):
        for name, actual, wanted in zip(names, again(IDS), expected):
            np.testing.assert_array_equal(actual, wanted, name)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in COMPILED)) for name in SEQUENTIAL],
)
def test_xla_compiles_it_without_being_asked_for_another_form(name):
    model = _stack(name)
    compiled = tf.function(lambda ids: model(ids), jit_compile=True)
    assert_near(compiled(IDS), model(IDS), 2e-6)


@pytest.mark.parametrize("name", sorted({*OF_TOKENS} - SLOW - {"Linear", "Highway", "Dropout"}))
def test_inputs_without_or_with_two_axes_of_tokens_are_refused(name):
    with pytest.raises(ValueError, match=r"must be \[batch, length, dim\]"):
        OF_TOKENS[name]()(tf.ones([3, DIM]))
    with pytest.raises(ValueError, match="expected max_ndim=3, found ndim=4"):
        OF_TOKENS[name]()(tf.ones([2, 3, 4, DIM]), mask=tf.ones([2, 3, 4]))


def test_attend_reads_arrays_too():
    layer, x = OF_TOKENS["DiSAN"](), np.ones([2, 3, DIM], np.float32)
    layer(x)
    np.testing.assert_array_equal(*(layer.attend(v)["forward_gate"] for v in (x, tf.constant(x))))


@pytest.mark.parametrize("wrap", [lambda x: {"x": x}, tf.sparse.from_dense])
def test_dictionaries_and_sparse_tensors_are_refused(wrap):
    for layer in (layers.Source2Token(), encoders.DiSAN(4)):
        with pytest.raises(ValueError, match=r"takes dense tensors as arguments, not a \w+\.$"):
            layer(wrap(tf.ones([2, 3, DIM])))


def test_ragged_tensors_are_refused_with_a_remedy():
    x = tf.RaggedTensor.from_row_lengths(tf.ones([4, DIM]), [3, 1])
    with pytest.raises(ValueError, match=r"ragged tensors; give x\.to_tensor\(\) and mask="):
        layers.Linear(4)(x)


def test_a_symbolic_tensor_of_another_keras_is_refused():
    kind = type("KerasTensor", (), {"__module__": "other_keras.src.keras_tensor"})  # as its own is
    with pytest.raises(ValueError, match="belongs to another Keras; use tf.keras.Input"):
        layers.DirectionalSelfAttention(4)(kind())


@pytest.mark.parametrize("name", ["DirectionalSelfAttention", "Linear"])
@pytest.mark.filterwarnings("ignore:Layer 'flatten.*mask")
def test_each_step_over_time_has_its_own_implicit_mask(name):
    ids = tf.stack([IDS, tf.reverse(IDS, [0])], axis=1)  # [batch, steps, length]
    model = tf.keras.Sequential(
        [
            tf.keras.Input([2, 4], dtype="int32"),
            tf.keras.layers.Embedding(9, DIM, mask_zero=True),
            tf.keras.layers.TimeDistributed(OF_TOKENS[name]()),
        ]
    )
    embedding, over_time = model.layers
    layer = over_time.layer
    flat = tf.reshape(ids, [-1, 4])
    takes_mask = "mask" in inspect.signature(layer.call).parameters
    masks = {"mask": flat != 0} if takes_mask else {}
    expected = layer(tf.identity(embedding(flat)), **masks)
    expected = tf.reshape(expected, [3, 2, *expected.shape[1:]])
    assert_near(model(ids), expected, 1e-6)
    assert_near(model.predict(ids.numpy(), verbose=0), expected, 1e-6)


def test_word_vectors_have_the_mask_of_their_ids():
    embedding = layers.WordEmbedding(5, 2, DIM)
    np.testing.assert_array_equal(embedding(IDS)._keras_mask, IDS != 0)
    stack = tf.keras.Sequential([embedding, layers.DirectionalSelfAttention(4)])
    expected = stack.layers[1](tf.identity(embedding(IDS)), mask=IDS != 0)
    np.testing.assert_array_equal(stack(IDS), expected)


def test_constructors_name_the_arguments_that_all_layers_share():
    for cls in PUBLIC.values():
        if issubclass(cls, layers.base.BaseLayer):
            # Up to Python 3.11.2, a class that inherits it has the signature of Keras' `__new__`.
            parameters = inspect.signature(cls.__init__).parameters
            assert {"dropout", "l2", "seed", "name", "dtype"} <= {*parameters}, cls.__name__
            assert not any(each.kind is each.VAR_POSITIONAL for each in parameters.values())
    names = " ".join(inspect.signature(encoders.DiSAN).parameters)
    shared = "activation attention_form dropout l2 seed name dtype trainable kwargs"
    assert names == f"units directions {shared}"
