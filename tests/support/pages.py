"""Code blocks of the documentation's pages, and the marks of those that no test runs."""

import json
import re
from pathlib import Path
from typing import NamedTuple, Optional

_MARK = re.compile(r"<!-- not run: (.+) -->")
_FENCE = re.compile(r"```(\w*)")
_INDENT = " " * 4


class Block(NamedTuple):
    """A code block: `language` is "" without a fence; `reason` says why no test runs it."""

    line: int
    language: str
    text: str
    reason: Optional[str]


def text_of(page: Path) -> str:
    """Returns the Markdown of a page, or of a notebook's text cells."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return text
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
    return "\n\n".join("".join(cell["source"]) for cell in cells) + "\n"


def blocks_of(text: str) -> list[Block]:
    """Returns the blocks of a Markdown text in their order.

    A block is fenced, or has four spaces before each line and a blank line before it. A comment
    `<!-- not run: needs a GPU -->` above a block is its mark.
    """
    lines = text.splitlines()
    blocks, before, number = [], "", 0
    while number < len(lines):
        line, start = lines[number], number
        fence = _FENCE.fullmatch(line)
        if fence:
            number = lines.index("```", number + 1) + 1
            part = lines[start + 1 : number - 1]
        elif line.startswith(_INDENT) and (number == 0 or not lines[number - 1].strip()):
            while number < len(lines) and (lines[number].startswith(_INDENT) or not lines[number]):
                number += 1
            part = [line[len(_INDENT) :] for line in lines[start:number]]
        else:
            before = line or before
            number += 1
            continue
        mark = _MARK.fullmatch(before)
        code = "\n".join(part).strip("\n") + "\n"
        blocks.append(Block(start + 1, fence[1] if fence else "", code, mark and mark[1]))
        before = ""
    return blocks


def is_python(block: Block) -> bool:
    """Returns whether the block is Python; every other block is the shell's."""
    return block.language == "python" or re.match(r"(import|from) ", block.text) is not None
