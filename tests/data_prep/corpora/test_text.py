"""data_prep/corpora/text.py: shards, dropped lines, held-out parts, bad input; and its options."""

from collections import Counter

import numpy as np
import pytest

from data_prep.corpora import text
from data_prep.prepare import prepare
from disan_tf.input_pipeline import PreparedCorpus
from tests.support.corpora.readers import make_options, refusal
from tests.support.models.bilm import official_ids

LINES = [f"Soup number {number} of day {number % 7}" for number in range(200)]
ODD_LINES = ["Hot soup", "", "Cold tea", "  ", "Hot soup", "Tea is far too hot", "Cold  tea"]


def options(**changed):
    values = {"texts": "texts", "repetitions": False, "longest": 0, "split_seed": 1}
    return make_options("text", **{**values, "dev_share": 0.1, "test_share": 0.25, **changed})


def write(data_dir, **shards):
    """Writes `texts/<name>.txt` of lines, by default one shard of `LINES`."""
    folder = data_dir / "texts"
    folder.mkdir(parents=True)
    for name, lines in (shards or {"shard": LINES}).items():
        content = "".join(f"{line}\n" for line in lines)
        (folder / f"{name}.txt").write_text(content, encoding="utf-8")
    return data_dir


def names(corpus, split):
    return [example.example_id for example in corpus.splits[split]]


def everything(corpus):
    """All kept sentences by example id."""
    examples = [example for split in text.SPLITS for example in corpus.splits[split]]
    return {example.example_id: " ".join(example.sentences[0]) for example in examples}


# Shards and lines


def test_an_example_is_named_after_its_file_and_line(tmp_path):
    write(tmp_path, news=["", "Hot soup"], mail=["Cold tea", "Rice"])
    corpus = text.read(tmp_path, options())
    assert everything(corpus) == {"mail-1": "Cold tea", "mail-2": "Rice", "news-2": "Hot soup"}
    assert corpus.fields == ("sentence",)


def test_shards_are_read_in_the_order_of_their_names(tmp_path):
    letters = "gcaheidbf"
    write(tmp_path, **{letter: [f"Soup {letter}", "Tea"] for letter in letters})
    corpus = text.read(tmp_path, options())
    for split in text.SPLITS:
        assert names(corpus, split) == sorted(names(corpus, split))
    assert [name for name, words in everything(corpus).items() if words == "Tea"] == ["a-2"]
    assert [path.stem for path in corpus.inputs] == sorted(letters)


def test_other_files_are_not_shards(tmp_path):
    (write(tmp_path, shard=["Hot soup"]) / "texts/README.md").write_bytes(b"\xff")
    assert list(everything(text.read(tmp_path, options()))) == ["shard-1"]


def test_blank_too_long_and_repeated_lines_are_dropped_and_counted(tmp_path):
    corpus = text.read(write(tmp_path, shard=ODD_LINES), options(longest=4))
    assert everything(corpus) == {"shard-1": "Hot soup", "shard-3": "Cold tea"}
    counts = corpus.counts["train"]
    assert counts["lines"] == 7
    assert counts["dropped"] == {"blank": 2, "too long": 1, "repetition": 2}
    assert sum(entry["kept"] for entry in corpus.counts.values()) == 2


def test_repetitions_are_kept_if_they_are_asked_for(tmp_path):
    corpus = text.read(write(tmp_path, shard=ODD_LINES), options(repetitions=True))
    assert sorted(everything(corpus)) == [f"shard-{number}" for number in (1, 3, 5, 6, 7)]
    assert corpus.counts["train"]["dropped"] == {"blank": 2, "too long": 0, "repetition": 0}


@pytest.mark.parametrize(("longest", "kept"), [(4, 2), (5, 3), (0, 3)])
def test_a_line_of_the_greatest_length_stays_and_zero_sets_no_length(tmp_path, longest, kept):
    corpus = text.read(write(tmp_path, shard=ODD_LINES), options(longest=longest))
    assert len(everything(corpus)) == kept


# Parts


def test_the_shares_are_those_of_the_lines(tmp_path):
    corpus = text.read(write(tmp_path), options())
    assert {split: len(names(corpus, split)) for split in text.SPLITS} == {
        "train": 130,
        "dev": 20,
        "test": 50,
    }
    assert {split: counts["kept"] for split, counts in corpus.counts.items()} == {
        "train": 130,
        "dev": 20,
        "test": 50,
    }


def test_shares_whose_sum_is_not_exact_are_rounded(tmp_path):
    corpus = text.read(write(tmp_path, shard=LINES[:10]), options(dev_share=0.1, test_share=0.2))
    assert [len(names(corpus, split)) for split in text.SPLITS] == [7, 1, 2]


def test_a_new_shard_is_prepared_again(tmp_path):
    write(tmp_path, first=LINES[:100])
    before = PreparedCorpus(prepare(options(), tmp_path, tmp_path / "prepared"))
    assert prepare(options(), tmp_path, tmp_path / "prepared") == before.directory
    sizes = [len(before.split("train"))]
    lines = "".join(f"{line}\n" for line in LINES[100:])
    (tmp_path / "texts/second.txt").write_text(lines, encoding="utf-8")
    after = PreparedCorpus(prepare(options(), tmp_path, tmp_path / "prepared"))
    assert [*sizes, len(after.split("train"))] == [65, 130]


def test_a_text_elsewhere_with_word_vectors_is_prepared_once(tmp_path):
    write(tmp_path / "elsewhere")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/vectors.txt").write_text("soup 0.5 0.25\n", encoding="utf-8")
    chosen = options(texts="../elsewhere/texts", vectors="vectors.txt")
    folder = prepare(chosen, tmp_path / "data", tmp_path / "prepared")
    (folder / "mine").touch()
    assert (prepare(chosen, tmp_path / "data", tmp_path / "prepared") / "mine").exists()


def test_each_line_is_in_one_part(tmp_path):
    corpus = text.read(write(tmp_path), options())
    drawn = [name for split in text.SPLITS for name in names(corpus, split)]
    assert sorted(drawn) == sorted(f"shard-{number}" for number in range(1, 201))


def test_held_out_lines_come_from_everywhere_in_the_text(tmp_path):
    corpus = text.read(write(tmp_path), options())
    quarters = Counter(
        int(name.split("-")[1]) // 51 for split in ("dev", "test") for name in names(corpus, split)
    )
    assert min(quarters[quarter] for quarter in range(4)) > 5


def test_the_split_seed_decides_which_lines_are_held_out(tmp_path):
    write(tmp_path)
    first, again, other = (text.read(tmp_path, options(split_seed=seed)) for seed in (1, 1, 2))
    for split in text.SPLITS:
        assert names(first, split) == names(again, split) != names(other, split)


# What prepare() makes of it


def test_spellings_are_the_official_character_ids_of_the_tokens_in_their_own_case(tmp_path):
    lines = ["Hot soup", "hot Tea", "naïve cooks", "Extraordinarily long", "tea"] * 4
    chosen = options(word_bytes=7, repetitions=True, lowercase=True)
    folder = prepare(chosen, write(tmp_path, shard=lines), tmp_path / "prepared")
    spellings, raw = np.load(folder / "spellings.npy"), text.read(tmp_path, chosen)
    assert spellings.dtype == np.uint16 and not spellings[0].any()
    assert len(spellings) == 1 + 9  # distinct tokens
    for split in text.SPLITS:
        rows = PreparedCorpus(folder).split(split).features.spelling["sentence"]
        expected = [official_ids(token, 7) for token in raw.tokens(split)]
        np.testing.assert_array_equal(spellings[rows], expected)


def test_a_prepared_text_has_spellings_and_no_matches(tmp_path):
    folder = prepare(options(word_bytes=7), write(tmp_path), tmp_path / "prepared")
    split = PreparedCorpus(folder).split("train")
    assert split.features.match is None
    assert len(split.features.spelling["sentence"]) == len(split.ids["sentence"])
    assert PreparedCorpus(folder).bilm is None


def test_words_rarer_than_the_least_count_are_unknown(tmp_path):
    tokens = list(text.read(write(tmp_path), options()).tokens("train"))
    counts = Counter(tokens)
    least = counts["3"]  # as often as that: the bound itself stays
    corpus = PreparedCorpus(prepare(options(min_count=least), tmp_path, tmp_path / "prepared"))
    kept = {word for word, count in counts.items() if count >= least}
    assert {"soup", "3"} <= {word.lower() for word in kept} and len(kept) < len(counts)
    assert set(corpus.vocabulary) == {word.lower() for word in kept}
    unknown = np.array(corpus.split("train").ids["sentence"]) == 1
    np.testing.assert_array_equal(unknown, [token not in kept for token in tokens])


# Bad input


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_without_shards_is_named(tmp_path, exists):
    if exists:
        write(tmp_path, shard=[]).joinpath("texts/shard.txt").rename(tmp_path / "texts/shard.md")
    message = refusal(tmp_path, options())
    assert message.startswith(f"{tmp_path}/texts holds no .txt file")


def test_a_line_that_is_not_utf_8_is_named(tmp_path):
    path = write(tmp_path, first=["Hot soup"], second=[]) / "texts/second.txt"
    path.write_bytes(b"Hot tea\nCold caf\xe9\n")
    assert refusal(tmp_path, options()).startswith(f"{path}, line 2: byte 0xe9")
