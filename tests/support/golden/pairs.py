"""The authors' models of sentence pairs as models of ours, from their golden files."""

import numpy as np
import tensorflow as tf

from disan_tf.layers import WordEmbedding
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.models import SentencePairClassifier
from tests.support.golden import official

SENTENCES = ("sent1_token", "sent2_token")


def pair_model(arrays, meta, make_encoder, head_activation="elu", make=SentencePairClassifier):
    """A model with the weights of a golden file, and its variables by official name.

    `make_encoder` is called with the file's l2 and dropout, `make` with the model's three parts.
    """
    shared = {"l2": meta["wd"], "dropout": 1 - meta["keep_prob"]}
    weights = official.by_our_path(arrays)
    trained, fixed = weights["embedding.trained"], arrays["in/glove_fixed_mat"]
    hidden, classes = weights["head.logits.dense.kernel"].shape
    highway = "head.highway.gate.dense.bias" in weights
    model = make(
        WordEmbedding(len(trained), len(fixed), trained.shape[1]),
        make_encoder(**shared),
        ClassificationHead(classes, hidden, head_activation, highway=highway, **shared),
    )
    model(*pair_ids(arrays))
    model.embedding.set_vectors(np.concatenate([trained, fixed]))
    return model, official.assign(model, arrays)


def pair_ids(arrays):
    """The ids of both sentences."""
    return [tf.constant(arrays[f"in/{name}"]) for name in SENTENCES]


def pair_loss(model, arrays):
    """The model's loss plus weight decay, without dropout."""
    logits = model(*pair_ids(arrays), training=False)
    return model.batch_loss(logits, tf.constant(arrays["in/gold_label"])) + tf.add_n(model.losses)


def check_outputs(model, arrays):
    """Compares sentence vectors, logits and loss."""
    for number, ids in enumerate(pair_ids(arrays), start=1):
        official.assert_close(model.encode(ids), arrays[f"t/s{number}_rep"], f"sentence {number}")
    official.assert_close(model(*pair_ids(arrays)), arrays["out/logits"], "logits")
    official.assert_close(pair_loss(model, arrays), arrays["out/loss"], "loss")


def check_attention(model, arrays, theirs):
    """Compares attention on real tokens; `theirs` has the official name of each of our tensors."""
    attended = model.attend(*pair_ids(arrays))
    for number, (field, ids) in enumerate(zip(model.fields, SENTENCES), start=1):
        real = arrays[f"in/{ids}"] != 0
        for our, their in theirs.items():
            expected = arrays[f"t/s{number}_{their}"][real]
            found = attended.pop(f"{field}_{our}").numpy()[real]
            official.assert_close(found.reshape(expected.shape), expected, our)
    assert not attended


def check_weight_decay(model, arrays, meta):
    """Compares which matrices decay, and by how much."""
    model(*pair_ids(arrays))
    decay = sum(tf.nn.l2_loss(arrays[f"var/{matrix}"]) for matrix in meta["reg_vars"])
    assert len(model.losses) == len(meta["reg_vars"])
    official.assert_close(tf.add_n(model.losses), meta["wd"] * decay, "weight decay")
    theirs = arrays["out/loss"] - arrays["out/xent_mean"]
    np.testing.assert_allclose(tf.add_n(model.losses), theirs, atol=1e-6)
