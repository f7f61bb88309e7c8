"""A small grammar that writes sentiment trees in which word order decides the label.

The demo and the tests train on the trees, because they need no download. A sentiment is a number
from -2 (very negative) to 2 (very positive); a node's label in the file is its sentiment plus 2. A
node's sentiment is a function of its children's sentiments:

    very x = 2 sign(x)         not x, than x = -sign(x)       x but y = y
    fairly x = sign(x)         less x, more x = x             x though y = x (though y = 0)
    (more x) (than y) = sign(x), x and y opposed              x and y = the stronger, never opposed

A contrast ("x but y", "x though y") is always written together with its mirror image ("y but x"):
equal words, opposite label. Run as `python -m data_prep.synthetic.treebank --data_dir=data`.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, Optional

import numpy as np

from data_prep.corpora.official_files import write_mark
from disan_tf.common.atomic import write_atomically
from disan_tf.common.errors import UserError, exit_status
from disan_tf.common.paths import home_path

SIZES = {"train": 3500, "dev": 400, "test": 800}

DETERMINERS = ("the", "this", "its")
NOUNS = (
    *("film", "plot", "cast", "score", "script", "story"),
    *("acting", "ending", "music", "dialogue", "romance", "hero"),
)
COPULAS = ("is", "was", "seems", "feels", "looks")
ADJECTIVES = {
    2: ("wonderful", "brilliant", "superb", "thrilling", "dazzling"),
    1: ("good", "funny", "warm", "clever", "fresh", "charming", "lively", "tender"),
    -1: ("bad", "dull", "slow", "clumsy", "bland", "silly", "stale", "cold"),
    -2: ("awful", "dreadful", "tedious", "wretched", "painful"),
}
AMPLIFIERS = ("very", "truly", "really", "deeply")
SOFTENERS = ("fairly", "somewhat", "rather")
NEGATORS = ("not", "never", "hardly")
LAST_DECIDES = ("but", "yet")
FIRST_DECIDES = ("though", "although")


class Tree(NamedTuple):
    """A node with its sentiment (-2 to 2): a leaf has a word, any other node has two children."""

    sentiment: int
    word: str = ""
    children: tuple["Tree", ...] = ()

    def __str__(self) -> str:
        """Returns the Penn-Treebank form, `(3 (2 very) (3 good))`."""
        inside = self.word or " ".join(map(str, self.children))
        return f"({self.sentiment + 2} {inside})"

    def tokens(self) -> tuple[str, ...]:
        """Returns the words from left to right."""
        if self.word:
            return (self.word,)
        return tuple(token for child in self.children for token in child.tokens())


def write_treebank(directory: Path, seed: int, sizes: Mapping[str, int] = SIZES) -> None:
    """Writes `<directory>/sst/trees/<split>.txt`, one tree a line, no sentence twice.

    Args:
      seed: equal seeds and sizes write equal bytes.
      sizes: the number of trees in each split.

    Raises:
      UserError: another treebank exists there (perhaps the real one, so it is kept).
    """
    folder = Path(directory) / "sst" / "trees"
    seen: set = set()
    texts = {}
    for split, size in sizes.items():
        trees = draw_trees(Random(f"{seed}/{split}"), size, seen)
        texts[folder / f"{split}.txt"] = "".join(f"{tree}\n" for tree in trees)
    write_new(texts, "treebank")


def write_new(texts: Mapping[Path, str], kind: str) -> None:
    """Writes a corpus' files, and the mark that it is synthetic; see `is_synthetic`.

    If a file exists with another text, nothing is written.

    Raises:
      UserError: a file exists with another text.
    """
    for path, text in texts.items():
        if path.exists() and path.read_bytes() != text.encode():
            raise UserError(
                f"{path} holds another {kind}; remove it, or choose another --data_dir."
            )
    for path, text in texts.items():
        write_atomically(path, text)
    write_mark(texts)


def draw_trees(random: Random, size: int, seen: set) -> Sequence[Tree]:
    """Draws `size` sentences whose word sequences are not in `seen`, and adds these to `seen`."""
    trees: list = []
    while len(trees) < size:
        fresh = {tree.tokens(): tree for tree in _draw_sentences(random)}
        if seen.isdisjoint(fresh):
            seen.update(fresh)
            trees.extend(fresh.values())
    return trees[:size]


def _draw_sentences(random: Random) -> Iterator[Tree]:
    """Yields a sentence, or a contrast and its mirror image; contrasts count twice in the mix."""
    sign = random.choice((-1, 1))
    first = _clause(random, sign)
    kind = random.choice(("clause", "conjunction", "conjunction", "contrast"))
    if kind == "clause":
        yield _stop(first)
    elif kind == "conjunction":
        yield _stop(conjunction(first, _clause(random, sign)))
    else:
        second, word = _clause(random, -sign), random.choice(LAST_DECIDES + FIRST_DECIDES)
        yield _stop(contrast(first, word, second))
        yield _stop(contrast(second, word, first))


def _clause(random: Random, sign: int) -> Tree:
    """Draws a determiner, a noun, a copula and an adjective phrase with the given sign."""
    subject = _join(0, Tree(0, random.choice(DETERMINERS)), Tree(0, random.choice(NOUNS)))
    phrase = _adjective_phrase(random, sign)
    predicate = _join(phrase.sentiment, Tree(0, random.choice(COPULAS)), phrase)
    return _join(predicate.sentiment, subject, predicate)


def _adjective_phrase(random: Random, sign: int) -> Tree:
    """Draws an adjective under at most two operators; the whole has the given sign."""
    kind = random.choice(
        ("plain", "plain", "amplified", "amplified", "softened", "never less", "never less")
        + ("negated", "negated amplified", "less", "compared")
    )
    adjective = _adjective(random, sign)
    opposite = _adjective(random, -sign)
    amplifier, negator = random.choice(AMPLIFIERS), random.choice(NEGATORS)
    if kind == "amplified":
        return operate(amplifier, adjective)
    if kind == "softened":
        return operate(random.choice(SOFTENERS), adjective)
    if kind == "never less":
        return operate(negator, operate("less", operate("than", adjective)))
    if kind == "negated":
        return operate(negator, opposite)
    if kind == "negated amplified":
        return operate(negator, operate(amplifier, opposite))
    if kind == "less":
        return operate("less", operate("than", opposite))
    if kind == "compared":
        return comparison(adjective, opposite)
    return adjective


def _adjective(random: Random, sign: int) -> Tree:
    sentiment = sign * random.choice((1, 2))
    return Tree(sentiment, random.choice(ADJECTIVES[sentiment]))


def operate(word: str, tree: Tree) -> Tree:
    """Applies an operator ("very", "not", "than", ...) to a phrase."""
    sign = int(np.sign(tree.sentiment))
    if word in AMPLIFIERS:
        sentiment = 2 * sign
    elif word in SOFTENERS:
        sentiment = sign
    elif word in NEGATORS or word == "than":
        sentiment = -sign
    else:
        sentiment = tree.sentiment
    return _join(sentiment, Tree(0, word), tree)


def comparison(first: Tree, second: Tree) -> Tree:
    """Joins a comparison, "more dull than funny": the first adjective decides."""
    sign = int(np.sign(first.sentiment))
    return _join(sign, operate("more", first), operate("than", second))


def conjunction(first: Tree, second: Tree) -> Tree:
    """Joins two clauses with equal signs: the stronger clause decides."""
    stronger = max(first.sentiment, second.sentiment, key=abs)
    return _join(stronger, first, _join(second.sentiment, Tree(0, "and"), second))


def contrast(first: Tree, word: str, second: Tree) -> Tree:
    """Joins clauses with opposite signs: the second decides in "but", the first in "though"."""
    if word in LAST_DECIDES:
        return _join(second.sentiment, first, _join(second.sentiment, Tree(0, word), second))
    return _join(first.sentiment, first, _join(0, Tree(0, word), second))


def _stop(tree: Tree) -> Tree:
    return _join(tree.sentiment, tree, Tree(0, "."))


def _join(sentiment: int, *children: Tree) -> Tree:
    return Tree(sentiment, children=children)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Writes the treebank; returns the exit status."""
    parser = argparse.ArgumentParser(prog="data_prep.synthetic.treebank", description=__doc__)
    parser.add_argument("--data_dir", type=home_path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    return exit_status(lambda: write_treebank(options.data_dir, options.seed))


if __name__ == "__main__":
    sys.exit(main())
