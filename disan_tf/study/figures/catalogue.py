"""`--mode=figures`: draws the papers' figures with captions, and lists them all.

<output>/README.md                                  all figures: their files, or why none
<output>/<model>/disan_figure_6.svg, .png, .md      a figure of a model's attention
<output>/disan_figure_5.svg, .png, .md              a figure of runs
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Optional

from disan_tf.common.atomic import write_atomically
from disan_tf.common.checks import check_choice, join_choices
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_lines
from disan_tf.common.plots import save_picture
from disan_tf.common.tables import markdown_table
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.recorded_config import read_config
from disan_tf.serving.attention_page.figures import DRAWINGS
from disan_tf.study.figures import drawings
from disan_tf.study.papers import find_row
from disan_tf.study.results import describe_members

LINES, VECTORS, RESULTS, LOSSES, CODE = "lines", "vectors", "results", "losses", "code"
_OF_MODELS = (LINES, VECTORS)  # what `attend` writes
OF_RESULTS = {  # name in the catalogue -> function
    "accuracy_against_length": drawings.accuracy_against_length,
    "accuracy_against_epochs": drawings.accuracy_against_epochs,
}
_FOLDER = Path(__file__).parent
_EXAMPLES = _FOLDER / "examples.jsonl"  # DiSAN Sec. 5.4, ReSAN Sec. 5.3; DSA's are of this corpus
_COMMAND = "python run.py --mode=figures"
_INTRODUCTION = """# The papers' figures, drawn from our models and runs

    python run.py --mode=figures --checkpoint=disan_trec
    python run.py --mode=figures --workdir=runs

The first command draws a model's attention in its paper's example sentences, or in the lines of
`--input`, into a folder with the model's name. The second draws the figures of runs, as
`--mode=report` does for recorded runs. A caption names the model and how our figure differs from
the paper's. Pictures named for a table show its runs' dev scores by epoch and test accuracy by
length. The colours remain distinguishable in grey and for colour-blind readers.

"""


class PaperFigure(NamedTuple):
    """A paper's figure, as `catalogue.jsonl` describes it."""

    paper: str  # such as "DiSAN"
    number: int
    shows: str  # a description of its content
    model: str = ""  # the model that the paper draws
    # What it shows: "lines" or "vectors" of `attend`, recorded "results", "losses" of a run, or
    # "code"; "" = it cannot be drawn.
    source: str = ""
    draw: str = ""  # the name of the function that draws a model or results
    needs: str = "a diagram without data"  # or the data it needs
    differs: str = ""  # how our picture differs from the paper's, whatever the model
    variant: str = ""  # for losses, the trained variant of `configs/drcn_snli.py`

    @property
    def name(self) -> str:
        """The name of its files, such as "disan_figure_6"."""
        return f"{self.encoder.replace('-', '_')}_figure_{self.number}"

    @property
    def encoder(self) -> str:
        """The `config.encoder.name` of the models that it can show."""
        return self.paper.lower()


class DrawnModel(NamedTuple):
    """The model in a figure, and how it was drawn."""

    name: str  # of the released model, or of its config
    config: Mapping
    step: int  # of its weights
    lines: str  # a description of the sentences it reads
    command: str  # draws the figure again

    def describe(self) -> str:
        """Returns encoder, corpus and step, for a caption."""
        data, encoder = self.config["data"], self.config["encoder"]["name"]
        vectors = f"{data['embedding_dim']} dimensions ({data['vectors'] or 'no file of vectors'})"
        corpus = f"the encoder {encoder} on the corpus {data['corpus']}{_share(self.config)}"
        return f"`{self.name}`, {corpus}, words of {vectors}, step {self.step:,}; {self.lines}"


def _read(path: Path) -> list[dict]:
    return [json.loads(text) for _, text in read_lines(path)]


FIGURES = tuple(PaperFigure(**entry) for entry in _read(_FOLDER / "catalogue.jsonl"))


def write_examples(path: Path, encoder: str, names: Sequence[str]) -> None:
    """Writes the example sentences of an encoder's paper as JSON lines with texts of these names.

    The paper's sentences come in twos: a line holds one sentence, or both if there are two names.
    """
    lines = []
    for example in (example for example in _read(_EXAMPLES) if encoder in example["papers"]):
        word = {"word": example["word"]} if "word" in example else {}
        for start in range(0, 2, len(names)):
            lines.append({**dict(zip(names, example["sentences"][start:])), **word})
    write_atomically(path, "".join(json.dumps(line) + "\n" for line in lines))


def check_names(names: Sequence[str], has_model: bool) -> None:
    """Raises UserError for an unknown figure, or one that cannot be drawn (without a model)."""
    figures = {figure.name: figure for figure in FIGURES}
    for name in names:
        try:
            source = figures[check_choice("--figures", name, figures)].source
        except ValueError as error:
            raise UserError(str(error)) from None
        if not source:
            raise UserError(f"--figures={name} is {figures[name].needs}; choose another one.")
        if source in _OF_MODELS and not has_model:
            raise UserError(f"--figures={name} shows a model's attention; add --checkpoint.")


def check_encoder(encoder: str, names: Sequence[str]) -> None:
    """Raises UserError if none of the named figures, none = all, shows an encoder's attention."""
    available = [(figure.encoder, figure.name) for figure in FIGURES if figure.source in _OF_MODELS]
    drawn = [name for owner, name in available if owner == encoder]
    if not drawn:
        raise UserError(
            f"no paper has figures of the attention of {encoder}; choose a model of "
            f"{', '.join(sorted(dict(available)))}, or look at it with --mode=attend."
        )
    if names and not set(names) & set(drawn):
        raise UserError(
            f"--figures={','.join(names)} is not of {encoder}; choose {join_choices(drawn)}."
        )


def draw_model(sources: Mapping, model: DrawnModel, output: Path, names: Sequence[str]) -> None:
    """Draws the figures of a model's attention in some lines.

    Args:
      sources: "lines", see `serving.attention_page.attention_files.read_lines`, and "vectors",
        the content of `weight_vectors.json`, or {} where there is none.
      model: the model, after which a folder of `output` is named.
      output, names: see `draw_runs`.
    """
    for figure in _chosen(_OF_MODELS, names):
        if figure.encoder == model.config["encoder"]["name"]:
            picture, folder = DRAWINGS[figure.draw](sources[figure.source]), output / model.name
            print(_save(figure, picture, folder, model.describe(), model.command))
    write_atomically(output / "README.md", figures_readme(output))


def draw_runs(
    results: dict[str, dict], root: Optional[Path], output: Path, names: Sequence[str]
) -> None:
    """Draws the named figures, none = all, of recorded results and runs at and below `root`."""
    for figure in _chosen((RESULTS, LOSSES, CODE), names):
        if figure.source == RESULTS:
            print(_draw_results(figure, results, output))
        elif figure.source == LOSSES:
            print(_draw_losses(figure, root, output))
        else:
            print(_save(figure, drawings.positional_masks(), output, "the code", _COMMAND))
    write_atomically(output / "README.md", figures_readme(output))


def draw_results(results: dict[str, dict], output: Path) -> None:
    """Draws the figures of recorded results that there are, and prints nothing."""
    for figure in _chosen((RESULTS,), ()):
        _draw_results(figure, results, output)


def _chosen(sources: Sequence[str], names: Sequence[str]) -> Iterator[PaperFigure]:
    """Yields the figures of some sources that are named; no names = all."""
    for figure in FIGURES:
        if figure.source in sources and (not names or figure.name in names):
            yield figure


def _draw_results(figure: PaperFigure, results: dict[str, dict], output: Path) -> str:
    picture, names = OF_RESULTS[figure.draw](results)
    listed = ", ".join(f"`{name}` ({describe_members(results[name])})" for name in names)
    return _save(figure, picture, output, f"recorded runs, {listed}", _COMMAND)


def _draw_losses(figure: PaperFigure, root: Optional[Path], output: Path) -> str:
    """Draws the losses of the first work directory of a DRCN of the figure's variant."""
    for path in sorted(root.rglob("metrics.jsonl")) if root else ():
        config = read_config(path.parent)
        place = find_row(config)
        if place and (place[1].config, place[1].variant) == ("drcn_snli", figure.variant):
            picture = drawings.losses(MetricsLog.read(path))
            subject = f"the run {path.parent.name}{_share(config)}"
            return _save(figure, picture, output, subject, f"{_COMMAND} --workdir=runs")
    return _save(figure, None, output, "", "")


def _save(figure: PaperFigure, picture, folder: Path, subject: str, command: str) -> str:
    """Writes a picture and its caption; returns its path, or for None what it needs."""
    if picture is None:
        return f"{figure.name}: not drawn; it needs {figure.needs}"
    save_picture(picture, folder / figure.name)
    write_atomically(folder / f"{figure.name}.md", caption(figure, subject, command))
    return str(folder / f"{figure.name}.svg")


def caption(figure: PaperFigure, subject: str, command: str) -> str:
    """Returns a picture's caption in Markdown: the figure, the model or runs, the command."""
    lines = [
        f"# Figure {figure.number} of the {figure.paper} paper\n",
        f"![{figure.shows}]({figure.name}.png)\n",
        f"{figure.shows[0].upper()}{figure.shows[1:]} ([SVG]({figure.name}.svg)).\n",
        f"- ours: {subject}",
        f"- the paper's: {figure.model}",
        *([f"- {figure.differs}"] if figure.differs else []),
        f"- drawn by `{command}`",
    ]
    return "\n".join(lines) + "\n"


def figures_readme(folder: Path) -> str:
    """Returns the list of the papers' figures, with their files in a folder, or why none."""
    lines = []
    for figure in FIGURES:
        captions = {
            path.relative_to(folder): "our runs" if path.parent == folder else path.parent.name
            for path in sorted(folder.glob(f"**/{figure.name}.md"))
        }
        ours = ", ".join(f"[{name}]({path})" for path, name in captions.items())
        reason = f"not yet: needs {figure.needs}" if figure.source else f"none: {figure.needs}"
        line = {"figure": f"{figure.paper}, {figure.number}", "shows": figure.shows}
        lines.append({**line, "ours": ours or reason})
    return _INTRODUCTION + markdown_table(lines)


def _share(config) -> str:
    """Describes how many examples a model was trained on, unless it is the whole corpus."""
    examples = config["train"].get("examples")
    return f", {examples:,} training examples" if examples else ""
