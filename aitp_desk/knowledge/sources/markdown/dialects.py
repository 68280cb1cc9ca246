"""Converts dialects of Markdown (MkDocs, Docusaurus, VitePress, MyST, Hugo) to CommonMark.

Additions of a dialect become equivalent plain Markdown, so that no other code knows of them: pages,
their Markdown, passages and answers are made from the same text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from aitp_desk.knowledge.sources.markdown import shortcodes
from aitp_desk.knowledge.sources.markdown.admonitions import (
    BOXES,
    dedent_lines,
    make_blockquote,
    make_heading,
    make_label,
    with_label,
)
from aitp_desk.knowledge.sources.markdown.fences import FENCE, change_outside_code, is_end
from aitp_desk.knowledge.sources.markdown.inline import Inline
from aitp_desk.knowledge.sources.markdown.mdx import HAS_COMPONENTS, expand_components

MAX_DEPTH = 12
"""Admonitions that nest deeper stay unchanged."""
_SIGNS = re.compile(
    r"^\s*(?:!!!|\?\?\?|===|:::|///|:{3,}\{|>\s*\[!|```+\s*\{|~~~+\s*\{|%|\+\+\+|:\s|\[\^|--8<--"
    r"|\(\S+\)=\s*$|\*\[)"
    r"|^\s*(?:```|~~~)\w\S*[ \t]+\S"
    r"|\{[\w:.-]+\}`|\{[:#.]|\{\s*[.#]|\{(?:--|\+\+|~~|==|>>)|\[TOC\]|\[\[toc\]\]"
    r"|:(?:octicons|material|fontawesome|simple)-|_mark:|_check:|_x:|:x:|:warning:"
    r"|\+\+\w|==\S|\[\^\w|\]\(\)|\[\]\(|\]\[|`(?:#!|:::)\w|\w[~^]\w|\smarkdown[=>\s]",
    re.MULTILINE,
)
_INDENTED_BOX = re.compile(
    r"(?P<indent> *)(?:!!!|\?\?\?\+?)[ \t]+(?P<kind>[\w-]+)(?:[ \t]+[\w-]+)*"
    r'(?:[ \t]+"(?P<title>[^"]*)")?[ \t]*'
)
_TAB = re.compile(r'(?P<indent> *)===[!+]?[ \t]+"(?P<title>[^"]*)"[ \t]*')
_COLONS = re.compile(
    r"(?P<indent> *)(?P<fence>:{3,})[ \t]*(?:\{(?P<directive>[\w:.-]+)\}|(?P<kind>[\w-]+))"
    r"(?:\[(?P<bracketed>[^\]]*)\])?(?:[ \t]*\{(?P<attributes>[^}]*)\})?[ \t]*(?P<title>.*)"
)
_SLASHES = re.compile(
    r"(?P<indent> *)(?P<fence>/{3,})[ \t]*(?P<kind>[\w-]+)(?:[ \t]*\|[ \t]*(?P<title>.*))?[ \t]*"
)
"""A PyMdown block: its indented options follow, and slashes end it."""
_OBJECT = re.compile(r"::: [\w.]+\s*")
"""A placeholder of mkdocstrings for API documentation; its options follow."""
_DIRECTIVE = re.compile(r"\{(?P<name>[\w:.-]+)\}[ \t]*(?P<argument>.*)")
_ALERT = re.compile(r"(?P<indent>\s*)>\s*\[!(?P<kind>\w+)\][+-]?[ \t]*(?P<title>.*)")
_TITLE = re.compile(r"title\s*=\s*[\"']([^\"']*)[\"']")
_FILE = re.compile(
    r"\[([^\]\[`]*[^\W\d_][^\]\[`]*)\]\s*$|\b(?:title|filename)\s*=\s*[\"']([^\"']{1,120})[\"']"
    r"|\b(?:title|filename)=([^\s\"'{}\[\]=]{1,120})"
)
_DEFINITION = re.compile(r"(?P<indent> {0,3}):[ \t]+(?P<text>\S.*)")
_NO_TERM = re.compile(r"\s*(?:[-*+]\s|[#>|:~!]|```|\d+[.)]\s|$)")
_OPTION = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|[\w-]+=(?:\"[^\"]*\"|'[^']*'|\S+)|/\S*/")
_OPTIONS = frozenset("copy showLineNumbers expandable lines wrap live test skip nocopy".split())
"""Options after the title of a code block."""
_IN_CAMEL_CASE = re.compile(r"[a-z\d_-]+(?:[A-Z][a-z\d_-]+)*")
_ABBREVIATION = re.compile(r"\*\[(?P<short>[^\]\n]{1,80})\]:[ \t]*(?P<text>\S.*)")
_MARKDOWN_WITHIN = re.compile(
    r"(?P<tag>\s*<[a-z]\w*[^<>]{0,200}?)\smarkdown(?:=[\"']?\w+[\"']?)?(?P<rest>(?:\s[^<>]*)?>)(?P<text>.*)"
)
"""A tag of HTML within which MkDocs reads Markdown."""
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,60}\]:[ \t]*(?P<text>.*)")
_DROPPED_LINE = re.compile(
    r"\s*(?:\[TOC\]|\[\[_?toc_?\]\]|--8<--.*|<<<\s+@?/.*|@\[code[^\]]*\].*|<!--\s*more\s*-->"
    r"|\{(?::|[ ]*[.#][\w-])[^{}]*\})\s*",
    re.IGNORECASE,
)
_IS_MYST = re.compile(
    r"^(?:`{3,}|:{3,})\{[\w:.-]+\}|^\([\w:. /-]+\)=\s*$|(?:^|[\s(])\{[a-z][\w:.-]*\}`", re.MULTILINE
)
_LABEL = re.compile(r"\s*\([\w:. /-]+\)=\s*")
_GROUPS = frozenset(
    "tabs tab-set tab group code-group code-tabs v-pre raw container columns column grid cards"
    " center steps div html define caption figure-caption table-caption".split()
)


def to_commonmark(
    text: str, *, is_mdx: bool = False, front: Mapping[str, Any] | None = None
) -> str:
    """Convert a Markdown text to CommonMark.

    Parameters:
        text: the page without its front matter.
        is_mdx: whether it is MDX, where braces are expressions.
        front: the front matter, which may define the values of names in the text.
    """
    if is_mdx or HAS_COMPONENTS.search(text):
        text = expand_components(text, is_mdx=is_mdx)
    if any(mark in text for mark in shortcodes.MARKS):
        text = shortcodes.expand_shortcodes(text, _variables(front or {}))
    if not _SIGNS.search(text):
        return text
    reader = _Reader(is_myst=_IS_MYST.search(text) is not None, inline=Inline(text))
    return "\n".join(reader.read(text.split("\n")))


def _variables(front: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of names in MyST and Jekyll: substitutions, and ``page.title``."""
    myst = front.get("myst")
    declared = (myst if isinstance(myst, dict) else front).get("substitutions")
    named = declared if isinstance(declared, dict) else {}
    said = {**named, **{f"page.{key}": value for key, value in front.items()}}
    return {key: str(value) for key, value in said.items() if isinstance(value, str | int | float)}


class _Reader:
    """Reads lines, and recursively the contents of blocks."""

    def __init__(self, *, is_myst: bool, inline: Inline) -> None:
        self.is_myst = is_myst
        self.inline = inline
        self.depth = 0
        self.unclosed: set[str] = set()
        """The signs that open blocks which nothing closes: ``:::``."""

    def read(self, lines: Sequence[str]) -> list[str]:
        """Return the lines as CommonMark."""
        if self.depth >= MAX_DEPTH:
            return list(lines)
        self.depth += 1
        before, self.unclosed = self.unclosed, set()
        found: list[str] = []
        at = 0
        while at < len(lines):
            at = self._read(lines, at, found)
        self.depth -= 1
        self.unclosed = before
        return found

    def _read(self, lines: Sequence[str], at: int, found: list[str]) -> int:
        """Read the block at a line; return where the next begins."""
        line = lines[at]
        if (fence := FENCE.fullmatch(line)) is not None:
            return self._code(lines, at, fence, found)
        if "<style" in line.lower():
            return _copy(lines, at, "</style", found)
        for pattern, read in (
            (_INDENTED_BOX, self._indented),
            (_TAB, self._indented),
            (_COLONS, self._enclosed),
            (_SLASHES, self._enclosed),
            (_ALERT, self._alert),
        ):
            if (opened := pattern.fullmatch(line)) is not None:
                return read(lines, at, opened, found)
        if self._is_dropped(line):
            return at + 1
        if (term := _DEFINITION.fullmatch(line)) is not None and self._has_term(found):
            return self._definition(lines, at, term, found)
        if (note := _FOOTNOTE.fullmatch(line)) is not None:
            found += ["", self._prose(note["text"])]
            return at + 1
        if (short := _ABBREVIATION.fullmatch(line)) is not None:
            found.append(f"- {make_label(short['short'])} {self._prose(short['text'])}")
            return at + 1
        if (tag := _MARKDOWN_WITHIN.fullmatch(line)) is not None:
            found += [tag["tag"] + tag["rest"], *(["", tag["text"]] if tag["text"] else [])]
            if not lines[at + 1 : at + 2] or "<summary" not in lines[at + 1]:
                found.append("")
            return at + 1
        found.append(self._prose(line))
        return at + 1

    def _is_dropped(self, line: str) -> bool:
        if "<!--" in line:  # otherwise the text after it would be shown
            return False
        if _DROPPED_LINE.fullmatch(line) or (line.startswith(":::") and not line.strip(": \t")):
            return True
        is_mark = line.startswith(("%", "+++")) or _LABEL.fullmatch(line)
        return self.is_myst and bool(is_mark)

    def _prose(self, line: str) -> str:
        return change_outside_code(self.inline.around_code(line), self.inline.change)

    def _code(self, lines: Sequence[str], at: int, fence: re.Match[str], found: list[str]) -> int:
        end = at + 1
        while end < len(lines) and not is_end(lines[end], fence["fence"]):
            end += 1
        directive = _DIRECTIVE.fullmatch(fence["info"])
        if directive is not None and not directive["name"].startswith("."):
            content = [_unindented(line, len(fence["indent"])) for line in lines[at + 1 : end]]
            said = self._directive(directive["name"], directive["argument"], content)
            found += ["", *(fence["indent"] + line for line in said), ""]
            return end + 1
        info, title = _split_title(fence["info"])
        if title:
            found += ["", fence["indent"] + make_label(title), ""]
        found.append(f"{fence['indent']}{fence['fence']}{info.lstrip('{.').rstrip('}')}")
        found += lines[at + 1 : end + 1]
        return end + 1

    def _indented(
        self, lines: Sequence[str], at: int, opened: re.Match[str], found: list[str]
    ) -> int:
        """Read a block or tab of MkDocs: the indented lines that follow."""
        indent = len(opened["indent"])
        last = _end_of_indented(lines, at, indent)
        content = self.read(dedent_lines(lines[at + 1 : last]))
        kind = opened.groupdict().get("kind")
        if kind is None:
            said = with_label(self.inline.change(opened["title"]), content)
        elif kind == "details" or opened["title"] is None or opened["title"]:
            title = self.inline.change(opened["title"] or "")
            said = make_blockquote(with_label(make_heading(kind, title), content))
        else:
            said = make_blockquote(content)
        found += ["", *(opened["indent"] + line for line in said), ""]
        return last

    def _enclosed(
        self, lines: Sequence[str], at: int, opened: re.Match[str], found: list[str]
    ) -> int:
        """Read a block between colons or slashes; without its end its lines are text."""
        fence = opened["fence"]
        end = None if fence in self.unclosed else _end_of_fence(lines, at, fence)
        if end is None:
            self.unclosed.add(fence)
            if fence[0] == "/":
                found.append(lines[at])
            return _end_of_options(lines, at) if _OBJECT.fullmatch(lines[at]) else at + 1
        said = opened.groupdict()
        first = _end_of_options(lines, at) if fence[0] == "/" else at + 1
        content = [_unindented(line, len(opened["indent"])) for line in lines[first:end]]
        if said.get("directive"):
            read = self._directive(opened["directive"], opened["title"], content, is_code=False)
        else:
            titled = _TITLE.search(said.get("attributes") or "")
            title = titled[1] if titled else said.get("bracketed") or opened["title"] or ""
            read = self._box(opened["kind"].lower(), title, content)
        found += ["", *(opened["indent"] + line for line in read), ""]
        return end + 1

    def _box(self, kind: str, title: str, content: Sequence[str]) -> list[str]:
        within = self.read(content)
        if kind in BOXES:
            return make_blockquote(with_label(make_heading(kind, title), within))
        return within if kind in _GROUPS else with_label(title, within)

    def _alert(self, lines: Sequence[str], at: int, opened: re.Match[str], found: list[str]) -> int:
        """Read an alert of GitHub or Obsidian: a quotation that begins with its kind."""
        end = at + 1
        while end < len(lines) and lines[end].lstrip().startswith(">"):
            end += 1
        content = [line.lstrip()[1:].removeprefix(" ") for line in lines[at + 1 : end]]
        said = make_blockquote(
            with_label(make_heading(opened["kind"], opened["title"]), self.read(content))
        )
        found += ["", *(opened["indent"] + line for line in said), ""]
        return end

    def _directive(
        self, name: str, argument: str, content: list[str], *, is_code: bool = True
    ) -> list[str]:
        from aitp_desk.knowledge.sources.markdown.myst import read_directive

        return read_directive(name, argument.strip(), content, self.read, is_fenced=is_code)

    def _has_term(self, found: Sequence[str]) -> bool:
        """Return whether the line before may be the term of a definition list."""
        said = [line for line in found[-2:] if line.strip()]
        return (
            bool(said)
            and (said[-1].startswith("- **") or not _NO_TERM.match(said[-1]))
            and len(said[-1]) < 200
        )

    def _definition(
        self, lines: Sequence[str], at: int, opened: re.Match[str], found: list[str]
    ) -> int:
        while found and not found[-1].strip():
            found.pop()
        last = _end_of_indented(lines, at, 1)
        within = self.read([opened["text"], *dedent_lines(lines[at + 1 : last])])
        term = found[-1]
        if term.startswith("- **"):
            found += ["", *(f"  {line}".rstrip() for line in within)]
        else:
            found[-1] = ""
            found.append(f"- {make_label(term)} {within[0]}")
            found += [f"  {line}".rstrip() for line in within[1:]]
        found.append("")
        return last


def _split_title(info: str) -> tuple[str, str]:
    """Split the info string of a code fence and its title: ``js a.js`` or ``js title="a"``.

    Other words there are options: lower case, or camel case.
    """
    named = _FILE.search(info)
    if named is not None and named[1] not in _OPTIONS:
        return info[: named.start()].rstrip(), named[1] or named[2] or named[3]
    language, *words = _OPTION.sub(" ", info).split() or [""]
    while words and words[-1] in _OPTIONS:
        words.pop()
    title = " ".join(words)
    is_title = title[:1].isalnum() and not _IN_CAMEL_CASE.fullmatch(words[0])
    return (language, title) if is_title else (info, "")


def _end_of_fence(lines: Sequence[str], at: int, fence: str) -> int | None:
    """Return the line that closes a block; None if none does."""
    sign, opened = fence[0], len(fence)
    open_boxes = 1
    for end in range(at + 1, len(lines)):
        bare = lines[end].strip()
        if not bare.startswith(sign * 3):
            continue
        count = len(bare) - len(bare.lstrip(sign))
        if count == len(bare):
            if count > opened:
                return end
            if count == opened:
                open_boxes -= 1
                if not open_boxes:
                    return end
        elif count == opened:
            open_boxes += 1
    return None


def _end_of_indented(lines: Sequence[str], at: int, indent: int) -> int:
    """Return the line after the indented lines below a line."""
    last = at + 1
    for end in range(at + 1, len(lines)):
        line = lines[end].expandtabs(4)
        if line.strip():
            if len(line) - len(line.lstrip()) <= indent:
                break
            last = end + 1
    return last


def _end_of_options(lines: Sequence[str], at: int) -> int:
    """Return the line after the indented options of a block."""
    end = at + 1
    while end < len(lines) and lines[end].startswith("    "):
        end += 1
    return end


def _copy(lines: Sequence[str], at: int, last: str, found: list[str]) -> int:
    """Copy lines unchanged, up to the next one with text."""
    while at < len(lines):
        found.append(lines[at])
        at += 1
        if last in lines[at - 1].lower():
            break
    return at


def _unindented(line: str, indent: int) -> str:
    return line[min(indent, len(line) - len(line.lstrip())) :]
