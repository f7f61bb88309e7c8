"""Readers name the file and the line of bad input, and the command that restores it."""

import zipfile

import pytest

from data_prep.corpora import snli
from tests.support.corpora.raw import OPTIONS, place_of, write_raw
from tests.support.corpora.readers import refusal

SST, SICK, TREC, CR = (
    "sst/trees/dev.txt",
    "sick/SICK_train.txt",
    "trec/train_5500.label",
    "polarity/custrev.all",
)
JSON, TEXT = "snli_1.0/snli_1.0_train.jsonl", "text/snli_1.0/snli_1.0_train.jsonl"
COLUMN, GENRES = "columns/snli_1.0/snli_1.0_train.txt", "multinli_1.0/multinli_1.0_train.jsonl"
ENDLESS = f"(2 Tea)\n(2 {'a' * (5 << 20)}"
NO_PARSE = "(without parses, use --config.data.tokens=text --config.data.tokenizer=treebank)"
BAD = [  # path; a part of its last line, "" = all of it; what replaces the part; the message
    (SST, "", "(3 (2 It) (4 works)", "the tree is cut off, 1 parentheses are still open"),
    (SST, "", "(3 (2 It) (4 works)))", "the tree is not balanced, ')' is outside of it"),
    (SST, "", "(2 It) (2 works)", "a second tree follows the first"),
    (SST, "", "(3 (2 It) (7 works))", "label '7' is not one of 0 to 4"),
    (SST, "", "(3 (2) (4 works))", "a node has neither a word nor children"),
    (SST, "", "(3 It works)", "'works' is beside another word or a child of its node"),
    (SST, "", "(3 It (4 works) (2 well))", "a node has both a word and children"),
    (SST, "", "(", "label '' is not one of 0 to 4"),
    (SST, "", f"(2 {'(2 a) ' * 10_002})", "the tree has more than 10,000 words"),
    (SICK, "4.9", "0.9", "relatedness_score 0.9 is not between 1 and 5"),
    (SICK, "4.9", "nan", "relatedness_score nan is not between 1 and 5"),
    (SICK, "4.9", "3,6", "relatedness_score '3,6' is not a number"),
    (SICK, "pie-", "7" * 290, "pair_ID has 300 characters; the limit is 255"),
    (SICK, "\tENTAILMENT", "", "4 columns, and the header has 5"),
    (SICK, "\tENT", "\tmore\tENT", "6 columns, and the header has 5"),
    (TREC, "NUM:", "LOC:", "'LOC:code' is not one of TREC's 50 classes"),
    (TREC, "NUM:", "num:", "'num:code' is not one of TREC's 50 classes"),
    (CR, "1 ", "2 ", "'2' is not the label 0 (negative) or 1 (positive)"),
    (CR, "1 ", "\t1 ", "'\\t1' is not the label 0 (negative) or 1 (positive)"),
    (JSON, "", '{"gold_label": "neutral", "pair', "not "),
    (JSON, "", '["neutral"]', "not "),
    (JSON, '"-"', '"maybe"', "gold_label 'maybe' is not contradiction, neutral, entailment or -"),
    (JSON, '"-"', "null", "gold_label is not a string (null)"),
    (JSON, '"pair-7"', "3", "pairID is not a string (3)"),
    (TEXT, '"Soup is hot."', "{}", "sentence2 is not a string ({})"),
    (JSON, "pair-7", "a" * 256, "pairID has 256 characters; the limit is 255"),
    (JSON, '{"', f'{{"genre": "{"a" * 256}", "', "genre has 256 characters; the limit is 255"),
    (JSON, "( ( A cook", "( ( A " + "a" * 1_000_000, "sentence1_binary_parse has 1,000,0"),
    (JSON, "( ( A cook )", "( ( A cook", "sentence1_binary_parse is cut off"),
    (JSON, '"gold_label"', '"gold"', "there is no gold_label"),
    (JSON, "sentence1_binary_parse", "parse", f"there is no sentence1_binary_parse {NO_PARSE}"),
    (GENRES, '"slate"', "null", "genre is not a string (null)"),
    (COLUMN, "", "\t".join(["neutral"] * 8), "8 columns, and the header has 14"),
    (COLUMN, "-\t", "maybe\t", "gold_label 'maybe' is not contradiction"),
]
HEADERS = [  # path; a column; the message where its name is another
    (SICK, "relatedness_score", "there is no relatedness_score"),
    (COLUMN, "gold_label", "there is no gold_label"),
    (COLUMN, "sentence1_binary_parse", f"there is no sentence1_binary_parse {NO_PARSE}"),
]
EMPTY = {
    SST: "tree",
    SICK: "pair",
    TREC: "question",
    CR: "sentence",
    "snli_1.0/snli_1.0_test.jsonl": "pair",
}
MISSING = {  # path -> what the message says that there is not
    "sick/SICK_test_annotated.txt": "there is no sick/SICK_test_annotated.txt",
    "trec/TREC_10.label": "there is no trec/TREC_10.label",
    CR: "no polarity/custrev.all and no polarity/custrev.neg and .pos",
    "snli_1.0/snli_1.0_dev.jsonl": "there is no snli_1.0/snli_1.0_dev.jsonl or .txt)",
    "multinli_1.0/multinli_1.0_dev_mismatched.jsonl": "dev_mismatched.jsonl or .txt)",
    SST: "looked for sst/trees/{train,dev,test}.txt, sst/trainDevTestTrees_PTB.zip, archives/train",
}
DOWNLOADS = {"columns": "snli", "text": "snli", "snli_1.0": "snli", "multinli_1.0": "multinli"}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return write_raw(tmp_path_factory.mktemp("raw"))


@pytest.fixture
def change(data_dir):
    """Writes a file of the raw corpora, None = removes it; the refusal, after which it is whole."""
    before = {}

    def refused(path, content, has_download=True):
        place = data_dir / path
        before[place] = place.read_bytes()
        if content is None:
            place.unlink()
        else:
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        message = refusal(*place_of(data_dir, path))
        first = path.partition("/")[0]
        command = f"python -m data_prep.download {DOWNLOADS.get(first, first)}"
        assert command in message or not has_download
        return message

    yield refused
    for place, content in before.items():
        place.write_bytes(content)


@pytest.mark.parametrize("path, part, new, message", BAD, ids=[f"{it[0]}-{it[3]}" for it in BAD])
def test_a_bad_line_is_named(data_dir, change, path, part, new, message):
    *others, last = (data_dir / path).read_text().splitlines()
    assert part in last
    found = change(path, "\n".join([*others, last.replace(part, new, 1) if part else new, ""]))
    assert found.startswith(f"{data_dir}/{path}, line {len(others) + 1}: {message}")


@pytest.mark.parametrize("path, column, message", HEADERS)
def test_a_header_without_a_column_is_named(data_dir, change, path, column, message):
    found = change(path, (data_dir / path).read_text().replace(column, "other", 1))
    assert found.startswith(f"{data_dir}/{path}, line 1: {message}")


@pytest.mark.parametrize("path, unit", EMPTY.items())
def test_a_file_without_examples_is_named(data_dir, change, path, unit):
    header = (data_dir / path).read_text().partition("\n")[0] if path == SICK else ""
    assert change(path, f"{header}\n \n").startswith(f"{data_dir}/{path} contains no {unit}")


@pytest.mark.parametrize("path", [SST, SICK, JSON, COLUMN])
def test_a_byte_that_is_not_utf_8_is_named(data_dir, change, path):
    lines = (data_dir / path).read_bytes().splitlines(keepends=True)[:2]
    message = change(path, b"".join(lines) + b"(2 caf\xe9)\n", has_download=False)
    assert message.startswith(f"{data_dir}/{path}, line 3: byte 0xe9 at column 7 is not UTF-8")


@pytest.mark.parametrize("path, message", MISSING.items())
def test_a_missing_file_is_named_with_the_command_that_fetches_it(data_dir, change, path, message):
    found = change(path, None)
    assert message in found and f" --data_dir={data_dir} fetches it." in found


def test_a_line_without_end_is_named(change):
    message = change(SST, ENDLESS, has_download=False)
    assert "dev.txt, line 2: a line may have 4,194,304 bytes" in message


def test_the_longest_fields_are_read(data_dir, tmp_path):
    line = (data_dir / JSON).read_text().splitlines()[0].replace("pair-7", "a" * 255)
    write_raw(tmp_path)
    (tmp_path / JSON).write_text(line.replace("( ( A cook", "( ( A " + "a" * 131_040, 1) + "\n")
    assert len(snli.read(*place_of(tmp_path, JSON)).splits["train"]) == 1


@pytest.mark.parametrize(
    "bad", ["(2 Tea)\n(2 caf\xe9)\n", ENDLESS, None], ids=["not UTF-8", "endless", "no archive"]
)
def test_bad_archives_of_trees_are_named(tmp_path, bad):
    (tmp_path / "sst").mkdir()
    path = tmp_path / "sst/trainDevTestTrees_PTB.zip"
    path.write_bytes(b"<html>")
    message = f"{path} is not the official archive ("
    if bad:
        with zipfile.ZipFile(path, "w") as file:
            for split in ("train", "dev", "test"):
                file.writestr(f"trees/{split}.txt", bad.encode("latin-1"))
        message = f"{path}/trees/train.txt, line 2: "
    assert refusal(tmp_path, OPTIONS["sst"]).startswith(message)


def test_more_folds_than_a_class_has_sentences_are_refused(data_dir):
    options = OPTIONS["polarity"].copy_and_resolve_references()
    options.folds = 13
    message = refusal(data_dir, options)
    assert "--config.data.folds=13 is more than the 12 sentences of the smaller class" in message


def test_an_unknown_split_of_the_later_release_of_sick_is_named(tmp_path):
    header = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n"
    (tmp_path / "sick").mkdir()
    (tmp_path / "sick/SICK.txt").write_text(header + "1\tA\tB\tNEUTRAL\t3.1\tDEV\n")
    message = refusal(tmp_path, OPTIONS["sick"])
    assert "SICK.txt, line 2: SemEval_set 'DEV' is not TRAIN, TRIAL or TEST" in message


@pytest.mark.parametrize("has_folder", [True, False])
def test_a_folder_without_texts_is_named(tmp_path, has_folder):
    if has_folder:
        (tmp_path / "texts").mkdir()
        (tmp_path / "texts/shard.md").write_bytes(b"")
    assert refusal(tmp_path, OPTIONS["texts"]).startswith(f"{tmp_path}/texts holds no .txt file")
