"""The code blocks of a Markdown page, and a shell that runs what the page says in order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
README = ROOT / "README.md"
PAGES = (
    README,
    ROOT / "docs" / "README.md",
    *(page for group in GROUPS for page in sorted((ROOT / "docs" / group).glob("*.md"))),
)
EXAMPLES = (
    *sorted((ROOT / "examples").glob("*/README.md")),
    ROOT / "examples" / "clients" / "typescript" / "README.md",
)
"""The pages of examples: tutorials, each next to what it makes, and the client's."""
PORTS = (8080, 8081, 8082, 2424, 2525)
"""Where the servers of tutorials listen; a test's listen elsewhere."""
PROGRAMS = Path(sys.executable).parent
"""The folder of this environment's commands."""

_MARK = "\x1e"
_SECONDS = 300
_NO_PORTS: Mapping[int, int] = {}
_TO_A_FILE = re.compile(r"(Write|Add)\s+this\s+to\s+`([^`]+)`:$")
_SERVER = re.compile(r"(aitp-desk (serve|dev) |(python3 -m )?aiosmtpd |python3 -m http\.server )")
_PORT = re.compile(r"(?:--port |-l \S+:|http\.server )(\d+)")
_START = """\
if [ -n "${{servers[{port}]}}" ]; then kill ${{servers[{port}]}}; wait ${{servers[{port}]}}; fi
{line} > {log} 2>&1 &
servers[{port}]=$!
until {is_ready}; do kill -0 ${{servers[{port}]}} || break; sleep 0.1; done 2> /dev/null
cat {log}"""
"""A server goes on in the background until another takes its port, or the page ends."""


@dataclass(frozen=True)
class File:
    """What the reader of a page writes to a file, or adds at its end after an empty line."""

    name: str
    text: str
    is_added: bool


@dataclass(frozen=True)
class Block:
    """A fenced code block.

    `language` is the fence's first word: `console` is run, `python` is compiled, `toml` and `json`
    are read; `text` is neither. `file` is set if the paragraph before the fence ends with "Write
    this to `NAME`:" or "Add this to `NAME`:".
    """

    page: str
    line: int
    language: str
    code: str
    file: File | None = None


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
            language, text = (token.info.split() or [""])[0], token.content
            said = _TO_A_FILE.search(tokens[number - 2].content) if number > 1 else None
            file = _file(said[2], text, said[1] == "Add") if said else None
            found.append(Block(page.name, line, language, text, file))
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


def steps(page: Path, but: tuple[str, ...] = ()) -> list[tuple[Block, Command | File]]:
    """What the reader of a page does in order, without the commands that begin with some words."""
    found: list[tuple[Block, Command | File]] = []
    for block in blocks(page):
        if block.file:
            found.append((block, block.file))
        elif block.language == "console":
            found += [(block, one) for one in commands(block) if not one.line.startswith(but)]
    return found


def moved(text: str, ports: Mapping[int, int]) -> str:
    """Return a text with each of some numbers replaced by another one."""
    for port, other in ports.items():
        text = re.sub(rf"(?<!\d){port}(?!\d)", str(other), text)
    return text


def run_in_order(
    todo: Sequence[Command | File],
    url: str,
    folder: Path,
    ports: Mapping[int, int] = _NO_PORTS,
    programs: Sequence[Path] = (PROGRAMS,),
) -> list[str]:
    """Do one step after the other in one shell and return what each printed.

    Parameters:
        url: of the desk that the pages call the demo.
        ports: free ones, by those that the page and its files name.
        programs: the folders of the commands that were installed.
    """
    script = ["exec 2>&1", "declare -A servers"]
    for step in todo:
        if isinstance(step, File):
            to = f"{'>>' if step.is_added else '>'} {step.name}"
            line = f'mkdir -p "$(dirname {step.name})"\ncat {to} <<"{_MARK}"\n{step.text}{_MARK}'
        elif _SERVER.match(step.line) and not step.line.endswith("&"):
            line = _start(step.line, folder)
        else:
            line = step.line.replace(DEMO_URL, url)
        script += [moved(line, ports), f"printf '%s' '{_MARK}'"]
    path = os.pathsep.join((*map(str, programs), os.environ["PATH"]))
    own = {"PATH": path, "XDG_CACHE_HOME": str(folder), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            said, _ = shell.communicate(timeout=_SECONDS)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)  # the servers that it has started
    said = moved(said.replace(url, DEMO_URL), {other: port for port, other in ports.items()})
    printed = said.split(_MARK)
    assert len(printed) == len(todo) + 1, said[-2000:]
    return printed[:-1]


def _start(line: str, folder: Path) -> str:
    """Return what starts a server in the background and waits until it listens."""
    named = _PORT.search(line)
    port = named[1] if named else PORTS[0]
    if not named:
        line = f"{line} --port {port}"
    is_ready = f": < /dev/tcp/127.0.0.1/{port}"
    if line.startswith("aitp-desk"):
        is_ready = f"curl --silent --fail --output /dev/null http://127.0.0.1:{port}/ready"
    return _START.format(line=line, port=port, log=folder / f"{port}.log", is_ready=is_ready)


def _file(name: str, text: str, is_added: bool) -> File:
    gap = "" if not is_added else "\n\n" if name.endswith(".py") else "\n"
    return File(name, gap + text, is_added)


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


def pictures(page: Path) -> list[Path]:
    """The files of this repository that a page shows."""
    shown = [
        str(child.attrs["src"])
        for token in tokens_of(page)
        for child in token.children or ()
        if child.type == "image"
    ]
    return [(page.parent / source).resolve() for source in shown if "://" not in source]


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
