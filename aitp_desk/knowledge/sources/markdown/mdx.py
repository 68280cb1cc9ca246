"""Converts MDX (Markdown with JSX elements, expressions and modules) to Markdown and HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aitp_desk.knowledge.sources.markdown.admonitions import BOXES, make_heading, make_label
from aitp_desk.knowledge.sources.markdown.fences import change_outside_code, mark_code_lines
from aitp_desk.knowledge.sources.markdown.properties import facts_of, said_by_value

MAX_TAG = 4000
"""A longer tag within a line is no tag."""
_MAX_BLOCK_TAG = 256 * 1024
"""Nor is a longer one at the beginning of a line."""
_MAX_LINES = 10_000
_MAX_MISTAKES = 20
"""How many tags of a line may be unclosed; beyond that the line stays unchanged."""
HAS_COMPONENTS = re.compile(r"^[ \t]*</?[A-Z][\w.]*[\s/>]", re.MULTILINE)
_MODULE = re.compile(
    r"import\s+(?:[\w*{][^\"';]*\sfrom\s+)?[\"'][^\"']+[\"'];?\s*"
    r"|import\s+(?:\w+\s*,\s*)?\{[^}]*"
    r"|export\s+(?:const|let|var|default|function|async|\{|\*).*"
)
_OPENING = re.compile(r"</?[A-Za-z][\w.:-]*(?=[\s/>{])|</?(?=>)")
_ATTRIBUTE = re.compile(r"([A-Za-z_][\w:-]*)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|(?=\{)))?")
_STYLE = re.compile(r"([A-Za-z]+)\s*:\s*(?:['\"`]([^'\"`]*)['\"`]|(-?[\d.]+))")
_TEXT = re.compile(r"""\{\s*(?:"([^"{}]*)"|'([^'{}]*)'|`([^`{}$]*)`)\s*\}""")
_COMMENT = re.compile(
    r"(?<!`)(?P<code>`+)(?!`)[^\n]*?(?<!`)(?P=code)(?!`)|\{/\*.*?\*/\}|<!--.*?-->", re.DOTALL
)
_EXPRESSION = re.compile(r"\{[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*)*\}")
_STYLES = re.compile(r"<style[^>]*>\s*(?:\{\s*`)?(.*?)(?:`\s*\})?\s*</style>", re.DOTALL)
_BLANK_LINE = re.compile(r"\n\s*(?=\n)")
_TITLES = ("title", "label", "header", "summary", "heading", "name", "question")
_HYPHENATED = r"-\1"
_CAPITAL = re.compile(r"(?<!^)([A-Z])")
_HIDING = frozenset({"style", "hidden", "aria-hidden"})
_ELEMENTS = frozenset(
    "a abbr address article aside audio b blockquote body br button canvas caption center cite code"
    " col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption"
    " figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe"
    " img input ins kbd label legend li link main map mark marquee menu meta meter nav noembed"
    " noframes noscript object ol optgroup option output p param picture pre progress q rp rt ruby"
    " s samp script search section select slot small source span strike strong style sub summary"
    " sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video"
    " wbr".split()
)
"""Elements of HTML: in Markdown that is no MDX their names are case-insensitive."""
_SPELT = {"className": "class"}
_WRAPPERS = frozenset("div p section article main center figure details aside".split())
_ROWS = ("<table", "<ul", "<ol", "<dl", "<pre")
_ENDS_OF_ROWS = ("</table", "</ul", "</ol", "</dl", "</pre")
_VOID = frozenset({"br", "hr", "img"})


def expand_components(text: str, *, is_mdx: bool) -> str:
    """Return the text with the text of its components: titles, labels and content.

    Parameters:
        is_mdx: whether braces are expressions and JSX may be within a line too.
    """
    styles: list[str] = []
    if is_mdx:
        styles = _STYLES.findall(text)
        text = _without_comments(_STYLES.sub("", text))
    lines = _Reader(is_mdx).read(text)
    lines += [f"\n<style>\n{re.sub(_BLANK_LINE, '', style)}\n</style>" for style in styles]
    return "\n".join(lines)


class _Reader:
    """Reads line by line; the content of a component is dedented."""

    def __init__(self, is_mdx: bool) -> None:
        self.is_mdx = is_mdx
        self.open: list[tuple[int, str]] = []
        """The indentation of the contents of open components, and what closes each."""
        self.inline: list[str] = []
        self.is_new = False
        self.rows = 0
        """How many tables and lists of HTML are open: their cells are no Markdown."""
        self.lines: list[str] = []

    def read(self, text: str) -> list[str]:
        """Return the lines of the text as plain Markdown."""
        in_module, depth = False, 0
        for line, is_code in mark_code_lines(_joined_tags(text, self.is_mdx)):
            if is_code:
                self._take(line)
                continue
            if not in_module and _MODULE.fullmatch(line):
                in_module, depth = True, 0
            if not in_module:
                self._line(line)
                continue
            depth += sum(map(line.count, "{([")) - sum(map(line.count, "})]"))
            in_module = depth > 0
        return [*self.lines, *(end_mark for _, end_mark in reversed(self.open) if end_mark)]

    def _take(self, line: str) -> None:
        indent = len(line) - len(line.lstrip())
        if self.is_new and line.strip():
            self.open[-1] = max(indent, self._indent()), self.open[-1][1]
            self.is_new = False
        self.lines.append(line[min(self._indent(), indent) :])

    def _indent(self) -> int:
        return self.open[-1][0] if self.open else 0

    def _line(self, line: str) -> None:
        stripped = line.strip()
        found = _OPENING.match(stripped)
        tag = _tag(stripped, found, _MAX_BLOCK_TAG) if found is not None else None
        if tag is not None and self.is_mdx and self._is_wrapper(tag, stripped):
            self._wrap(tag)
            return
        if tag is None or tag.is_html or (not self.is_mdx and tag.name.lower() in _ELEMENTS):
            if "<" in line:
                self.rows += sum(map(line.count, _ROWS)) - sum(map(line.count, _ENDS_OF_ROWS))
            self._take(change_outside_code(line, self._inline) if self.is_mdx else line)
            return
        rest = stripped[tag.end :].strip()
        if tag.is_end:
            self._close()
        else:
            within = rest.removesuffix(f"</{tag.name}>")
            is_whole = within != rest
            rest = within
            self.lines += ["", *filter(None, [tag.said()]), ""]
            if not tag.is_closed:
                self.open.append((self._indent(), "</div>" if tag.hiding() else ""))
                self.is_new = not is_whole
            if is_whole:
                self._line(" " * self._indent() + rest.strip())
                self._close()
                return
        if rest:
            self._line(" " * self._indent() + rest)

    def _is_wrapper(self, tag: _Tag, line: str) -> bool:
        """Return whether a tag on a separate line encloses Markdown."""
        is_alone = tag.name in _WRAPPERS and tag.end == len(line) and not tag.is_closed
        is_open = bool(self.open) and self.open[-1][1] == f"</{tag.name}>"
        return is_alone and self.rows <= 0 and (is_open or not tag.is_end)

    def _wrap(self, tag: _Tag) -> None:
        if tag.is_end:
            self._close()
            return
        self.lines += ["", tag.html(), ""]
        self.open.append((self._indent(), f"</{tag.name}>"))
        self.is_new = True

    def _close(self) -> None:
        end_mark = self.open.pop()[1] if self.open else ""
        self.is_new = False
        self.lines += ["", end_mark, ""] if end_mark else [""]

    def _inline(self, text: str) -> str:
        if "<" in text:
            text = self._inline_tags(text)
        if "{" in text:
            text = _TEXT.sub(lambda found: found[1] or found[2] or found[3] or " ", text)
            text = _EXPRESSION.sub("", text)
        return text

    def _inline_tags(self, text: str) -> str:
        parts: list[str] = []
        at = mistakes = 0
        while mistakes < _MAX_MISTAKES and (start_tag := _OPENING.search(text, at)) is not None:
            tag = _tag(text, start_tag)
            if tag is None:
                mistakes += 1
                parts.append(text[at : start_tag.end()])
                at = start_tag.end()
                continue
            parts.append(text[at : start_tag.start()])
            at = tag.end
            if tag.is_html:
                parts.append(tag.html())
            elif tag.is_end:
                parts.append(self.inline.pop() if self.inline else "")
            elif not tag.is_closed:
                hides = tag.hiding()
                parts.append(f"<span {hides}>" if hides else "")
                self.inline.append("</span>" if hides else "")
        return "".join([*parts, text[at:]])


class _Tag:
    """A JSX tag.

    Attributes:
        end: where it ends in its text.
        is_html: whether it is an HTML element, and no component.
    """

    def __init__(self, text: str, end: int) -> None:
        self._text = text
        self.is_end = text.startswith("</")
        self.is_closed = text.endswith("/>")
        inner = text.strip("<>/").strip()
        self.name = re.split(r"[\s{]", inner, maxsplit=1)[0]
        self.attributes = {
            _SPELT.get(name, name.lower()): value
            for name, value in _attributes(inner, len(self.name))
        }
        self.end = end
        self.is_html = self.name[:1].islower()

    def said(self) -> str:
        """Return the text that a component shows besides its content."""
        hides = self.hiding()
        if hides:
            return f"<div {hides}>" if not self.is_closed else ""
        title = next((self._value(name) for name in _TITLES if name in self.attributes), "")
        kind = self.name.rpartition(".")[2].lower()
        if kind.endswith(("field", "param", "property")):
            return facts_of({name: self._value(name) for name in self.attributes})
        if self.is_closed:  # it announces no content
            about = self._value("description") if "description" in self.attributes else ""
            said = f"{make_label(title)} {about}".strip() if about else title
            return "\n\n".join(filter(None, [said, *map(said_by_value, self.attributes.values())]))
        if kind in BOXES:
            kinds = (self._value(name).lower() for name in ("type", "kind", "variant", "intent"))
            kind = next((one for one in kinds if one in BOXES), kind)
            return make_label(make_heading(kind, title))
        return make_label(title)

    def hiding(self) -> str:
        """Return the attributes by which an element may hide its content, as HTML."""
        style = "; ".join(
            f"{_CAPITAL.sub(_HYPHENATED, name).lower()}: {text or number}"
            for name, text, number in _STYLE.findall(self.attributes.get("style", ""))
        )
        if self.attributes.get("style", "").startswith(("'", '"')):
            style = self.attributes["style"].strip("'\"")
        quoted = style.replace('"', "'")
        written = [f'style="{quoted}"'] if style else []
        written += [
            f'{name}="true"'
            for name in ("hidden", "aria-hidden")
            if name in self.attributes and "false" not in self.attributes[name]
        ]
        return " ".join(written)

    def html(self) -> str:
        """Return the tag of an HTML element, with its literal attributes."""
        if "{" not in self._text and "className" not in self._text:
            return self._text
        if self.is_end:
            return f"</{self.name}>"
        kept = " ".join(
            f'{key}="{self._value(key).replace(chr(34), "")}"'
            for key in self.attributes
            if key not in _HIDING and (self._value(key) or not self.attributes[key])
        )
        attributes = " ".join(filter(None, (kept, self.hiding())))
        opened = f"<{self.name} {attributes}>" if attributes else f"<{self.name}>"
        return opened if not self.is_closed or self.name in _VOID else f"{opened}</{self.name}>"

    def _value(self, name: str) -> str:
        value = self.attributes.get(name, "")
        inner = value.strip("{}").strip() if value.startswith("{") else value
        return inner[1:-1] if inner[:1] in {"'", '"', "`"} and inner[-1:] == inner[:1] else ""


class _End:
    """Finds the end of a tag, which may come in several parts.

    Attributes:
        is_none: whether it turned out to be no tag.
    """

    def __init__(self, end_mark: str = ">") -> None:
        self.end_mark = end_mark
        self.is_none = False
        self._depth, self._quote, self._before = 0, "", ""

    def find(self, text: str, at: int = 0, end: int | None = None) -> int | None:
        """Return where the tag ends in this part; None if it does not."""
        for place in range(at, len(text) if end is None else min(end, len(text))):
            sign, before = text[place], self._before
            self._before = "" if before == "\\" else sign
            if self._quote:
                self._quote = "" if sign == self._quote and before != "\\" else self._quote
            elif sign in "\"'`" and (self._depth or before == "="):
                self._quote = sign
            elif sign == "{":
                self._depth += 1
            elif sign == "}":
                self._depth -= 1
                if self.end_mark == "}" and self._depth <= 0:
                    return place + 1
            elif sign == ">" and self._depth <= 0:
                return place + 1
            elif sign == "<" and self._depth <= 0:
                self.is_none = True
                return None
        return None


def _tag(text: str, start_tag: re.Match[str], limit: int = MAX_TAG) -> _Tag | None:
    """Return the tag that begins at a position; None if it does not end."""
    end = _End().find(text, start_tag.end(), start_tag.start() + limit)
    return _Tag(text[start_tag.start() : end], end) if end is not None else None


def _attributes(text: str, at: int) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a tag with their values as written. Reading begins at a position."""
    while (found := _ATTRIBUTE.search(text, at)) is not None:
        value, at = found[2] or "", found.end()
        if text[at : at + 1] == "{" and found[2] == "":
            end = _End("}").find(text, at) or len(text)
            value, at = text[at:end], end
        yield found[1], value


def _joined_tags(text: str, is_mdx: bool) -> list[str]:
    """Return the lines of a text, with tags over several lines joined."""
    joined: list[str] = []
    held: list[str] = []
    size, end = 0, _End()
    for line, is_code in mark_code_lines(text.split("\n")):
        stripped = line.strip()
        if held:
            size += len(line)
            is_long = len(held) > _MAX_LINES or size > _MAX_BLOCK_TAG
            if is_code or is_long or not (stripped or is_mdx):
                joined += [*held, line]
                held = []
            elif not stripped.startswith("//"):
                held.append(line)
                if end.find(f" {stripped}") is not None or end.is_none:
                    joined += (
                        held if end.is_none else [" ".join([held[0], *map(str.strip, held[1:])])]
                    )
                    held = []
            continue
        found = None if is_code else _OPENING.match(f"{stripped} ")
        is_html = found is not None and found[0].strip("</").lower() in _ELEMENTS
        if found is not None and (is_mdx or not is_html):
            end = _End()
            if end.find(stripped, found.end()) is None and not end.is_none:
                held, size = [line], len(line)
                continue
        joined.append(line)
    return [*joined, *held]


def _code_alone(found: re.Match[str]) -> str:
    return found[0] if found["code"] else ""


def _without_comments(text: str) -> str:
    """Return the text without comments outside of code."""
    parts: list[str] = []
    prose: list[str] = []
    for line, is_code in mark_code_lines(text.split("\n")):
        if is_code and prose:
            parts.append(_COMMENT.sub(_code_alone, "\n".join(prose)))
            prose = []
        (parts if is_code else prose).append(line)
    if prose:
        parts.append(_COMMENT.sub(_code_alone, "\n".join(prose)))
    return "\n".join(parts)
