"""Lays out this package's docstrings for the API pages: equations, examples, call arguments."""

import re
import textwrap

import griffe

_EQUATION = re.compile(r"\((?:Eq\. )?\d+[a-z]?(?:(?:, | to )\d+)*\)$")
_NUMBER = re.compile(r"\s{2,}\((?:Eq\. )?([^()]*)\)$")
_CODE_OR_TAG = re.compile(r"(`[^`]*`)|<(?=\w)")  # HTML would swallow <float>[batch, dim]
_CALL_ARGUMENT = re.compile(r"^  ([\w, *]+): ", re.MULTILINE)
# A name such as W1, x'_i, xhat_j|i or X^(l-1), a sign, or the space between factors or words.
_INDICES = r"(?:[_^](?:\([^()]*\)|[A-Za-z\d]+(?:\|\w)?))*"
_TOKEN = re.compile(
    r"(?P<name>[A-Za-z]+(?:[-'\d][a-z]+)*|\d+(?=\^))"
    rf"(?P<prime>'?)(?P<digits>\d*)(?P<indices>{_INDICES})"
    r"| [*.~] |!=|\.\.\.|<(?! )|(?<! )>|(?<=[\w')\]]) (?=[\w(\[]|<\S)"
)
_SIGNS = {" * ": r"\odot ", " . ": r"\;\cdot\;", " ~ ": r"\;\sim\;", "!=": r"\ne "}
_SIGNS.update({"...": r"\dots ", "<": r"\langle ", ">": r"\rangle ", " ": r"\;"})
_COMMANDS = {"sum", "prod", "tanh", "theta", "Phi"}  # names that LaTeX knows


class Layout(griffe.Extension):
    """Rewrites docstrings before they are parsed."""

    def on_object(self, *, obj, **_):
        """Lays out the docstring of a class or a function."""
        if obj.docstring:
            parts = [_laid_out(part) for part in obj.docstring.value.split("\n\n")]
            obj.docstring.value = "\n\n".join(parts)


def _laid_out(part: str) -> str:
    """Returns a paragraph or a section of a docstring as Markdown."""
    lines = part.splitlines()
    if lines[0] == "Example:":
        return "\n".join(["Examples:", *lines[1:]])
    if _are_equations(textwrap.dedent(part).splitlines()):
        whole = re.sub(r"\n +", " ", textwrap.dedent(part))  # further lines of an equation
        return "\n".join(["```math", *map(latex, whole.splitlines()), "```"])
    if lines[0] == "Call arguments:":
        part = _CALL_ARGUMENT.sub(r"  - `\1`: ", part)
    return _CODE_OR_TAG.sub(lambda found: found[1] or "&lt;", part)


def _are_equations(lines: list[str]) -> bool:
    """Returns whether a paragraph has a numbered equation, or is nothing but equations."""
    if lines[0].endswith(":"):
        return False
    heads = [line for line in lines if not line.startswith(" ")]  # the others continue an equation
    return any(map(_EQUATION.search, lines)) or all(
        " = " in line and "`" not in line and line[-1] not in ".," for line in heads
    )


def latex(equation: str) -> str:
    """Returns an equation of a docstring as LaTeX: `s_j = sum_i P_i * x_i  (11)`."""
    number = _NUMBER.search(equation)
    tag = rf" \tag{{{number[1]}}}" if number else ""
    aligned = re.sub(" {2,}= ", " = ", _NUMBER.sub("", equation))
    parts = re.split(" {2,}", aligned)  # two spaces precede a remark or another equation
    return r" \qquad ".join(_TOKEN.sub(_converted, part) for part in parts) + tag


def _converted(token: re.Match) -> str:
    name = token["name"]
    if not name:
        return _SIGNS[token[0]]
    indices = re.sub(r"([_^])\(?([^_^()]+)\)?", r"\1{\2}", token["indices"])
    if name in _COMMANDS:
        name = rf"\{name} "
    elif name.endswith("hat") and indices:
        name = rf"\hat{{{name[:-3]}}}"
    elif len(name) > 1 and not name.isdigit():
        name = rf"\text{{{name}}}"
    digits = f"_{{{token['digits']}}}" if token["digits"] else ""
    return name + token["prime"] + digits + indices
