"""The example sentences that the papers print, as input of `attend`.

DiSAN Sec. 5.4, ReSAN Sec. 5.3. DSA prints its sentences in pictures alone, so its figures have the
sentences of DiSAN and ReSAN, which come from the same corpus.
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
    """Writes a paper's sentences as JSON lines for a model with these fields.

    The paper's sentences come in twos: a line holds one sentence, or both if there are two fields.

    Args:
      path: the path of the file.
      paper: a value of "papers" in `EXAMPLES`.
      fields: the model's fields.
      text_name: returns the name of a field's text in a record.
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
