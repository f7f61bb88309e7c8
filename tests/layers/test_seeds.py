"""Seeds of layers: drawn from Keras' global seed unless they are given."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import encoders, layers
from disan_tf.layers.keras_layer import sublayers

X = tf.ones([4, 50])
LAYERS = {
    "Linear": lambda **options: layers.Linear(50, dropout=0.5, **options),
    "Highway": lambda **options: layers.Highway(dropout=0.5, **options),
}
EACH = pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS)


def _dropouts(layer):
    return [part for part in sublayers(layer) if isinstance(part, layers.Dropout)]


def _mask(layer):
    layer(X)
    return _dropouts(layer)[0](tf.ones([4, 50]), training=True).numpy() != 0


@EACH
def test_two_layers_of_one_shape_drop_different_entries(make):
    assert (_mask(make()) != _mask(make())).any()


@EACH
def test_the_global_seed_reproduces_the_masks(make):
    masks = []
    for _ in range(2):
        tf.keras.utils.set_random_seed(7)
        masks.append([_mask(make()), _mask(make())])
    np.testing.assert_array_equal(*masks)
    tf.keras.utils.set_random_seed(8)
    assert (_mask(make()) != masks[0][0]).any()


@EACH
def test_a_drawn_seed_is_kept_in_the_config(make):
    layer = make()
    assert layer.seed == layer.get_config()["seed"]
    copy = type(layer).from_config(layer.get_config())
    np.testing.assert_array_equal(_mask(copy), _mask(layer))


def test_a_clone_and_a_file_keep_drawn_seeds(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input([50]), *(make() for make in LAYERS.values())])
    model.save(tmp_path / "model.keras")
    copies = (
        tf.keras.models.load_model(tmp_path / "model.keras"),
        tf.keras.models.clone_model(model),
    )
    expected = [part.seed for part in _dropouts(model)]
    assert len({*expected}) == 3  # Highway has two
    for copy in copies:
        assert [part.seed for part in _dropouts(copy)] == expected


@pytest.mark.parametrize("name", ["ReSAN", "DSAEncoder"])
def test_the_seeds_of_parts_follow_from_the_seed_alone(name):
    seeds = []
    for _ in range(2):
        encoder = getattr(encoders, name)(dropout=0.5, seed=1)
        encoder(tf.ones([2, 3, 6]))
        seeds.append([part.seed for part in sublayers(encoder) if hasattr(part, "seed")])
    assert seeds[0] == seeds[1]
