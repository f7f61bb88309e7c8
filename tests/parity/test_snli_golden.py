"""The whole SNLI model against the authors' code: logits, losses, gradients, steps, dropout."""

import numpy as np
import official
import pytest
import tensorflow as tf
from worlds import WORLDS

from disan_tf.encoders import DiSAN
from disan_tf.layers import Dropout, WordEmbedding
from disan_tf.ops import available_forms
from disan_tf.tasks import ClassificationHead, SentencePairClassifier, cross_entropy

FILES = official.names("snli_disan.npz")
SENTENCES = {"premise": "sent1_token", "hypothesis": "sent2_token"}


@pytest.fixture(params=WORLDS, autouse=True)
def _world(request):
    """Every test runs natively and portably."""
    with request.param():
        yield


def _model(arrays, meta, form="auto"):
    shared = {"activation": "elu", "l2": meta["wd"], "dropout": 1 - meta["keep_prob"]}
    fixed = arrays["in/glove_fixed_mat"]
    trained = next(arrays[key] for key in arrays if key.endswith("emb_mat") and "var/" in key)
    model = SentencePairClassifier(
        WordEmbedding(len(trained), len(fixed), meta["word_embedding_length"]),
        DiSAN(attention_form=form, **shared),
        ClassificationHead(3, meta["hidden_units_num"], **shared),
    )
    model(*_ids(arrays))
    model.embedding.set_vectors(np.concatenate([trained, fixed]))
    return model, official.assign(model, arrays)


def _ids(arrays):
    return [tf.constant(arrays[f"in/{name}"]) for name in SENTENCES.values()]


def _loss(model, arrays):
    logits = model(*_ids(arrays), training=False)
    return cross_entropy(logits, tf.constant(arrays["in/gold_label"])) + tf.add_n(model.losses)


@pytest.mark.parametrize("form", available_forms())
@pytest.mark.parametrize("name", FILES)
def test_sentence_vectors_logits_and_loss_equal_the_authors(name, form):
    arrays, meta = official.load(name)
    model, _ = _model(arrays, meta, form)
    for number, ids in enumerate(_ids(arrays), start=1):
        official.assert_close(model.encode(ids), arrays[f"t/s{number}_rep"], f"sentence {number}")
    official.assert_close(model(*_ids(arrays)), arrays["out/logits"], "logits")
    official.assert_close(_loss(model, arrays), arrays["out/loss"], "loss")


@pytest.mark.parametrize("name", FILES)
def test_a_matrix_of_both_sentences_decays_once(name):
    arrays, meta = official.load(name)
    model, _ = _model(arrays, meta)
    model(*_ids(arrays))
    decay = sum(tf.nn.l2_loss(arrays[f"var/{matrix}"]) for matrix in meta["reg_vars"])
    assert len(model.losses) == len(meta["reg_vars"]) == 10
    official.assert_close(tf.add_n(model.losses), meta["wd"] * decay, "weight decay")
    theirs = arrays["out/loss"] - arrays["out/xent_mean"]
    np.testing.assert_allclose(tf.add_n(model.losses), theirs, atol=1e-6)


@pytest.mark.parametrize("name", FILES)
def test_attention_equals_the_authors_on_real_tokens(name):
    arrays, meta = official.load(name)
    model, _ = _model(arrays, meta)
    attended = model.attend(*_ids(arrays))
    theirs = {
        "forward_attention": "fw_attn", "forward_gate": "fw_attn_gate", "source2token": "attn",
        "backward_attention": "bw_attn", "backward_gate": "bw_attn_gate",
    }  # fmt: skip
    for number, (field, ids) in enumerate(SENTENCES.items(), start=1):
        real = arrays[f"in/{ids}"] != 0
        for our, their in theirs.items():
            expected = arrays[f"t/s{number}_{their}"][real]
            official.assert_close(attended.pop(f"{field}_{our}").numpy()[real], expected, our)
    assert not attended


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


@pytest.mark.parametrize("name", FILES)
def test_as_many_masks_are_drawn_as_at_the_authors_dropout_sites(name):
    arrays, meta = official.load(name)
    model, _ = _model(arrays, meta)
    model(*_ids(arrays), training=True)
    sites = [part for part in model.submodules if isinstance(part, Dropout)]
    drawn = {scope: [0, 0] for scope in ("sent_enc", "output")}
    for scope, _, keep in meta["dropout_sites"]:
        drawn[scope.split("/")[1]][0] += 1
        assert {round(1 - site.rate, 6) for site in sites} == {keep}
    for site in sites:
        part = "sent_enc" if site in model.encoder.submodules else "output"
        drawn[part][1] += int(site.calls)
    assert drawn == {"sent_enc": [20, 20], "output": [2, 2]}
