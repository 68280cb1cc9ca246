"""The code blocks of a Markdown page, and a shell that runs the page's commands in order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parent.parent.parent
DEMO_URL = "http://127.0.0.1:8080"
"""Where the pages say that the demo listens; a test's desk listens elsewhere."""
GROUPS = ("run", "transports", "build", "protocols", "contribute")
"""The folders of docs/, in the order in which its index lists them."""
PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "README.md",
    *(page for group in GROUPS for page in sorted((ROOT / "docs" / group).glob("*.md"))),
)
EXAMPLES = (
    *sorted((ROOT / "examples").glob("*/README.md")),
    ROOT / "examples" / "clients" / "typescript" / "README.md",
)
"""The pages of examples: tutorials, each next to what it makes, and the client's."""

_MARK = "\x1e"


@dataclass(frozen=True)
class Block:
    """A fenced code block.

    `language` is the fence's first word: `console` is run, `python` is compiled, `toml` and `json`
    are read; `text` is neither.
    """

    page: str
    line: int
    language: str
    code: str


@dataclass(frozen=True)
class Command:
    """A line after `$ ` in a console block, and what the page says it prints."""

    line: str
    prints: str


@cache
def tokens_of(page: Path) -> list[Token]:
    """The tokens of a page, parsed once."""
    return MarkdownIt().parse(page.read_text(encoding="utf-8"))


def blocks(page: Path, under: str | None = None) -> list[Block]:
    """The fenced code blocks of a page in order, or only those below one of its headings."""
    tokens = tokens_of(page)
    found: list[Block] = []
    within = "h0" if under is None else ""
    for number, token in enumerate(tokens):
        if token.type == "heading_open" and under is not None:
            is_it = tokens[number + 1].content == under
            within = token.tag if is_it else within if token.tag > within else ""
        elif token.type == "fence" and within:
            line = (token.map or [0])[0] + 1
            found.append(Block(page.name, line, (token.info.split() or [""])[0], token.content))
    assert found or under is None, f"{page.name} has no code below {under!r}"
    return found


def commands(block: Block) -> list[Command]:
    """The commands of a console block; a line that ends in a backslash goes on."""
    found: list[Command] = []
    going_on = False
    for line in block.code.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], ""))
        elif going_on:
            found[-1] = Command(f"{found[-1].line}\n{line}", "")
        else:
            assert found, f"{block.page}:{block.line}: a console block begins with '$ '"
            found[-1] = Command(found[-1].line, f"{found[-1].prints}{line}\n")
        going_on = bool(found) and not found[-1].prints and line.endswith("\\")
    return found


def run_in_order(todo: list[Command], url: str, folder: Path) -> list[str]:
    """Run commands one after the other in one shell and return what each printed."""
    script = ["exec 2>&1"]
    for command in todo:
        script += [command.line.replace(DEMO_URL, url), f"printf '%s' '{_MARK}'"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env={**os.environ, "PATH": path, "XDG_CACHE_HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    printed = done.stdout.replace(url, DEMO_URL).split(_MARK)
    assert len(printed) == len(todo) + 1, done.stdout[-2000:]
    return printed[:-1]


def fits(says: str, printed: str) -> bool:
    """Whether a command printed what the page says; `…` stands for anything."""
    parts = [re.escape(" ".join(part.split())) for part in says.split("…")]
    return re.fullmatch(r"\s*.*?\s*".join(parts), " ".join(printed.split()), re.DOTALL) is not None


def links(page: Path) -> list[str]:
    """What a page links to in this repository, with fragments."""
    inline = [token for token in tokens_of(page) if token.children]
    targets = [
        str(child.attrs["href"])
        for token in inline
        for child in token.children or ()
        if child.type == "link_open"
    ]
    return [to for to in targets if "://" not in to]


def anchors(page: Path) -> set[str]:
    """The fragments of a page's headings, as GitHub gives them."""
    tokens = tokens_of(page)
    found: set[str] = set()
    for number, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        title = "".join(child.content for child in tokens[number + 1].children or ())
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        again = sum(1 for name in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", name))
        found.add(f"{slug}-{again}" if again else slug)
    return found
