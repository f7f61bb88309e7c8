"""Lays out this package's docstrings for the API pages: equations, examples, call arguments."""

import re

import griffe

_EQUATION = re.compile(r"\((?:Eq\. )?\d+[a-z]?(?:(?:, | to )\d+)*\)$")
_SHAPE = re.compile(r"<(\w+)>(?=\[)")  # <float>[batch, dim], which HTML would swallow
_CALL_ARGUMENT = re.compile(r"^  ([\w, *]+): ", re.MULTILINE)


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
    if any(_EQUATION.search(line) for line in lines) and not lines[0].endswith(":"):
        return "\n".join(f"    {line}" for line in lines)
    if lines[0] == "Call arguments:":
        part = _CALL_ARGUMENT.sub(r"  - `\1`: ", part)
    return _SHAPE.sub(r"&lt;\1&gt;", part)
