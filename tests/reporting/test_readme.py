"""The tables that READMEs hold between marks."""

import shutil

import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.reporting.readme import FILES, update_readmes


@pytest.fixture
def repository(tmp_path):
    """READMEs with marks, whose tables are outdated, and a recorded result."""
    result = next((CHECKPOINTS / "results").glob("disan_sst*.json"))
    (tmp_path / "checkpoints/results").mkdir(parents=True)
    shutil.copy(result, tmp_path / "checkpoints/results/mine.json")
    for path in set(FILES.values()):
        marks = "".join(
            f"<!-- {name}: begin -->\nearlier\n<!-- {name}: end -->\n"
            for name, file in FILES.items()
            if file == path
        )
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"before\n{marks}after\n")
    return tmp_path


def test_what_stands_between_the_marks_is_replaced_and_nothing_else(repository):
    update_readmes(repository)
    for path in FILES.values():
        text = (repository / path).read_text()
        assert text.startswith("before\n") and text.endswith("after\n") and "earlier" not in text
    assert "| [DiSAN](checkpoints/tables/" in (repository / FILES["papers"]).read_text()
    assert "claims are supported, " in (repository / FILES["claims"]).read_text()
    results = (repository / FILES["results"]).read_text()
    assert "| run | training examples |" in results and "| mine (seed" in results


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("mark", ["begin", "end"])
def test_a_readme_without_a_mark_is_refused_and_none_is_changed(repository, name, mark):
    path = repository / FILES[name]
    path.write_text(path.read_text().replace(f"{name}: {mark}", "gone"))
    before = {path: (repository / path).read_text() for path in FILES.values()}
    with pytest.raises(UserError, match=rf"\.md lacks the lines .*{name}: begin"):
        update_readmes(repository)
    assert {path: (repository / path).read_text() for path in FILES.values()} == before


def test_the_readmes_of_the_repository_show_what_is_recorded(tmp_path):
    for name in ("results", "predictions", "benchmarks"):
        shutil.copytree(CHECKPOINTS / name, tmp_path / "checkpoints" / name)
    texts = {path: (CHECKPOINTS.parent / path).read_text("utf-8") for path in FILES.values()}
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    update_readmes(tmp_path)
    assert {path: (tmp_path / path).read_text("utf-8") for path in texts} == texts
