"""A body of text of more than 10,000 passages that every machine has: what Python says of itself.

The docstrings of the standard library and of the installed packages are written down as Markdown,
a page a module and a section a class or function. They are real text by many hands, the same in
every run on one machine, as long as its packages are.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.loader import parse_content, read_files

SECTIONS = 11_000
PASSAGES = 10_000
"""A body has at least so many; a long section is several, a short one may be none of its own."""

_DOCUMENTED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_CONFIG = '[site]\nname = "Python"\nurl = "https://python.example"\n'
_LEFT_OUT = {"test", "tests", "idlelib", "_vendor"}


def write_body(folder: Path, sections: int = SECTIONS) -> Path:
    """Write the body as a folder that a desk serves, and return it.

    Parameters:
        sections: about how many; of fewer than all nothing is checked.

    Raises:
        SystemExit: the packages installed here do not say enough.
    """
    content = folder / "content"
    content.mkdir(parents=True)
    (folder / "desk.toml").write_text(_CONFIG, "utf-8")
    written = 0
    for name, described in _modules():
        text = "".join(f"\n## {title}\n\n{said}\n" for title, said in described)
        (content / f"{name}.md").write_text(f"# {name}\n{text}", "utf-8")
        written += len(described)
        if written >= sections:
            break
    if sections < SECTIONS:
        return folder
    passages = sum(
        len(split_passages(page)) for page in parse_content(read_files(content)).documents
    )
    if passages < PASSAGES:
        raise SystemExit(f"The body has {passages} passages; {PASSAGES} are to be searched.")
    return folder


def questions() -> list[str]:
    """Questions in words of the body, all different."""
    asked: dict[str, None] = {}
    for name, sections in _modules():
        for title, said in sections:
            first = said.split("\n", 1)[0].rstrip(".").lower()
            asked[f"How do I {first}?" if len(asked) % 2 else f"What does {title} do?"] = None
        if name and len(asked) >= SECTIONS:
            break
    return [question for question in asked if len(question) < 120]


def _modules() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The modules that say something, each with its sections: what they are of and their text."""
    packages = sorted(place for place in sys.path if place.endswith("site-packages"))
    for root in map(Path, (sysconfig.get_path("stdlib"), *packages)):
        for file in sorted(root.rglob("*.py")):
            within = file.relative_to(root)
            if _LEFT_OUT.intersection(within.parts) or within.parts[0] == "site-packages":
                continue
            try:
                tree = ast.parse(file.read_text("utf-8"))
            except (SyntaxError, ValueError):
                continue
            sections = [
                (node.name, said)
                for node in ast.walk(tree)
                if isinstance(node, _DOCUMENTED) and (said := ast.get_docstring(node))
            ]
            if sections:
                yield ".".join(within.with_suffix("").parts), sections
