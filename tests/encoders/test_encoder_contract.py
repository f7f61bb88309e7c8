"""The contract of every layer, applied to the encoders, with their attention tensors."""

import numpy as np
import tensorflow as tf

from disan_tf.encoders import ENCODERS
from tests.support.layers.contract import BAD_DROPOUT, DIM, SHARED, MaskContract

DIRECTIONAL = {
    "forward_attention": (5, 5, 6),
    "backward_attention": (5, 5, 6),
    "forward_gate": (5, 6),
    "backward_gate": (5, 6),
    "source2token": (5, 12),
}


class EncoderContract(MaskContract):
    """A sentence's vector, and a dictionary of what it was made of."""

    reduces = True
    encoder: str  # its name in ENCODERS
    options: dict
    attended: dict  # name -> shape after the batch, without padding, at length 5
    compressing = "source2token"  # the tensor whose weights make the sentence's vector
    bad_arguments = BAD_DROPOUT
    test_native_and_portable_outputs_agree_under_the_same_dropout = None  # the layers' own

    def make(self, **options):
        return ENCODERS[self.encoder](**{**SHARED, **self.options, **options})

    def idle(self, layer):
        """A bias that is the same for all tokens is nothing to the softmax over them."""
        source2token = getattr(layer, "source2token", None)
        return [source2token.score_map.dense.bias] if source2token else []

    def test_what_is_no_number_on_padding_changes_nothing(self):
        x, mask = self.inputs()
        layer = self.shared()
        dirty = tf.where(mask[:, :, None], x, np.nan)
        expected = self.call(layer, x, mask)
        np.testing.assert_array_equal(self.call(layer, dirty, mask), expected)

    def test_attend_gives_named_float32_tensors(self, policy):
        layer = self.shared(policy)
        x, mask = self.inputs()
        tensors = layer.attend(tf.cast(x, layer.compute_dtype), mask)
        assert {name: tensor.shape[1:] for name, tensor in tensors.items()} == self.attended
        for tensor in tensors.values():
            assert tensor.dtype == tf.float32
            assert np.isfinite(tensor).all()

    def test_what_compresses_the_sentence_sums_to_one_over_its_tokens(self):
        x, mask = self.inputs()
        weights = self.shared().attend(x, mask)[self.compressing].numpy()
        assert not weights[~mask].any()
        np.testing.assert_allclose(weights.sum(axis=1)[:-1], 1.0, rtol=1e-5)


class TestAdditive(EncoderContract, variant=True):
    encoder = "additive"
    options = {"units": 6}
    attended = {"attention": (5, 1)}
    compressing = "attention"


class TestSource2Token(EncoderContract, variant=True):
    encoder = "source2token"
    options = {}
    attended = {"source2token": (5, DIM)}


class TestMultiHead(EncoderContract):
    units = 6
    encoder = "multi_head"
    options = {"heads": 2, "units": 3}
    attended = {"attention": (5, 5, 2), "source2token": (5, 6)}


class TestBiLSTM(EncoderContract):
    units = 12
    encoder = "bi_lstm"
    options = {"units": 6}
    attended = {"source2token": (5, 12)}


class TestLastStatesOfBiLSTM(TestBiLSTM):
    encoder = "pooled_bi_lstm"
    attended = {"ends": (5, 2)}
    compressing = "ends"
    bad_arguments = (*EncoderContract.bad_arguments, {"pooling": "first"})


class TestBiLSTMWithSelfAttention(TestLastStatesOfBiLSTM, variant=True):
    options = {"units": 6, "pooling": "self_attention"}
    attended = {"attention": (5, 1)}
    compressing = "attention"


class TestDSA(EncoderContract):
    units = 12
    encoder = "dsa"
    options = {
        "units": 6,
        "attentions": 2,
        "layers": 2,
        "first_units": 5,
        "dense_units": 3,
        "compressed_units": 4,
    }
    attended = {"attention_1": (5, 2), "attention": (5, 2)}
    compressing = "attention"
    bad_arguments = (
        *EncoderContract.bad_arguments,
        {"attention": "slow"},
        {"attention": "static"},  # there is only one
        {"word_dropout": 1.0},
    )


class TestDSAWithStaticAttention(TestDSA, variant=True):
    units = 6
    options = {**TestDSA.options, "attentions": 1, "attention": "static"}
    attended = {"attention": (5, 1)}
    bad_arguments = EncoderContract.bad_arguments


class TestBiGRU(TestBiLSTM, variant=True):
    encoder = "bi_gru"


class TestMultiWindowCNN(EncoderContract):
    units = 12
    encoder = "multi_window_cnn"
    options = {"windows": [3, 4, 5], "units": 4}
    attended = {"maximum": (5, 12)}
    compressing = "maximum"
    bad_arguments = (*EncoderContract.bad_arguments, {"windows": ()})


class TestHierarchicalCNN(EncoderContract):
    encoder = "hierarchical_cnn"
    options = {"units": 6, "layers": 2, "width": 3}
    attended = {"source2token": (5, DIM)}
    bad_arguments = (*EncoderContract.bad_arguments, {"width": 0})


class TestDiSAN(EncoderContract):
    units = 12
    encoder = "disan"
    options = {"units": 6}
    attended = DIRECTIONAL
    bad_arguments = (
        *EncoderContract.bad_arguments,
        {"attention_form": "thick"},
        {"directions": ("forward",)},
        {"directions": "forward"},
    )


class TestReSAN(EncoderContract):
    units = 12
    encoder = "resan"
    options = {"units": 6}
    attended = {**DIRECTIONAL, "selected_heads": (5, 1), "selected_dependents": (5, 1)}
    bad_arguments = (
        *EncoderContract.bad_arguments,
        {"attention_form": "thick"},
        {"unselected": "median"},
        {"sampling": "slow"},
    )

    def built(self, policy="float32", **options):
        """Every sampler chooses some tokens, otherwise a block has nothing to learn from."""
        layer = super().built(policy, **options)
        for sampler in layer.samplers:
            self.score_bias(sampler).assign_add([1.0])
        return layer

    def score_bias(self, sampler):
        return sampler.score.dense.bias

    def idle(self, layer):
        """The samplers choose, and what they chose has no gradient."""
        samplers = [weight for it in layer.samplers for weight in it.trainable_weights]
        return super().idle(layer) + samplers


class TestIterativeReSAN(TestReSAN, variant=True):
    options = {"units": 6, "sampling": "iterative"}
    attended = {**TestReSAN.attended, "selected_heads": (5, 2), "selected_dependents": (5, 2)}

    def score_bias(self, sampler):
        return sampler.score_bias


class TestSelectedSource2Token(TestReSAN):
    units = DIM
    encoder = "selected_source2token"
    options = {"units": 4}
    attended = {"selected_words": (5, 1), "source2token": (5, DIM)}
    bad_arguments = EncoderContract.bad_arguments
