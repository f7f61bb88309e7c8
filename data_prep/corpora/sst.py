"""Stanford Sentiment Treebank (Socher et al. 2013), from any of its official layouts.

Training examples are all nodes of training trees (level "phrase") or the roots alone (level
"sentence"); dev and test examples are always whole sentences. A tree's nodes are numbered from 1,
leaves first from left to right, then inner nodes with children before their parents.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Callable, NamedTuple, Optional

from data_prep.corpora import sst_original
from data_prep.corpora.corpus import Corpus, Example
from data_prep.corpora.official_files import absent, find, is_synthetic
from data_prep.corpora.sst_trees import RESTORE, Node, Trees, parse_trees
from data_prep.download.unpack import ZIP_ERRORS, one_line, refuse_bomb
from disan_tf.common.checks import check_choice
from disan_tf.common.errors import UserError
from disan_tf.common.files import bounded_lines, decode_line, read_lines
from disan_tf.text import VERSIONS
from disan_tf.text.tokenizer_rules import KIM_CHARACTERS, clean_text

OFFICIAL_TREES = {"train": 8544, "dev": 1101, "test": 2210}
CLASSES = {
    5: ("very negative", "negative", "neutral", "positive", "very positive"),
    2: ("negative", "positive"),
}
LEVELS = ("phrase", "sentence")
NEUTRAL = 2
EXTRA_COPIES = 3  # the authors' re-balancing, not in the paper
_KEPT_BY_KIM = re.compile(f"[{KIM_CHARACTERS}]+")
TREES = "sst/trees"
ARCHIVES = ("sst/trainDevTestTrees_PTB.zip", "archives/trainDevTestTrees_PTB.zip")
ORIGINALS = ("sst/stanfordSentimentTreebank", "stanfordSentimentTreebank")


def check_options(
    level: str,
    classes: int,
    repetitions: bool,
    rebalance: bool,
    tokenizer: str,
    contexts: bool = False,
) -> None:
    """Checks the options of `read`; raises ValueError for an impossible value."""
    check_choice("level", level, LEVELS)
    check_choice("classes", classes, CLASSES)
    if contexts and tokenizer == "kim":
        raise ValueError(
            "contexts=True places phrases among the tokens of the trees, which "
            "--config.data.tokenizer=kim divides and deletes; use another tokenizer."
        )


CHECKS = (check_options,)
FIELDS = ("sentence",)
SPLITS = ("train", "dev", "test")


def files(data_dir: Path, options) -> list[Path]:
    """Returns the files of the first layout found; raises UserError if none is complete."""
    return find_layout(Path(data_dir)).files


def read(data_dir: Path, options, splits: Sequence[str] = SPLITS) -> Corpus:
    """Reads SST from the first layout found below `data_dir`.

    Args:
      data_dir: folder that holds `sst/trees/{train,dev,test}.txt`, or
        `trainDevTestTrees_PTB.zip` in `sst/` or `archives/`, or `stanfordSentimentTreebank/`.
      options: has `level` ("phrase" or "sentence"), `classes` (5, or 2: neutral dropped),
        `repetitions` (False keeps the first of examples with equal tokens and label), `rebalance`
        (appends three more copies, with the same example id, of training nodes that are not
        neutral, and of whole sentences), and optionally `contexts` (True keeps the sentence around
        each phrase); and `tokenizer`: "kim" cleans the leaves first, as
        `disan_tf.text.tokenizer.KimTokenizer` does, and drops examples that have no token left;
        all others keep the trees' tokens; since version 2, `clean_text` cleans them.
      splits: the splits to read.

    Raises:
      UserError: no layout found, or malformed data (names file and line).
    """
    layout = find_layout(Path(data_dir), splits)
    trees, classes = layout.read(), CLASSES[options.classes]
    corpus = Corpus("sst", FIELDS, classes, {}, {}, layout.files, unit="trees")
    official = {} if is_synthetic(layout.files) else OFFICIAL_TREES
    version = getattr(options, "tokenizer_version", None) or VERSIONS[options.tokenizer]
    for split in splits:
        if version > 1:
            trees[split] = list(map(_visible, trees[split]))
        phrases = split == "train" and options.level == "phrase"
        nodes = [node for tree in trees[split] for node in tree if phrases or node.is_sentence]
        if options.tokenizer == "kim":
            nodes = list(map(_cleaned, nodes))
        kept, dropped = _select(nodes, options.classes, options.repetitions or split != "train")
        copies = _rebalancing_copies(kept) if options.rebalance and split == "train" else []
        corpus.splits[split] = [_example(node, options) for node in kept + copies]
        corpus.count(
            split,
            len(trees[split]),
            official.get(split),
            file=layout.file_of(split),
            nodes=len(nodes),
            dropped=dropped,
            copies=len(copies),
            kept=len(kept) + len(copies),
        )
    return corpus


def _select(nodes: list[Node], classes: int, repetitions: bool) -> tuple[list[Node], dict]:
    """Returns the kept nodes, and the number of dropped nodes by reason."""
    kept, seen = [], set()
    dropped = {"empty": 0, "neutral": 0, "repetition": 0}
    for node in nodes:
        content = (node.tokens, node.label)
        if not node.tokens:
            dropped["empty"] += 1
        elif classes == 2 and node.label == NEUTRAL:
            dropped["neutral"] += 1
        elif not repetitions and content in seen:
            dropped["repetition"] += 1
        else:
            seen.add(content)
            kept.append(node)
    return kept, dropped


def _visible(tree: list[Node]) -> list[Node]:
    """Returns the nodes of a tree with clean words; a word that would vanish stays."""
    if all(map(str.isascii, tree[0].sentence)):
        return tree
    clean = {word: clean_text(word) or word for word in tree[0].sentence}
    return [
        node._replace(
            tokens=tuple(map(clean.get, node.tokens)), sentence=tuple(map(clean.get, node.sentence))
        )
        for node in tree
    ]


def _cleaned(node: Node) -> Node:
    """Returns a node with cleaned tokens, as `KimTokenizer` returns them."""
    return node._replace(tokens=tuple(_KEPT_BY_KIM.findall(" ".join(node.tokens))))


def _rebalancing_copies(nodes: list[Node]) -> list[Node]:
    """Returns the copies that the authors' code appends to the training nodes, three in a row.

    The code's condition, sentiment <= .4 or > .6, is "not neutral" after binning.
    """
    return [
        node
        for node in nodes
        if node.label != NEUTRAL or node.is_sentence
        for _ in range(EXTRA_COPIES)
    ]


def _example(node: Node, options) -> Example:
    label = node.label if options.classes == 5 else int(node.label > NEUTRAL)
    example = Example(node.example_id, (node.tokens,), label)
    if getattr(options, "contexts", False):
        return example._replace(context=node.sentence, start=node.start)
    return example


class Layout(NamedTuple):
    """The treebank in one of its layouts.

    Attributes:
      files: all files of the layout.
      read: returns the trees by split; raises UserError if a file is malformed.
    """

    files: list[Path]
    read: Callable[[], Trees]

    def file_of(self, split: str) -> Optional[Path]:
        """Returns the file of one split alone; None if the layout has no such file."""
        return next((path for path in self.files if path.name == f"{split}.txt"), None)


def find_layout(data_dir: Path, splits: Sequence[str] = SPLITS) -> Layout:
    """Returns the first layout found below `data_dir`; `splits` names the tree files it needs.

    Raises:
      UserError: there is no layout, or a file of the original layout is missing.
    """
    paths = {split: data_dir / TREES / f"{split}.txt" for split in splits}
    if all(path.is_file() for path in paths.values()):
        return Layout(list(paths.values()), partial(_read_trees, paths))
    for archive in (data_dir / name for name in ARCHIVES):
        if archive.is_file():
            return Layout([archive], partial(_read_archive, archive))
    folder = next((name for name in ORIGINALS if (data_dir / name).is_dir()), None)
    if folder:
        names = {name: f"{folder}/{name}.txt" for name in sst_original.NAMES}
        files = list(find(data_dir, "SST", names).values())
        return Layout(files, partial(sst_original.read_trees, *files))
    places = (f"{TREES}/{{train,dev,test}}.txt", *ARCHIVES, *ORIGINALS)
    raise absent(data_dir, "SST", f"looked for {', '.join(places)}")


def _read_trees(paths: dict[str, Path]) -> Trees:
    return {split: parse_trees(read_lines(path), split, path) for split, path in paths.items()}


def _read_archive(path: Path) -> Trees:
    """Reads `trees/{train,dev,test}.txt` inside `trainDevTestTrees_PTB.zip`."""
    members = {split: f"trees/{split}.txt" for split in SPLITS}
    try:
        with zipfile.ZipFile(path) as archive:
            refuse_bomb(map(archive.getinfo, members.values()), path)
            return {
                split: parse_trees(_member_lines(archive, member, path), split, path / member)
                for split, member in members.items()
            }
    except ZIP_ERRORS as error:
        reason = one_line(error)
        raise UserError(f"{path} is not the official archive ({reason}); {RESTORE}.") from None


def _member_lines(archive: zipfile.ZipFile, member: str, path: Path) -> Iterator[tuple[int, str]]:
    with io.BufferedReader(archive.open(member)) as file:
        for number, line in enumerate(bounded_lines(file, path / member), start=1):
            yield number, decode_line(line, path / member, number, RESTORE)
