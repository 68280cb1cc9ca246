"""Converts directives of MyST Markdown to plain Markdown."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence

from aitp_desk.knowledge.sources.formats.sphinx import (
    CODE,
    CONTENT_ONLY,
    DROPPED,
    VERSIONS,
    is_for_other_builders,
    parse_toc_entry,
)
from aitp_desk.knowledge.sources.markdown.admonitions import (
    BOXES,
    make_blockquote,
    make_heading,
    make_label,
    with_label,
)

_OPTION = re.compile(r":(?P<name>[\w-]+):[ \t]*(?P<value>.*)")
_ROW = re.compile(r"[*-][ \t]+[-*][ \t]?(?P<text>.*)")
_CELL = re.compile(r"[ \t]+[-*][ \t]?(?P<text>.*)")
_GAP = re.compile(r"\n{2,}")
_PICTURES = frozenset({"figure", "image", "figure-md"})
_CODE_OF_FENCES = frozenset({"code-cell", "math", "code-block", "code", "sourcecode"})
_UNSHOWN = frozenset("iframe video youtube audio toctree-filt bibliography anywidget".split())

Read = Callable[[Sequence[str]], list[str]]


def read_directive(
    name: str, argument: str, content: Sequence[str], read: Read, *, is_fenced: bool
) -> list[str]:
    """Return the text of a directive.

    Parameters:
        content: its lines, with its options at their beginning.
        read: converts lines to plain Markdown.
        is_fenced: whether it is in backticks, which may enclose code.
    """
    short = name.lower().rpartition(":")[2]
    options, body = _split_options(content)
    if short == "toctree":
        entries = [] if "hidden" in options else filter(None, map(parse_toc_entry, body))
        return [f"- [{title}]({address})" for title, address in entries]
    if short == "eval-rst":
        return _rst(body)
    if short in DROPPED or short in _UNSHOWN:
        return []
    if short in CODE or short in _CODE_OF_FENCES:
        caption = make_label(options.get("caption", ""))
        language = argument.split(maxsplit=1)[0] if argument.split() else ""
        code = [f"```{language}", *body, "```"] if is_fenced else list(body)
        return [caption, "", *code] if caption else code
    if short in VERSIONS:
        version, _, about = argument.partition(" ")
        within = [*filter(None, [about]), *read(body)]
        return with_label(f"{VERSIONS[short]} {version}", within)
    if short in _PICTURES:
        return [f"![{options.get('alt', '')}](<{argument}>)", "", *read(body)]
    if short in {"list-table", "csv-table", "table"}:
        return [
            *([make_label(argument), ""] if argument else []),
            *_table(short, body, options, read),
        ]
    if short in BOXES:
        is_titled = short in {"admonition", "dropdown", "details"} or not argument
        title = argument if is_titled else ""
        before = [] if is_titled else [argument]
        return make_blockquote(with_label(make_heading(short, title), [*before, *read(body)]))
    if short == "only":
        return [] if is_for_other_builders(argument) else read(body)
    within = read(body)
    if short in CONTENT_ONLY or argument.replace(" ", "").isdigit():
        return within
    return with_label(f"`{argument}`" if ":" in name and argument else argument, within)


def _split_options(content: Sequence[str]) -> tuple[dict[str, str], Sequence[str]]:
    options: dict[str, str] = {}
    at = 0
    while at < len(content) and not content[at].strip():
        at += 1
    if at < len(content) and content[at].strip() == "---":
        end = next((n for n in range(at + 1, len(content)) if content[n].strip() == "---"), at)
        for line in content[at + 1 : end]:
            key, _, value = line.partition(":")
            options[key.strip()] = value.strip().strip("\"'")
        return options, content[end + 1 :]
    while at < len(content) and (option := _OPTION.fullmatch(content[at].strip())) is not None:
        options[option["name"]] = option["value"].strip()
        at += 1
    return options, content[at:]


def _table(kind: str, body: Sequence[str], options: dict[str, str], read: Read) -> list[str]:
    """Return a table as Markdown's; other content stays unchanged."""
    if kind == "table":
        return read(body)
    rows: list[list[str]] = []
    if kind == "csv-table":
        rows = [[cell.strip() for cell in row] for row in csv.reader(filter(str.strip, body))]
        header = next(csv.reader([options.get("header", "")]), [])
        rows = [[cell.strip() for cell in header], *rows] if header else rows
    else:
        for line in body:
            if (row := _ROW.fullmatch(line)) is not None:
                rows.append([row["text"]])
            elif (cell := _CELL.fullmatch(line)) is not None and rows:
                rows[-1].append(cell["text"])
            elif line.strip() and rows:
                rows[-1][-1] += f" {line.strip()}"
    if not rows:
        return []
    width = max(map(len, rows))
    has_header = "header" in options or options.get("header-rows", "0") != "0"
    rows = rows if has_header else [[""] * width, *rows]
    written = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return read([written[0], "|" + " --- |" * width, *written[1:]])


def _cell(text: str) -> str:
    return text.strip().replace("|", "\\|")


def _rst(body: Sequence[str]) -> list[str]:
    """Return reStructuredText as HTML that Markdown takes as one block."""
    from aitp_desk.knowledge.sources.formats.base import FormatError
    from aitp_desk.knowledge.sources.formats.rst import rst_html

    try:
        html = rst_html("\n".join(body))
    except FormatError:
        return []
    html = html.removeprefix("<main>").removesuffix("</main>").strip()
    # an empty line would end the block
    html = _GAP.sub(lambda gap: "\n" + "&#10;" * (len(gap[0]) - 1), html)
    return [f"<div>{html}</div>"]
