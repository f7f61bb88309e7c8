"""Multi-dimensional attention and source2token against Eq. 7 to 9, 12 and 13 in NumPy."""

import numpy as np
import pytest

from disan_tf.layers import MultiDimAttention, Source2Token
from tests.support.layers.small import DIM, MASK, QUERY, QUERY_DIM, X, randomised
from tests.support.layers.weights import count, mapped


def _reference(layer, query):
    """s of Eq. 9, <float64>[batch, DIM]; `query` is W2 q, or 0 for source2token."""
    result = np.zeros([len(X), DIM])
    for sentence, (x, mask) in enumerate(zip(X.numpy().astype(np.float64), MASK)):
        if not mask.any():
            continue
        hidden = mapped(layer.token_map, x[mask]) + np.broadcast_to(query, [4, DIM])[sentence]
        hidden = np.where(hidden > 0, hidden, np.expm1(hidden))  # elu
        logits = mapped(layer.score_map, hidden)
        weights = np.exp(logits - logits.max(axis=0))
        result[sentence] = np.sum(weights / weights.sum(axis=0) * x[mask], axis=0)
    return result


def test_source2token_is_equations_12_and_13():
    layer = randomised(Source2Token())
    np.testing.assert_allclose(layer(X, mask=MASK), _reference(layer, 0.0), rtol=1e-5, atol=1e-6)


def test_multi_dimensional_attention_is_equations_7_to_9():
    layer = randomised(MultiDimAttention(query_dim=QUERY_DIM))
    expected = _reference(layer, mapped(layer.query_map, QUERY))
    np.testing.assert_allclose(layer(X, QUERY, mask=MASK), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("queried", [False, True])
def test_weights_sum_to_one_over_the_real_tokens_of_each_feature(queried):
    layer = randomised(MultiDimAttention(query_dim=QUERY_DIM) if queried else Source2Token())
    arguments = (X, QUERY) if queried else (X,)
    weights = layer.attention_weights(*arguments, mask=MASK).numpy()
    assert weights.shape == X.shape
    assert not weights[~MASK].any()
    np.testing.assert_allclose(weights.sum(axis=1)[:3], np.ones([3, DIM]), rtol=1e-6)
    assert np.ptp(weights[0, 0]) > 0.01  # each feature has weights of its own


def test_the_papers_source2token_of_600_has_721200_parameters():
    assert count(Source2Token(), dim=600) == 721_200


def test_weight_decay_is_on_every_matrix():
    layer = randomised(MultiDimAttention(query_dim=QUERY_DIM, l2=2.0))
    matrices = [weight for weight in layer.trainable_weights if weight.shape.rank == 2]
    assert len(matrices) == 3
    np.testing.assert_allclose(
        sorted(layer.losses), sorted(np.sum(np.square(matrix)) for matrix in matrices), rtol=1e-6
    )
