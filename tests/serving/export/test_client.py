"""The command that predicts with an exported model."""

import copy
import re
from pathlib import Path

import numpy as np
import pytest

from disan_tf.serving.export import client as command
from disan_tf.serving.inference.predict import make_prediction_step
from tests.support.models.bundles import SENTENCES


def run_client(exported, *arguments):
    command.main([f"--model={exported[0]}", *arguments])


def expected_lines(bundle, *texts):
    """Returns what the command should print for each row of the texts."""
    step = make_prediction_step(bundle.model)
    probabilities, answers, lacking = step(*map(bundle.text_to_ids(), texts))
    if bundle.config.task.get("name") == "relatedness":
        return [f"{score:.3f}" for score in answers.numpy()]
    names = [bundle.classes[number] for number in answers.numpy()]
    notes = [", no known word" if lacks else "" for lacks in lacking]
    rows = zip(names, probabilities.numpy(), notes)
    return [f"{name} ({row.max():.3f}{note})" for name, row, note in rows]


def test_sentences_have_their_classes(bundle, export, capsys):
    sentences = [SENTENCES[2], SENTENCES[3], "qwertyuiop"]
    run_client(export, *sentences, " ")
    rows = [*zip(expected_lines(bundle, sentences), sentences), ("blank", " ")]
    assert ["no known word" in row for row, _ in rows] == [False, False, True, False]
    assert capsys.readouterr().out == "".join(f"{row}: {text}\n" for row, text in rows)


@pytest.fixture(scope="module")
def model(export):
    return command.Client(export[0])


def test_invisible_texts_are_blank_unless_an_older_export_lacks_the_tokenizer(model):
    texts = ["\u200b", "\xad", "\x00", "\u061c", "\ufe0f"]
    assert model.describe_all([*texts, "."])[:-1] == ["blank"] * 5 != model.describe_all(["."] * 5)
    older = copy.copy(model)
    older.metadata = {key: value for key, value in model.metadata.items() if key != "tokenizer"}
    assert older.describe_all(["\u200b", " "])[1] == "blank" != older.describe("\u200b")


def test_a_row_of_one_text_may_be_the_text(model):
    texts = SENTENCES[2:4]
    assert model.describe_all(iter(texts)) == model.describe_all([[text] for text in texts])
    (found,) = model.predict(texts[0])
    np.testing.assert_array_equal(found["probabilities"], model(texts[0])["probabilities"])


@pytest.mark.parametrize("row", [("a", "second"), [], [b"a"], b"a", [None], None])
def test_a_row_of_other_texts_is_refused(row, model):
    message = re.escape(f"row 1 is {row!r}; write a list with a string for text")
    with pytest.raises(command.InputError, match=message):
        model.predict(["a", row])


@pytest.mark.parametrize("row", ["ab", ("a",), ("a", "b", "c")])
def test_a_row_that_is_no_pair_is_refused(row, pair_bundle, pair_export):
    wanted = " and ".join(f"a string for {name}" for name in pair_bundle.model.fields)
    message = re.escape(f"row 0 is {row!r}; write a list with {wanted}")
    with pytest.raises(command.InputError, match=message):
        command.Client(pair_export[0]).describe_all([row])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_has_a_text_in_each_line(end, bundle, export, tmp_path, capsys):
    texts = [SENTENCES[4], "boring", "", SENTENCES[5], "qwertyuiop", SENTENCES[2]] * 7
    path = tmp_path / "texts.txt"
    path.write_bytes(b"\xef\xbb\xbf" + end.join(texts).encode())
    run_client(export, f"--input={path}", "the first")
    expected = expected_lines(bundle, ["the first", *(text or "x" for text in texts)])
    lines = capsys.readouterr().out.splitlines()
    for text, line, described in zip(["the first", *texts], lines, expected):
        assert line == (f"{described}: {text}" if text else "blank: ")
    assert len(lines) == 1 + len(texts)


def test_a_file_of_pairs_has_a_tab_in_each_line(pair_bundle, pair_export, tmp_path, capsys):
    path = tmp_path / "pairs.txt"
    path.write_text("a good film\tboring\nshort\tit is new\n\n")
    run_client(pair_export, f"--input={path}")
    first, second = expected_lines(pair_bundle, ["a good film", "short"], ["boring", "it is new"])
    expected = f"{first}: a good film | boring\n{second}: short | it is new\nblank:  | \n"
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    "content, message",
    [
        (b"a\tb\na film\n", r"texts\.txt:2: 1 columns; write premise and hypothesis with a tab"),
        (b"a\tb\n\xff\tb\n", r"texts\.txt:2: not UTF-8; convert the file"),
        (None, r"texts\.txt cannot be read \(No such file or directory\)"),
    ],
)
def test_a_wrong_file_is_refused(content, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = command.read_rows("texts.txt", ["premise", "hypothesis"])
    if content is not None:
        Path("texts.txt").write_bytes(content)
    with pytest.raises(command.InputError, match=message):
        list(rows)


def test_batches_have_rows_of_similar_length_and_few_long_ones():
    lengths = [3, 100, 2, 3, 1000, 90, 1]
    assert list(command.batches(lengths, 3)) == [[6, 2, 0], [3, 5, 1], [4]]
    assert list(command.batches(lengths, 9, most=19_000)) == [[6, 2, 0, 3], [5], [1], [4]]
    assert list(command.batches([], 3)) == []
    padded = command.padded([np.array([4, 2]), np.array([7])])
    np.testing.assert_array_equal(padded, [[4, 2], [7, 0]])


def test_a_pair_has_its_first_sentence_first(pair_bundle, pair_export, capsys):
    run_client(pair_export, "--pair", "a good film", "boring", "--pair", "short", "it is new")
    first, second = expected_lines(pair_bundle, ["a good film", "short"], ["boring", "it is new"])
    expected = f"{first}: a good film | boring\n{second}: short | it is new\n"
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("arguments", [[], ["--pair", "a", "b"]])
def test_a_model_of_single_sentences_refuses_other_arguments(export, arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        run_client(export, *arguments)
    assert "takes text; give texts, such as" in capsys.readouterr().err


def test_a_model_of_pairs_refuses_a_sentence(pair_bundle, pair_export, capsys):
    with pytest.raises(SystemExit, match="2"):
        run_client(pair_export, "a sentence")
    names = " and ".join(pair_bundle.model.fields)
    message = f'takes {names}; give --pair "a premise" "a hypothesis"'
    assert message in capsys.readouterr().err


def test_an_argument_in_another_encoding_is_refused(export, capsys):
    with pytest.raises(SystemExit, match="2"):
        run_client(export, "caf\udce9")  # as Python reads the byte 0xe9
    message = r"error: row 0 is ['caf\udce9'], which is not UTF-8; convert the text"
    assert message in capsys.readouterr().err


def test_a_model_of_word_ids_is_refused(export, capsys):
    with pytest.raises(SystemExit, match="2"):
        run_client(export[1:], "a sentence")
    assert "takes word ids; name the folder saved_model" in capsys.readouterr().err


def test_an_export_without_its_metadata_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        run_client([tmp_path / "saved_model"], "a sentence")
    assert "metadata.json is missing" in capsys.readouterr().err
