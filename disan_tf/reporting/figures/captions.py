"""Captions of figures, and the list of all figures."""

from pathlib import Path

from disan_tf.common.tables import markdown_table
from disan_tf.reporting.figures.catalogue import FIGURES, PaperFigure

_INTRODUCTION = """# The papers' figures, of our models and runs

    python run.py --mode=figures --checkpoint=disan_trec
    python run.py --mode=figures --workdir=runs

The first command draws what a model attends to, in the example sentences that its paper prints or
in those of `--input`, into a folder of the model's name; the second what runs show. Each figure is
an SVG and a PNG with a caption, which says of which model it is and what is unlike the paper's.
Colours grow evenly in lightness, so that they can be read in grey and by the colour-blind.
Pictures that are named for a table show the dev scores by epoch and the test accuracy by length of
its runs; these, `scaling` and the figures of recorded runs are drawn by `--mode=report` too.

"""


def caption(figure: PaperFigure, subject: str, command: str) -> str:
    """Returns a picture's caption in Markdown.

    Args:
      figure: a paper's figure.
      subject: the model or the runs in it.
      command: the command that draws it again.
    """
    lines = [
        f"# Figure {figure.number} of the {figure.paper} paper\n",
        f"![{figure.shows}]({figure.name}.png)\n",
        f"{figure.shows[0].upper()}{figure.shows[1:]} ([SVG]({figure.name}.svg)).\n",
        f"- ours: {subject}",
        f"- the paper's: {figure.model}",
    ]
    if figure.differs:
        lines.append(f"- {figure.differs}")
    lines.append(f"- drawn again by `{command}`")
    return "\n".join(lines) + "\n"


def figures_readme(folder: Path) -> str:
    """Returns the list of the papers' figures, with their files in a folder, or why none."""
    lines = [
        {
            "figure": f"{figure.paper}, {figure.number}",
            "shows": figure.shows,
            "ours": _ours(figure, folder),
        }
        for figure in FIGURES
    ]
    return _INTRODUCTION + markdown_table(lines)


def _ours(figure: PaperFigure, folder: Path) -> str:
    """Returns links to a figure's captions, one per model, or the reason why there are none."""
    found = {
        path: path.parent.name if path.parent != folder else "our runs"
        for path in sorted(folder.glob(f"**/{figure.name}.md"))
    }
    if found:
        return ", ".join(f"[{label}]({path.relative_to(folder)})" for path, label in found.items())
    return f"not yet: needs {figure.needs}" if figure.source else f"none: {figure.needs}"
