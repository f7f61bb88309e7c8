"""A convolution in NumPy, for tests of what is made of convolutions."""

import numpy as np


def convolved(x: np.ndarray, mask: np.ndarray, layer) -> np.ndarray:
    """W [window around each token] + b of one sentence, without the layer's activation.

    Args:
      x: <float>[length, dim].
      mask: <bool>[length]; a token where it is False counts as 0.
      layer: a built `Convolution`.

    Returns:
      <float64>[length, units].
    """
    kernel, bias = layer.kernel.numpy().astype(np.float64), layer.bias.numpy()
    length, before = len(x), (len(kernel) - 1) // 2
    result = np.tile(bias.astype(np.float64), [length, 1])
    for token in range(length):
        for place, weights in enumerate(kernel, token - before):
            if 0 <= place < length and mask[place]:
                result[token] += x[place] @ weights
    return result
