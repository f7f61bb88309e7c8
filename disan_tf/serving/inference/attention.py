"""A model's attention on a text as a Python object: arrays, tables, plots and HTML."""

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from disan_tf.common.options import check_choice
from disan_tf.serving.inference.attend import WEIGHT_VECTORS
from disan_tf.serving.inference.predict import SOURCE2TOKEN
from disan_tf.serving.inference.records import tokens_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS = 3  # in a row of a plot
_CELL, _LONGEST_SIDE = 0.32, 20.0  # inches of a token and of a panel


class Attention(dict):
    """The attention of a model on a sentence or a pair, see `disan_tf.load(...).attend`.

    It is a dictionary from "tokens" (for pairs "<field>_tokens") to a list of tokens, and from a
    name to <float32>[token, feature] or [head, dependent, feature]. A notebook shows the tokens
    shaded by their weights; `plot` draws the matrices.

    Args:
      fields, tokens: the names of the sentences, and the tokens of each.
      tensors: the tensors of `disan_tf.serving.inference.attend`.
      crossed: whether the words of a sentence attend to the other sentence's words (DRCN).

    Attributes:
      matrices: the names of the tensors <float32>[head, dependent, feature].
      weights: the names of the tensors <float32>[token, feature], source2token first.

    Example:
      >>> attention = disan_tf.load("demo").attend("a fine film .")
      >>> attention.table("forward_attention")  # row tokens attend to column tokens
      >>> attention.plot("source2token")[0].figure.savefig("weights.png")
    """

    def __init__(
        self,
        fields: Sequence[str],
        tokens: Sequence[list[str]],
        tensors: Mapping[str, np.ndarray],
        crossed: bool = False,
    ):
        self._sentences = dict(zip(fields, tokens))
        self._tensors = dict(tensors)
        self._crossed = crossed
        super().__init__({tokens_name(field): words for field, words in zip(fields, tokens)})
        self.update(tensors)
        names = [name for name in tensors if not name.endswith(WEIGHT_VECTORS)]
        self.matrices = tuple(name for name in names if tensors[name].ndim == 3)
        weights = (name for name in names if tensors[name].ndim == 2)
        self.weights = tuple(sorted(weights, key=lambda name: not name.endswith(SOURCE2TOKEN)))

    def __repr__(self) -> str:
        texts = (repr(" ".join(tokens)[:60]) for tokens in self._sentences.values())
        arrays = (f"{name} {list(tensor.shape)}" for name, tensor in self._tensors.items())
        return f"<Attention on {' and '.join(texts)}: {', '.join(arrays)}>"

    def table(self, matrix: str = "") -> Any:
        """Returns weights, means of the features, as a DataFrame of pandas (extra `notebook`).

        Args:
          matrix: one of `matrices`, for a table with a row for each attending token (head) and a
            column for each token attended to (dependent). "" = a row for each token, and a column
            for each of `weights`.
        """
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError(
                f"table() needs pandas ({error}); pip install 'disan_tf[notebook]' installs it. "
                "The arrays are in this object: attention[name]."
            ) from None
        if matrix:
            check_choice("matrix", matrix, self.matrices)
            heads, dependents = self._sides(matrix)
            return DataFrame(self._mean(matrix), heads, dependents)
        columns = {"token": [token for tokens in self._sentences.values() for token in tokens]}
        if len(self._sentences) > 1:
            fields = [field for field, tokens in self._sentences.items() for _ in tokens]
            columns = {"sentence": fields, **columns}
        first = self._prefix(next(iter(self._sentences)))
        for name in self._weights_of(first):
            short = name[len(first) :]
            means = [self._mean(self._prefix(field) + short) for field in self._sentences]
            columns[short] = np.concatenate(means).tolist()
        return DataFrame(columns)

    def plot(self, *names: str) -> "list[Axes]":
        """Draws weights, averaged over the features, into a new figure of matplotlib's pyplot.

        Args:
          names: some of `matrices`, drawn as heat maps whose rows attend to columns, and of
            `weights`, drawn as bars; none = all matrices, and the first weights of each sentence.

        Returns:
          The axes of each name.
        """
        from matplotlib import pyplot

        for name in names:
            check_choice("name", name, [*self.matrices, *self.weights])
        if not names:
            for prefix in map(self._prefix, self._sentences):
                names += tuple(name for name in self.matrices if name.startswith(prefix))
                names += tuple(self._weights_of(prefix)[:1])
        if not names:
            raise ValueError("the model's encoder has no attention to draw.")
        longest = max(map(len, self._sentences.values()))
        side = min(2.0 + _CELL * longest, _LONGEST_SIDE)
        columns = min(len(names), _PANELS)
        rows = -(-len(names) // columns)
        figure = pyplot.figure(figsize=(columns * side, rows * side), layout="constrained")
        panels = [figure.add_subplot(rows, columns, place + 1) for place in range(len(names))]
        for axes, name in zip(panels, names):
            self._draw(axes, name)
        return panels

    def _repr_html_(self) -> str:
        """Returns the tokens, shaded by their first weights."""
        parts = []
        for field, tokens in self._sentences.items():
            for name in self._weights_of(self._prefix(field))[:1] or [""]:
                means = self._mean(name) if name else np.zeros(len(tokens))
                shades = means / max(float(means.max(initial=0.0)), 1e-9)
                cells = " ".join(map(_shaded, tokens, means, shades))
                parts.append(f"<p>{html.escape(name or tokens_name(field))}: {cells}</p>")
        return f"<div>{''.join(parts)}</div>"

    def _draw(self, axes: "Axes", name: str) -> None:
        from disan_tf.common import plots

        axes.set_title(name.replace("_", " "), parse_math=False)
        means = self._mean(name)
        if name in self.matrices:
            heads, dependents = self._sides(name)
            high = plots.contested(means) or None
            image = plots.heat_map(axes, means, heads, dependents, high=high, mask_zeros=True)
            figure: Any = axes.figure
            figure.colorbar(image, ax=axes, shrink=0.8, extend="max")
            axes.set(xlabel="attended to (dependent)", ylabel="attending (head)")
            return
        tokens = list(self._sentences.values())[self._owner(name)]
        axes.barh(range(len(tokens)), means)
        axes.invert_yaxis()
        axes.set_yticks(range(len(tokens)), tokens, parse_math=False)
        axes.set_xlabel("weight, mean of the features")

    def _prefix(self, field: str) -> str:
        return f"{field}_" if len(self._sentences) > 1 else ""

    def _weights_of(self, prefix: str) -> list[str]:
        return [name for name in self.weights if name.startswith(prefix)]

    def _owner(self, name: str) -> int:
        """Returns the number of the sentence to which a tensor belongs."""
        return [name.startswith(self._prefix(field)) for field in self._sentences].index(True)

    def _sides(self, matrix: str) -> tuple[list[str], list[str]]:
        """Returns the tokens of a matrix' rows and columns."""
        sentences, head_field = list(self._sentences.values()), self._owner(matrix)
        return sentences[head_field], sentences[1 - head_field if self._crossed else head_field]

    def _mean(self, name: str) -> np.ndarray:
        return self._tensors[name].mean(axis=-1, dtype=np.float64)


def _shaded(token: str, weight: float, shade: float) -> str:
    """Returns a token as HTML, isolated from the text around it; `shade` is its opacity."""
    style = f"background: rgba(230, 150, 0, {shade:.2f})"
    return f'<bdi style="{style}" title="{weight:.4f}">{html.escape(token)}</bdi>'
