"""The example sentences that the papers print, as input of `attend`.

DiSAN Sec. 5.4, ReSAN Sec. 5.3, DRCN Fig. 3, 5 and 7. Those of DSA stand in its pictures alone, so
its figures have the sentences of DiSAN and ReSAN, which are of the same corpus.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

from disan_tf.common.files import read_lines, write_atomically

EXAMPLES = Path(__file__).parent / "examples.jsonl"


def write_examples(
    path: Path, paper: str, fields: Sequence[str], text_name: Callable[[str], str]
) -> None:
    """Writes a paper's sentences as JSON lines that a model of these fields reads.

    The sentences of the paper come in twos: a line for each, or of a pair of fields one for both.

    Args:
      path: of the file.
      paper: a value of "papers" in `EXAMPLES`.
      fields: of the model.
      text_name: from a field to the name of its text in a record.
    """
    lines = []
    for _, text in read_lines(EXAMPLES):
        example = json.loads(text)
        if paper in example["papers"]:
            word = {"word": example["word"]} if "word" in example else {}
            for start in range(0, 2, len(fields)):
                sentences = example["sentences"][start : start + len(fields)]
                lines.append({**dict(zip(map(text_name, fields), sentences)), **word})
    write_atomically(path, "".join(json.dumps(line) + "\n" for line in lines))
