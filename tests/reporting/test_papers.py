"""disan_tf/reporting/papers.py: the files of checkpoints/papers."""

from typing import Any

from disan_tf.reporting.papers import FOLDER, PAPERS, read_section


def test_the_files_are_those_of_the_papers_and_have_known_sections():
    assert {path.stem for path in FOLDER.iterdir()} == {*PAPERS}
    for paper in PAPERS:
        assert read_section(paper, "source", str)
        for section in ("tables", "claims", "deviations"):
            read_section(paper, section, tuple[Any, ...])
        assert read_section(paper, "paper", str).lower().replace("-", "_") == paper
