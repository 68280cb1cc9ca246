"""Writes the pages of the site: those of docs/ with what they link to, and a reference."""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
INDEX = "docs/README.md"
CHANGELOG = "CHANGELOG.md"
WAITING = "docs/changes/README.md"
KINDS = ("added", "changed", "deprecated", "removed", "fixed", "security")
MODULES = (
    "aitp_desk.actions",
    "aitp_desk.capability",
    "aitp_desk.testing",
    "aitp_desk.transports.base",
    "aitp_desk.transports.events",
    "aitp_desk.transports.messages",
    "aitp_desk.visitor",
    "aitp_desk.visitor.context",
    "aitp_desk.middleware",
    "aitp_desk.protocols.hac",
    "aitp_desk.protocols.hac.middleware",
    "aitp_desk.protocols.hac.linter",
    "aitp_desk.protocols.agents_txt",
    "aitp_desk.cli.extension",
    "aitp_desk.model.money",
)
"""What packages and sites of others import."""
STUB = """---
draft: true  # the desk does not read it
---
# {module}

::: {module}
"""
"""A page that the generator fills from docstrings."""
UNREAD = """---
draft: true  # the desk answers from what is, not from what has changed
search: {exclude: true}
---
"""

_FENCE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:)[^)#\s]+")
_GROUP = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
_LISTED = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<path>[^)]+)\): ", re.MULTILINE)


def write_pages(folder: Path, root: Path = ROOT) -> None:
    """Write all pages that can be reached from the index of docs/.

    A link to another file of the repository leads to a copy of it.

    Parameters:
        folder: gets the pages; it must not exist.
        root: the repository.
    """
    waiting = [root / INDEX]
    for path in waiting:
        place = folder / place_of(path.relative_to(root))
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text = path.read_text("utf-8")
            if path == root / WAITING:
                text = f"{UNREAD}{text}\n{_list_changes(path.parent)}"
            text, targets = _move_links(text, path, root)
            place.write_text(text, "utf-8")
            waiting += [target for target in targets if target not in waiting]
        else:
            shutil.copy(path, place)
    for module in MODULES:
        place = folder / _reference_of(module)
        place.parent.mkdir(exist_ok=True)
        place.write_text(STUB.format(module=module), "utf-8")


def list_navigation(root: Path = ROOT) -> list[dict[str, object]]:
    """Return the groups of the index of docs/ with their pages, then the reference."""
    index = root / INDEX
    _, *parts = _GROUP.split(index.read_text("utf-8"))
    groups: dict[str, object] = {"Overview": "index.md"}
    for title, part in zip(parts[::2], parts[1::2], strict=True):
        groups[title] = [
            {found["title"]: place_of((index.parent / found["path"]).resolve().relative_to(root))}
            for found in _LISTED.finditer(part)
        ]
    groups["Python reference"] = [
        {module.removeprefix("aitp_desk."): _reference_of(module)} for module in MODULES
    ]
    groups["Changelog"] = place_of(Path(CHANGELOG))
    return [{title: pages} for title, pages in groups.items()]


def place_of(path: Path) -> str:
    """Return where a file of the repository is on the site, relative to its top."""
    name = path.as_posix().removeprefix("docs/")
    return name.lower().replace("readme.md", "index.md") if path.suffix == ".md" else name


def _reference_of(module: str) -> str:
    return f"reference/{module}.md"


def _list_changes(folder: Path) -> str:
    """Return the changes of a folder as lists, a kind after the other."""
    parts = []
    for kind in KINDS:
        texts = [path.read_text("utf-8") for path in sorted(folder.glob(f"*.{kind}.md"))]
        items = [f"- {' '.join(text.split())}" for text in texts]
        if items:
            parts.append("\n".join((f"## {kind.capitalize()}", "", *items, "")))
    return "\n".join(parts)


def _move_links(text: str, path: Path, root: Path) -> tuple[str, list[Path]]:
    """Return a page with the links of its place on the site, and the files that it links to."""
    targets: list[Path] = []
    start = posixpath.dirname(place_of(path.relative_to(root))) or "."

    def move(found: re.Match[str]) -> str:
        target = (path.parent / found[0]).resolve()
        if not target.is_relative_to(root) or not target.is_file():
            return found[0]  # the strict build reports it
        targets.append(target)
        return posixpath.relpath(place_of(target.relative_to(root)), start)

    parts = _FENCE.split(text)
    parts[::2] = [_LINK.sub(move, part) for part in parts[::2]]
    return "".join(parts), targets
