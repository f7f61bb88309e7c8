"""data_prep/write_subset.py: digests of the pairs at hand, the command, and training by them."""

import pytest

from data_prep import write_subset
from data_prep.corpora import snli, subsets
from disan_tf.common.errors import UserError
from tests.support.corpora.nli import row, text_options, write

ROWS = [
    row(premise="A cook stirs soup.", hypothesis="Soup is hot."),
    row(premise="a cook stirs soup", hypothesis="Soup is hot"),
    row("-", premise="A cook eats.", hypothesis="Soup is cold."),
    row(premise="A cook eats.", hypothesis="Soup is gone."),
]


def test_the_file_has_the_distinct_labelled_pairs_and_their_number_is_its_name(tmp_path):
    path, repeated = write_subset.write_subset("snli", write(tmp_path, train=ROWS))
    assert (path, repeated) == (tmp_path / "subsets/snli_2.digests", 1)
    pairs = [(r["sentence1"], r["sentence2"]) for r in (ROWS[0], ROWS[3])]
    subset = subsets.read(path)
    assert subset.pairs == 2 and all(subset.take(*pair) for pair in pairs)


def test_others_train_on_the_pairs_by_the_name_of_the_file(tmp_path):
    (tmp_path / "few").mkdir()
    write_subset.write_subset("snli", write(tmp_path / "few", train=ROWS), tmp_path / "subsets")
    others = [row(premise="A cook reads.", hypothesis="Soup is hot."), *ROWS]
    corpus = snli.read(write(tmp_path, train=others), text_options(subset="snli_2"))
    assert [" ".join(example.sentences[0]) for example in corpus.splits["train"]] == [
        "A cook stirs soup .",
        "A cook eats .",
    ]


def test_the_command_prints_the_file_and_its_number_of_pairs(tmp_path, capsys):
    write(tmp_path, train=ROWS)
    assert write_subset.main([f"--data_dir={tmp_path}", f"--output={tmp_path}/out"]) == 0
    expected = f"{tmp_path}/out/snli_2.digests: 2 pairs; 1 more have an equal digest\n"
    assert capsys.readouterr().out == expected


def test_the_command_explains_a_missing_corpus(tmp_path, capsys):
    assert write_subset.main([f"--data_dir={tmp_path}", "--corpus=multinli"]) == 2
    assert "MultiNLI is not in" in capsys.readouterr().err


def test_a_corpus_without_gold_labels_is_refused(tmp_path):
    with pytest.raises(UserError, match="holds no pair with a gold label; restore"):
        write_subset.write_subset("snli", write(tmp_path, train=[row("-")]))
