"""Interpolation of the attention weight e^(c tanh((a + b) / c)) in the head a, with few nodes.

With z(a) = tanh((a - m) / 2c), where m is the middle of the heads and Z the largest |z|,

  e^(c tanh((a + b) / c)) ~= e^(c z(a)) sum_r L_r(z(a) / Z) K_r(b)                             (1)
  K_r(b) = e^(c tanh((x_r + b) / c) - c z(x_r))

with Lagrange's polynomials L_r over the Chebyshev nodes u_r = cos(pi (r + 1/2) / R) and
x_r = m + 2c artanh(Z u_r). Two things lower the rank R that an error needs: the map z moves the
poles of the tanh away, and the factor e^(c z) takes half of the weight's growth. Measured for c = 5
and heads in [-6, 6], R is the rank of the best approximation (by singular values).

The weight's relative error depends only on c and on the half-width w = max |a - m|, not on the
dependents b. The same holds for the derivative, which (1) gives with the derivative K'_r in place
of K_r.
"""

import functools

import numpy as np

RANKS = (8, 12, 16, 20, 24, 28, 32)
_ERROR = 3e-5  # of the interpolation; N / D and rounding have the rest of 1e-4
_ROUNDING = 4e-5


def nodes(rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns u_r and the numerators of L_r's barycentric formula, both <float64>[rank]."""
    angles = np.pi * (np.arange(rank) + 0.5) / rank
    return np.cos(angles), np.sin(angles) * (-1.0) ** np.arange(rank)


@functools.cache
def widest(scale: float) -> tuple[float, ...]:
    """Returns for each of `RANKS` the largest half-width of the heads with a small enough error.

    The half-widths do not decrease with the rank. A bisection finds them in half a second a scale.
    """
    widths = []
    for rank in RANKS:
        low, high = widths[-1] if widths else 0.0, 4.0 * scale
        for _ in range(10):
            middle = (low + high) / 2
            low, high = (middle, high) if _is_close(rank, middle, scale) else (low, middle)
        widths.append(low)
    return tuple(widths)


def _is_close(rank, width, scale) -> bool:
    error, amplification = _errors(rank, width, scale)
    # float32 rounds a weight to about (4 + c) 2^-24 of itself.
    return error <= _ERROR and amplification * (4.0 + scale) * 2.0**-24 <= _ROUNDING


def _errors(rank, width, scale):
    """Returns the largest relative error of (1), and the ratio of its absolute terms to its sum."""
    u, numerators = nodes(rank)
    half = np.tanh(width / (2 * scale))  # Z
    at = np.cos(np.pi * np.arange(2 * rank + 1) / (2 * rank))  # nodes, the middles and the ends
    distance = at[:, None] - u
    terms = numerators / np.where(distance == 0.0, 1e-300, distance)
    basis = terms / terms.sum(axis=1, keepdims=True) * np.exp(scale * half * distance)
    dependents = np.linspace(-width - 4 * scale, width + 4 * scale, 121)
    at_nodes, exact = (
        np.tanh(np.arctanh(half * points)[:, None] * 2 + dependents / scale) for points in (u, at)
    )
    weights, exact_weights = np.exp(scale * at_nodes), np.exp(scale * exact)
    errors = [
        basis @ weights / exact_weights - 1.0,
        basis @ (weights * (1.0 - at_nodes**2)) / exact_weights - (1.0 - exact**2),
    ]
    return np.abs(errors).max(), (np.abs(basis) @ weights / exact_weights).max()
