"""A model's attention on a text as a Python object: arrays, tables, plots and HTML."""

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from disan_tf.common.checks import check_choice
from disan_tf.common.paths import PathLike
from disan_tf.serving.inference.attend import WEIGHT_VECTORS
from disan_tf.serving.inference.predict import SOURCE2TOKEN
from disan_tf.serving.inference.records import tokens_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from disan_tf.serving.inference.attention_plot import Panel


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
      >>> attention.plot("source2token", path="weights.png")
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

    def plot(self, *names: str, path: Optional[PathLike] = None) -> "list[Axes]":
        """Draws weights, averaged over the features, on a page up to 10 inches wide.

        The colours of each row of a heat map span 0 to the row's largest weight.

        Args:
          names: some of `matrices`, drawn as heat maps whose rows attend to columns, and of
            `weights`, drawn as bars; none = all matrices, and the first weights of each sentence.
          path: the file to write, such as "attention.png", .svg or .pdf. None = the figure belongs
            to matplotlib's pyplot: a notebook displays it, and `pyplot.show()` does in a script.

        Returns:
          The axes of each name.

        Raises:
          ValueError: a name is unknown, there is nothing to draw, or matplotlib cannot write such
            a file.
        """
        from disan_tf.common import plots
        from disan_tf.serving.inference.attention_plot import draw

        for name in names:
            check_choice("name", name, [*self.matrices, *self.weights])
        if not names:
            for prefix in map(self._prefix, self._sentences):
                names += tuple(name for name in self.matrices if name.startswith(prefix))
                names += tuple(self._weights_of(prefix)[:1])
        if not names:
            raise ValueError("the model's encoder has no attention to draw.")
        panels = list(map(self._panel, names))
        if path is None:
            return draw(panels, _pyplot_figure)
        axes = draw(panels, plots.new_figure)
        figure: Any = axes[0].figure
        plots.write_figure(figure, path)
        return axes

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

    def _panel(self, name: str) -> "Panel":
        from disan_tf.serving.inference.attention_plot import Panel

        title, means = name.replace("_", " "), self._mean(name)
        if name in self.matrices:
            return Panel(title, means, *self._sides(name))
        return Panel(title, means, (), list(self._sentences.values())[self._owner(name)])

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


def _pyplot_figure(width: float, height: float) -> "Figure":
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained")


def _shaded(token: str, weight: float, shade: float) -> str:
    """Returns a token as HTML, isolated from the text around it; `shade` is its opacity."""
    style = f"background: rgba(230, 150, 0, {shade:.2f})"
    return f'<bdi style="{style}" title="{weight:.4f}">{html.escape(token)}</bdi>'
