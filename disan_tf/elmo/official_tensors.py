"""The weights of a biLM by their names in the official releases."""

import tensorflow as tf

from disan_tf.elmo.bilm import BiLM


def official_tensors(bilm: BiLM) -> dict[str, tf.Variable]:
    """Returns official name -> weight of a biLM."""
    tokens = bilm.tokens
    tensors = {"char_embed": tokens.vectors}
    for number, pair in enumerate(zip(tokens.kernels, tokens.biases)):
        tensors.update(zip([f"CNN/W_cnn_{number}", f"CNN/b_cnn_{number}"], pair))
    for number, highway in enumerate(tokens.highway):
        # y = carry * transformed + (1 - carry) * x: the official "carry" gate is our gate.
        for name, part in {"carry": highway.gate, "transform": highway.transform}.items():
            tensors[f"CNN_high_{number}/W_{name}"] = part.dense.kernel
            tensors[f"CNN_high_{number}/b_{name}"] = part.dense.bias
    if tokens.projection is not None:
        tensors["CNN_proj/W_proj"] = tokens.projection.dense.kernel
        tensors["CNN_proj/b_proj"] = tokens.projection.dense.bias
    for direction, stack in enumerate((bilm.forward, bilm.backward)):
        for number, lstm in enumerate(stack):
            place = cell_name(direction, number)
            tensors[f"{place}/W_0"] = lstm.kernel
            tensors[f"{place}/B"] = lstm.bias
            if lstm.cells > lstm.units:
                tensors[f"{place}/W_P_0"] = lstm.projection
    return tensors


def cell_name(direction: int, number: int) -> str:
    """Returns the prefix of a layer's tensor names; direction 0 is forward, 1 backward."""
    return f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
