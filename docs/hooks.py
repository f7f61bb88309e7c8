"""Prepares the site for MkDocs: adds the repository's own pages, and renders the tutorials."""

import itertools
import posixpath
import re
import subprocess
from pathlib import Path

import nbformat
from jinja2 import DictLoader
from latex2mathml.converter import convert
from mkdocs.structure.files import File, InclusionLevel
from nbconvert import MarkdownExporter

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "repository"  # folder of the site that holds the READMEs and their neighbours
OPTIONAL = ("how_to/gpu.md",)  # pages that the navigation names and that may be absent
_RESULTS = "<!-- results of README.md -->"  # placeholder in docs/index.md
_TEMPLATE = """{% extends 'markdown/index.md.j2' %}
{% block stream %}
```text
{{ output.text.rstrip() | strip_ansi }}
```
{% endblock stream %}
{% block data_text scoped %}
```text
{{ output.data['text/plain'].rstrip() }}
```
{% endblock data_text %}
"""  # fences, because indented outputs that follow each other would be one block
_TAG = re.compile(r"(.*?)(?: \\tag{(.*)})?$")  # an equation and its number
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|!?\[[^\]]*\])*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def on_config(config):
    """Drops absent pages from the navigation, and renders ```math blocks as MathML."""
    config.nav = _present(config.nav, Path(config.docs_dir))
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {})
    fences["custom_fences"] = [{"name": "math", "class": "math", "format": _formula}]
    return config


def on_files(files, config):
    """Replaces notebooks by their pages, and adds the repository's Markdown files."""
    for file in list(files):
        if file.src_uri.endswith(".ipynb"):
            files.remove(file)
            for name, content in _render(Path(file.abs_src_path)).items():
                path = posixpath.join(posixpath.dirname(file.src_uri), name)
                files.append(File.generated(config, path, content=content))
    for path in _tracked():
        level = InclusionLevel.NOT_IN_NAV
        source = str(ROOT / path)
        page = f"{REPOSITORY}/{path}"
        files.append(File.generated(config, page, abs_src_path=source, inclusion=level))
    return files


def on_page_markdown(markdown, page, **_):
    """Inserts README's results, and leads links to pages of the site.

    A link to another file of the repository becomes plain text.
    """
    here = page.file.src_uri
    markdown = markdown.replace(_RESULTS, _results())
    parts = (
        "".join(lines) if is_code else _LINK.sub(lambda match: _moved(match, here), "".join(lines))
        for is_code, lines in itertools.groupby(markdown.splitlines(keepends=True), _is_code)
    )
    return "".join(parts)


def on_page_content(html, **_):
    """Removes "required" from all arguments: `**kwargs` passes some on that have a default."""
    return html.replace("<em>required</em>", "")


def _results() -> str:
    """Returns the results of the README, with the links of a page in `docs`."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    _, results, _ = re.split("<!-- results: (?:begin|end) -->\n", text)
    return results.replace("](", "](../")


def _is_code(line: str) -> bool:
    return line.startswith(("    ", "\t"))


def _present(nav, folder: Path):
    """Returns the navigation without the optional pages that are absent."""
    if isinstance(nav, dict):
        return {title: _present(part, folder) for title, part in nav.items()}
    if isinstance(nav, list):
        parts = [part for part in nav if not (isinstance(part, dict) and _absent(part, folder))]
        return [_present(part, folder) for part in parts]
    return nav


def _absent(entry: dict, folder: Path) -> bool:
    return any(path in OPTIONAL and not (folder / path).exists() for path in entry.values())


def _formula(source, *_, **__) -> str:
    """Renders LaTeX, an equation a line, as MathML, which browsers draw without a script."""
    lines = [_TAG.match(line).groups() for line in source.splitlines() if line.strip()]
    rows = [
        f"<div>{convert(formula, display='block')}<span>{f'({tag})' if tag else ''}</span></div>"
        for formula, tag in lines
    ]
    return f'<div class="math">{"".join(rows)}</div>'


def _render(path: Path) -> dict:
    """Returns the page of a notebook and its pictures, by their file names."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"output_files_dir": f"{path.stem}_files", "unique_key": path.stem}
    loaders = [DictLoader({"tutorial.md.j2": _TEMPLATE})]
    exporter = MarkdownExporter(extra_loaders=loaders, template_file="tutorial.md.j2")
    page, resources = exporter.from_notebook_node(notebook, resources)
    return {f"{path.stem}.md": page, **(resources.get("outputs") or {})}


def _tracked() -> list[str]:
    """Returns the repository's Markdown files and the pictures beside them, by their paths."""
    command = ["git", "ls-files", "*.md", "checkpoints/*.png", ":!docs"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


def _moved(match: re.Match, here: str) -> str:
    """Returns a link of the page `here` with its address on the site."""
    picture, text, link, anchor = match.groups()
    text = _LINK.sub(lambda inner: _moved(inner, here), text)
    inside = here.startswith(f"{REPOSITORY}/")
    origin = here[len(REPOSITORY) + 1 :] if inside else f"docs/{here}"
    target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
    if (ROOT / target / "README.md").is_file():
        target += "/README.md"
    if target.startswith("docs/"):
        page = re.sub(r"\.ipynb$", ".md", target[len("docs/") :])
    elif target.endswith((".md", ".png")):
        page = f"{REPOSITORY}/{target}"
    elif (ROOT / target).exists():
        return text
    else:
        return match.group()  # MkDocs reports it
    relative = posixpath.relpath(page, posixpath.dirname(here) or ".")
    return f"{picture}[{text}]({relative}{anchor or ''})"
