"""The whole SST model against the authors' code: logits, losses, gradients, three steps."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import DiSAN
from disan_tf.layers import WordEmbedding
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.models import SentenceClassifier
from tests.support.golden import official

FILES = official.names("sst_disan*.npz") + official.names("sst_exp_emb_dir_mul_attn*.npz")


def _model(arrays, meta, form="lean"):
    shared = {"activation": meta["activation"], "l2": meta["wd"], "dropout": 1 - meta["keep_prob"]}
    fixed = arrays["in/glove_fixed_mat"]
    trained = next(arrays[key] for key in arrays if key.endswith("emb_mat") and "var/" in key)
    model = SentenceClassifier(
        WordEmbedding(len(trained), len(fixed), meta["word_embedding_length"]),
        DiSAN(attention_form=form, **shared),
        ClassificationHead(5, meta["hidden_units_num"], logit_bias=False, **shared),
    )
    model(tf.constant(arrays["in/token"]))
    model.embedding.set_vectors(np.concatenate([trained, fixed]))
    return model, official.assign(model, arrays)


def _loss(model, arrays):
    logits = model(tf.constant(arrays["in/token"]), training=False)
    return model.batch_loss(logits, tf.constant(arrays["in/label"])) + tf.add_n(model.losses)


@pytest.mark.parametrize("form", ["lean", "plain"])
@pytest.mark.parametrize("name", FILES)
def test_logits_and_embeddings_equal_the_authors(name, form):
    arrays, meta = official.load(name)
    model, _ = _model(arrays, meta, form)
    ids = tf.constant(arrays["in/token"])
    official.assert_close(model.embedding(ids), arrays["t/emb"], "embedding")
    official.assert_close(model(ids), arrays["out/logits"], "logits")
    official.assert_close(_loss(model, arrays), arrays["out/loss"], "loss")


@pytest.mark.parametrize("name", FILES)
def test_attention_equals_the_authors_on_real_tokens(name):
    arrays, meta = official.load(name)
    model, _ = _model(arrays, meta)
    ids = arrays["in/token"]
    attended = model.attend(tf.constant(ids))
    ours = ("forward_attention", "forward_gate", "backward_attention", "backward_gate")
    theirs = ("fw_attn", "fw_attn_gate", "bw_attn", "bw_attn_gate")
    for our, their in (*zip(ours, theirs), ("source2token", "attn")):
        # One of the two networks carries a leading underscore in its tensors' names.
        key = f"t/_{their}" if f"t/_{their}" in arrays else f"t/{their}"
        official.assert_close(np.asarray(attended[our])[ids != 0], arrays[key][ids != 0], our)


@pytest.mark.parametrize("name", FILES)
def test_gradients_of_the_loss_equal_the_authors(name):
    arrays, meta = official.load(name)
    model, variables = _model(arrays, meta)
    official.check_gradients(variables, arrays, lambda: _loss(model, arrays))


@pytest.mark.parametrize("name", FILES)
def test_three_training_steps_equal_the_authors(name):
    arrays, meta = official.load(name)
    model, variables = _model(arrays, meta)
    rate = meta["learning_rate"]
    official.check_three_steps(variables, arrays, lambda: _loss(model, arrays), rate)
