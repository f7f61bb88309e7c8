"""disan_tf/cli/help.py: a line for each released model and each config."""

import importlib
import sys

import pytest

from disan_tf.cli import help as cli_help
from disan_tf.cli.help import list_configs, list_models
from disan_tf.common.installation import config_names, import_configs
from disan_tf.serving.presets import Preset, presets


def test_a_model_has_a_line_with_its_name_task_and_score():
    models = [
        Preset("one", "classification", ("bad", "good"), "accuracy", 0.9125, 5),
        Preset("second", "relatedness", ("1", "2", "3"), "pearson", 0.85, 5),
    ]
    assert list_models(models).splitlines()[:2] == [
        "one     one text -> bad, good             accuracy 91.25%",
        "second  two texts -> a score from 1 to 3  Pearson's r 0.8500",
    ]


def test_all_released_models_are_listed():
    lines = list_models(presets()).splitlines()
    assert [line.split()[0] for line in lines[: len(presets())]] == [it.name for it in presets()]
    assert max(map(len, lines)) <= 110


def test_all_configs_are_listed_with_their_summary():
    lines = list_configs().splitlines()
    assert [line.partition(": ")[0] for line in lines[:-2] if line[0] != " "] == config_names()
    assert (
        "disan_sst: DiSAN on the Stanford Sentiment Treebank, Table 2 of the DiSAN paper" in lines
    )


@pytest.mark.parametrize(
    "content, line",
    [
        ("def get_config(:\n", "aa: this config cannot be used (SyntaxError: invalid syntax"),
        ('"""Sums."""\n', "aa: this config cannot be used (AttributeError: module"),
        ('"""Sums."""\n1 / 0\n', "aa: this config cannot be used (ZeroDivisionError: division by"),
        ("raise ValueError('\\033[2J')", r"aa: this config cannot be used (ValueError: \x1b[2J)"),
        ("VARIANTS = {'tiny': 1}\n", "aa: no docstring\n    tiny\nbb: Differences"),
        ("'\\n'\nVARIANTS = {}\n", "aa: no docstring\nbb: Differences"),
    ],
    ids=["syntax", "variants", "exception", "escape", "docstring", "blank"],
)
def test_a_broken_config_is_listed_beside_the_others(content, line, tmp_path, monkeypatch):
    names = {"aa": content, "bb": '"""Differences."""\nVARIANTS = {}\n'}
    for name, text in names.items():
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, f"configs.{name}", raising=False)
    import_configs()
    monkeypatch.setattr(importlib.import_module("configs"), "__path__", [str(tmp_path)])
    monkeypatch.setattr(cli_help, "config_names", lambda: [*names])
    lines = list_configs()
    assert lines.startswith(line) and "\nbb: Differences\n" in lines
    for name in names:
        sys.modules.pop(f"configs.{name}", None)
