"""The whole SNLI model against the authors' code: logits, losses, gradients, steps, dropout."""

import pytest

from disan_tf.encoders import DiSAN
from disan_tf.layers import Dropout
from disan_tf.ops import available_forms
from tests.support.golden import official
from tests.support.golden.pairs import (
    check_attention,
    check_outputs,
    check_weight_decay,
    pair_ids,
    pair_loss,
    pair_model,
)

pytestmark = pytest.mark.usefixtures("each_backend")
# One network, twice: its scopes have other names in the second file.
FILES = official.names("snli_disan.npz") + official.names("snli_exp_emb_dir_mul_attn.npz")


def _model(arrays, meta, form="auto"):
    return pair_model(arrays, meta, lambda **shared: DiSAN(attention_form=form, **shared))


@pytest.mark.parametrize("form", available_forms())
@pytest.mark.parametrize("name", FILES)
def test_sentence_vectors_logits_and_loss_equal_the_authors(name, form):
    arrays, meta = official.load(name)
    model, _ = _model(arrays, meta, form)
    check_outputs(model, arrays)


@pytest.mark.parametrize("name", FILES)
def test_a_matrix_of_both_sentences_decays_once(name):
    arrays, meta = official.load(name)
    model, _ = _model(arrays, meta)
    check_weight_decay(model, arrays, meta)
    assert len(model.losses) == 10


@pytest.mark.parametrize("name", FILES)
def test_attention_equals_the_authors_on_real_tokens(name):
    arrays, meta = official.load(name)
    model, _ = _model(arrays, meta)
    theirs = {
        "forward_attention": "fw_attn",
        "forward_gate": "fw_attn_gate",
        "source2token": "attn",
        "backward_attention": "bw_attn",
        "backward_gate": "bw_attn_gate",
    }
    check_attention(model, arrays, theirs)


@pytest.mark.parametrize("name", FILES)
def test_gradients_of_the_loss_equal_the_authors(name):
    arrays, meta = official.load(name)
    model, variables = _model(arrays, meta)
    official.check_gradients(variables, arrays, lambda: pair_loss(model, arrays))


@pytest.mark.parametrize("name", FILES)
def test_three_training_steps_equal_the_authors(name):
    arrays, meta = official.load(name)
    model, variables = _model(arrays, meta)
    rate = meta["learning_rate"]
    official.check_three_steps(variables, arrays, lambda: pair_loss(model, arrays), rate)


@pytest.mark.parametrize("name", FILES)
def test_as_many_masks_are_drawn_as_at_the_authors_dropout_sites(name):
    arrays, meta = official.load(name)
    model, _ = _model(arrays, meta)
    model(*pair_ids(arrays), training=True)
    sites = [part for part in model.submodules if isinstance(part, Dropout)]
    drawn = {"encoder": [0, 0], "output": [0, 0]}
    for scope, _, keep in meta["dropout_sites"]:
        part = "output" if scope.split("/")[1] == "output" else "encoder"
        drawn[part][0] += 1
        assert {round(1 - site.rate, 6) for site in sites} == {keep}
    for site in sites:
        part = "encoder" if site in model.encoder.submodules else "output"
        drawn[part][1] += int(site.calls)
    assert drawn == {"encoder": [20, 20], "output": [2, 2]}
