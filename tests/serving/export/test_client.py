"""The command that predicts with an exported model."""

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


def test_a_model_of_word_ids_is_refused(export, capsys):
    with pytest.raises(SystemExit, match="2"):
        run_client(export[1:], "a sentence")
    assert "takes word ids; name the folder saved_model" in capsys.readouterr().err


def test_an_export_without_its_metadata_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        run_client([tmp_path / "saved_model"], "a sentence")
    assert "metadata.json is missing" in capsys.readouterr().err
