"""Exports that cut long texts, refuse what is too large, go on training, and compile."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the tokenizer's operations)

from disan_tf.serving.export import row_blocks, saved_model
from disan_tf.serving.export.saved_model import export_saved_model
from tests.support.models.bundles import SENTENCES

MAX_NUMBER = 8  # tokens
LONG = [index for index, text in enumerate(SENTENCES) if len(text.split()) > MAX_NUMBER]


@pytest.fixture(scope="module")
def models(quick_bundle, tmp_path_factory):
    """The loaded models of text and of ids, which read eight tokens, in blocks of two sentences."""
    folder = tmp_path_factory.mktemp("cut")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "BLOCK_POSITIONS", 2 * MAX_NUMBER)
        patch.setattr(saved_model, "longest_text", lambda *_: MAX_NUMBER)
        paths = export_saved_model(quick_bundle.directory, folder, MAX_NUMBER)
    return [tf.saved_model.load(str(path)) for path in paths]


@pytest.fixture(scope="module")
def cut(quick_bundle):
    """Ids of the tokens that are read."""
    return quick_bundle.text_to_ids()(SENTENCES)[:, :MAX_NUMBER]


def questions(models, bundle):
    """The signatures by their models, and what they are asked."""
    return zip(models, (tf.constant(SENTENCES), bundle.text_to_ids()(SENTENCES)))


def vectors_of(bundle, ids, model, models):
    """The trained model's vectors; those of the model of text are zero for blank sentences."""
    has_words = [[bool(sentence.strip()) or model is not models[0]] for sentence in SENTENCES]
    return tf.where(has_words, bundle.model.encode(ids), 0.0)


def test_long_texts_are_cut_told_and_read_in_several_blocks(models, quick_bundle, cut):
    for model, sentences in questions(models, quick_bundle):
        found = model.signatures["serving_default"](sentences)
        expected = tf.nn.softmax(quick_bundle.model(cut))
        np.testing.assert_allclose(found["probabilities"], expected, rtol=0, atol=1e-5)
        encoded = model.signatures["encode"](sentences)
        expected = vectors_of(quick_bundle, cut, model, models)
        np.testing.assert_allclose(encoded["vectors"], expected, rtol=0, atol=1e-5)
        for outputs in (found, encoded):
            assert tf.where(outputs["truncated"])[:, 0].numpy().tolist() == LONG


def test_attend_refuses_what_is_too_large_with_its_limit(models):
    attend = models[0].signatures["attend"]
    assert attend(tf.constant(SENTENCES[4:5]))["tokens"].shape == [1, MAX_NUMBER]
    with pytest.raises(tf.errors.InvalidArgumentError, match="one text of up to 8 tokens"):
        attend(tf.constant(SENTENCES))


def test_the_loaded_object_gives_vectors_and_xla_compiles_it(models, quick_bundle, cut):
    text, ids = models
    expected = vectors_of(quick_bundle, cut, text, models)
    np.testing.assert_allclose(text(tf.constant(SENTENCES)), expected, rtol=0, atol=1e-5)
    compiled = tf.function(lambda batch: ids(batch), jit_compile=True)
    np.testing.assert_allclose(compiled(cut), quick_bundle.model.encode(cut), rtol=0, atol=1e-5)


@pytest.mark.slow
def test_its_gradients_are_those_of_the_trained_model(models, quick_bundle, cut):
    weights = {weight.name: weight for weight in quick_bundle.model.trainable_variables}
    for model, sentences in questions(models, quick_bundle):
        trained = list(model.trainable_variables)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(sentences) ** 2)
        found = tape.gradient(loss, trained)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(vectors_of(quick_bundle, cut, model, models) ** 2)
        exact = tape.gradient(loss, [weights[weight.name] for weight in trained])
        assert len(trained) > 4
        for one, other in zip(found, exact):
            one, other = (tf.convert_to_tensor(gradient) for gradient in (one, other))
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


def test_a_keras_layer_of_hub_trains_it(pair_export):
    hub = pytest.importorskip("tensorflow_hub", reason="tensorflow-hub is missing")
    layer = hub.KerasLayer(str(pair_export[0]), trainable=True)
    model = tf.keras.Sequential(
        [tf.keras.Input([], dtype=tf.string), layer, tf.keras.layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    # The bias before a softmax has no gradient.
    matrices = [weight for weight in layer.trainable_weights if weight.shape.rank == 2]
    before = [weight.numpy() for weight in matrices]
    model.fit(tf.constant(SENTENCES), tf.ones([len(SENTENCES), 1]), verbose=0)
    changed = [np.any(a != b.numpy()) for a, b in zip(before, matrices)]
    assert changed and all(changed)
    assert layer.non_trainable_weights
