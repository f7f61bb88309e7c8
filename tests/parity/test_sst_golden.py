"""The whole SST model against the authors' code: logits, losses, gradients, three steps."""

import numpy as np
import official
import pytest
import tensorflow as tf

from disan_tf.encoders import DiSAN
from disan_tf.layers import WordEmbedding
from disan_tf.tasks import ClassificationHead, SentenceClassifier, cross_entropy
from disan_tf.training.optimizers import adadelta

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
    return cross_entropy(logits, tf.constant(arrays["in/label"])) + tf.add_n(model.losses)


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
    with tf.GradientTape() as tape:
        loss = _loss(model, arrays)
    for official_name, gradient in zip(variables, tape.gradient(loss, list(variables.values()))):
        expected = arrays[f"gloss_var/{official_name}"]
        gradient = tf.convert_to_tensor(gradient)
        official.assert_close(gradient, expected, f"gradient of {official_name}")


@pytest.mark.parametrize("name", FILES)
def test_three_training_steps_equal_the_authors(name):
    arrays, meta = official.load(name)
    model, variables = _model(arrays, meta)
    optimizer = adadelta(meta["learning_rate"])
    losses = []
    for step in (1, 2, 3):
        with tf.GradientTape() as tape:
            loss = _loss(model, arrays)
        losses.append(loss)
        gradients = tape.gradient(loss, list(variables.values()))
        optimizer.apply_gradients(zip(gradients, variables.values()))
        if step != 2:
            for official_name, variable in variables.items():
                expected = arrays[f"ada_step{step}_var/{official_name}"]
                official.assert_close(variable, expected, f"step {step}: {official_name}")
    losses.append(_loss(model, arrays))
    official.assert_close(tf.stack(losses), arrays["out/ada_loss_before_each_step"], "losses")
    for slot in ("accum_grad", "accum_var"):
        theirs = {"accum_grad": "accum", "accum_var": "accum_update"}[slot]
        for official_name, variable in variables.items():
            expected = arrays[f"ada_slot_{theirs}/{official_name}"]
            official.assert_close(optimizer.get_slot(variable, slot), expected, official_name)
