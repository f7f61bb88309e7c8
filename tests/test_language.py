"""Docstrings begin with a verb or with the noun that the thing is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (
    "configs",
    "data_prep",
    *sorted(f"disan_tf/{path.parent.name}" for path in ROOT.glob("disan_tf/*/__init__.py")),
)
# Question words and pronouns, which leave a reader to guess what the thing is.
NEVER_FIRST = re.compile("(Has|How|That|This|Those|What|Where|Whether|Which|Who|Whose|Why)\\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the line number and the text of every docstring of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_begin_with_a_verb_or_a_noun(folder):
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in docstrings(path)
        if NEVER_FIRST.match(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_docstring_that_begins_with_a_question_word_is_found(tmp_path):
    (tmp_path / "a.py").write_text('def f():\n    """What it is."""\n')
    assert [bool(NEVER_FIRST.match(text)) for _, text in docstrings(tmp_path / "a.py")] == [True]
