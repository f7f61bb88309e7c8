"""data_prep/training_texts.py: what is written of which corpus, what is left out, the command."""

import pytest

from data_prep import training_texts
from data_prep.corpora import polarity, trec
from data_prep.training_texts import write_texts
from disan_tf.common.errors import UserError
from tests.support.corpora import nli

QUESTIONS = [f"How hot is soup {number} ?" for number in range(20)]  # two of them will be dev


def write_trec(data_dir, train=(), test=("Who cooks ?",)):
    for split, questions in (("train", [*QUESTIONS, *train]), ("test", test)):
        path = data_dir / trec.FILES[split]
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"HUM:ind {question}\n" for question in questions))
    return data_dir


@pytest.fixture
def written(data_dir, tmp_path):
    """Writes the texts of some corpora; their lines by corpus."""

    def write(*corpora):
        write_texts(corpora, data_dir, tmp_path / "texts")
        return {
            path.stem: path.read_text(encoding="utf-8").splitlines()
            for path in (tmp_path / "texts").iterdir()
        }

    return write


def test_both_sentences_of_a_pair_are_written_tokenised_if_they_have_tokens(data_dir, written):
    pairs = ("It isn't hot.", "Soup is cold."), (" ", "Soup is warm.")
    nli.write(data_dir, train=[nli.row(premise=one, hypothesis=other) for one, other in pairs])
    lines = ["It is n't hot .", "Soup is cold .", "Soup is warm ."]
    assert written("snli") == {"snli": lines}


def test_questions_that_a_seed_would_hold_out_as_dev_are_training_text(data_dir, written):
    write_trec(data_dir)
    assert sorted(written("trec")["trec"]) == sorted(QUESTIONS)


@pytest.mark.parametrize("corpus", ["cr", "mpqa", "subj"])
def test_all_folds_of_a_corpus_without_official_parts_are_written(data_dir, written, corpus):
    path = data_dir / "polarity" / f"{polarity.SOURCES[corpus].stem}.all"
    path.parent.mkdir()
    lines = [f"soup number {number} is hot" for number in range(40)]
    path.write_text("".join(f"{number % 2} {line}\n" for number, line in enumerate(lines)))
    assert sorted(written(corpus)[corpus]) == sorted(lines)


def test_a_sentence_that_stands_twice_in_a_corpus_is_written_once(data_dir, written):
    write_trec(data_dir, train=["Is it tea ?", "Is it tea ?", QUESTIONS[3]])
    assert sorted(written("trec")["trec"]) == sorted([*QUESTIONS, "Is it tea ?"])


def test_a_sentence_of_two_corpora_is_written_for_the_first(data_dir, written):
    write_trec(data_dir, train=["Cold soup", "cold soup"])
    lines = written("sst", "trec")
    assert "Cold soup" in lines["sst"] and "Cold soup" not in lines["trec"]
    assert "cold soup" in lines["trec"]  # another sentence


@pytest.mark.parametrize("order", [("sst", "trec"), ("trec", "sst")])
def test_a_sentence_that_any_corpus_tests_on_is_left_out(data_dir, written, order):
    write_trec(data_dir, train=["Cold tea", "Tea is okra", "Who cooks ?"], test=["Who cooks ?"])
    with (data_dir / "sst/trees/train.txt").open("a") as trees:
        trees.write("(2 (2 Who) (2 (2 cooks) (2 ?)))\n")
    lines = written(*order)  # "Cold tea" is a dev tree, "Tea is okra" a test tree
    assert lines["sst"] == ["This Soup is fine", "Cold soup"]
    assert sorted(lines["trec"]) == sorted(QUESTIONS)


def test_an_unknown_corpus_is_refused_with_those_that_are_known(data_dir, tmp_path):
    with pytest.raises(UserError, match="^soup is unknown; known are snli, .*, subj.$"):
        write_texts(("sst", "soup"), data_dir, tmp_path / "texts")
    assert not (tmp_path / "texts").exists()


def test_a_shard_of_a_corpus_that_is_not_named_is_refused(data_dir, written, tmp_path):
    write_trec(data_dir)
    before = written("sst", "trec")
    with pytest.raises(UserError, match=r"/sst.txt is the shard of a corpus that --corpora does"):
        write_texts(("trec",), data_dir, tmp_path / "texts")
    assert written("trec", "sst") == before


def test_the_command_writes_below_the_data_and_prints_totals(data_dir, capsys):
    write_trec(data_dir, train=["Cold tea", "Cold soup", QUESTIONS[0]])  # which sst has, or trec
    assert training_texts.main([f"--data_dir={data_dir}", "--corpora=sst,trec"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{data_dir}/bilm_texts/sst.txt: 2 sentences, 6 words",
        f"{data_dir}/bilm_texts/trec.txt: 20 sentences, 120 words",
        "all: 22 sentences, 126 words",
    ]
    assert len((data_dir / "bilm_texts/trec.txt").read_text().splitlines()) == 20


def test_the_command_ends_with_one_line_where_a_corpus_is_missing(data_dir, tmp_path, capsys):
    arguments = [f"--data_dir={data_dir}", f"--output={tmp_path}/texts", "--corpora=sst,trec"]
    assert training_texts.main(arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "TREC" in error
    assert not (tmp_path / "texts").exists()
