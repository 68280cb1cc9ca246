"""Converts plain texts with headings to HTML: sections, lists, tables, code.

A text without a clear structure stays unchanged: a guess would separate related lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from textwrap import dedent
from typing import NamedTuple

_LEAST_HEADINGS = 2
_MOST_OF_A_TERM = 60
_LEAST_ROWS, _LEAST_COLUMNS = 3, 3
_MOST_ROWS, _MOST_WIDTH = 500, 200
_LEAST_WORDS, _LEAST_LOWER_WORDS = 3, 5
_MOST_PLAIN = 0.8
"""Lines are sentences if at least this share of them are words, not signs."""
_SENTENCE_END = re.compile(r"[.:!?][)\]\"'’”`*_]*$")
_PLAIN_WORD = re.compile(r"[(\[\"'‘“`]*[^\W\d_]+(?:['’/-][^\W\d_]+)*[.,:;!?)\]\"'’”`]*")
_CAPITAL = "capitals"
_LEAST_OF_PAGES = 5
"""A line that stands alone this often, apart from its numbers, is a running head or foot."""
_MOST_OF_A_HEADING = 80
_UNDERLINE = re.compile(r"\s*([=\-~^*_+#\"'`:.━─═])\1{2,}\s*")
_NUMBERED = re.compile(
    r"\s*(?:(?:Chapter|Section|Appendix|Part|Kapitel|Abschnitt|Anhang)\s+[\dA-Z]+[.:]?\s+\S"
    r"|(?:[A-Z]\.)?\d{1,3}(?:\.\d{1,3})*\.?\s+(?:[^\W\d_]|[#$<\"'(_`])|[A-Z]\.\s{1,3}[A-Z]).*"
)
_NUMBER = re.compile(r"\s*(?P<word>[A-Z][a-z]+\s+)?(?P<number>[\dA-Z]+(?:\.\d+)*)\.?:?\s")
_CAPITALS = re.compile(r"[^a-zß-öø-ÿ]*[A-ZÀ-Þ]{3}[^a-zß-öø-ÿ]*")
_ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+•o·–]|\(?[\da-z]{1,2}[.)])\s+(?P<text>\S.*)")
_ENTRY = re.compile(r".*?(?:\.\s?){4,}\s*\d+\s*|.*\S\s{3,}\d+\s*")
"""An entry of a table of contents: dots and a page."""
_RULE = re.compile(r"[-=+|:─━┼├┤┌┬┐└┴┘═╔╗╚╝╦╩╠╣╬ ]{3,}")
_COLUMNS = re.compile(r"[-=─━═]{2,}")
_WIDE = re.compile(r"\S {3,}\S|\S\t+\S")
_PAIR = re.compile(r"\s*(?P<term>\S(?:.{0,38}?\S)?)(?: {2,}|\s*\t+)(?P<text>\S.*)")
_FIGURE = re.compile(r"[-+]?[\d.,:/%]+")
_HANGING = re.compile(r"\s*(?P<term>\S(?:.{0,18}?\S)?) {3,}(?P<text>\S.*)")
"""A term, and its definition in a separate column."""
_DIGITS = re.compile(r"\d+")
_UNJUSTIFIED = re.compile(r"(?<=\S) {2,}(?=\S)")
_DIVIDED = re.compile(r"([a-zß-ÿ])-\n\s*([a-zß-ÿ])")


class _Heading(NamedTuple):
    text: str
    style: str
    end: int
    """The line after it."""


def text_html(text: str, name: str) -> str | None:
    """Convert a plain text to an HTML page; None if it has no clear structure.

    Parameters:
        name: the name of the page if it has no title.
    """
    lines = [line.rstrip() for line in text.expandtabs(8).replace("\f", "\n").split("\n")]
    lines = _without_page_lines(lines)
    headings = _headings(lines)
    if len(headings) < _LEAST_HEADINGS:
        return None
    levels = _levels(headings)
    parts: list[str] = []
    at = 0
    for begin, heading in headings.items():
        parts += _blocks(lines[at:begin])
        level = levels[begin]
        parts.append(f"<h{level}>{escape(heading.text)}</h{level}>")
        at = heading.end
    parts += _blocks(lines[at:])
    title = "" if 1 in levels.values() else f"<title>{escape(name)}</title>"
    return f"{title}<main>{''.join(parts)}</main>"


def _without_page_lines(lines: list[str]) -> list[str]:
    """Return the lines of a printed text without running heads and feet.

    A paragraph across a page break is joined.
    """
    alone = [
        line if _WIDE.search(line) and not (before.strip() or after.strip()) else ""
        for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False)
    ]
    forms = [_DIGITS.sub("#", " ".join(line.split())) for line in alone]
    counts = Counter(filter(None, forms))
    kept: list[str] = []
    is_after_page_line = False
    for line, form in zip(lines, forms, strict=True):
        if counts[form] >= _LEAST_OF_PAGES:
            is_after_page_line = True
        elif not is_after_page_line or not line.strip():
            kept.append(line)
        else:
            is_after_page_line = False
            said = len(kept)
            while said and not kept[said - 1].strip():
                said -= 1
            if _runs_on(kept[:said][-2:], line):
                del kept[said:]
            kept.append(line)
    return kept


def _runs_on(before: Sequence[str], line: str) -> bool:
    """Return whether a line after a page break continues the lines before it."""
    if not before or _SENTENCE_END.search(before[-1]):
        return False
    if line.lstrip()[:1].islower():
        return _indent(line) <= _indent(before[-1])
    is_alone = len(before) < 2 or not before[0].strip()
    return not is_alone and _indent(line) == _indent(before[-1])


def _headings(lines: Sequence[str]) -> dict[int, _Heading]:
    """Return the headings by their first line."""
    found: dict[int, _Heading] = {}
    at = 0
    while at < len(lines):
        heading = _heading_at(lines, at)
        if heading is None:
            at += 1
        else:
            found[at] = heading
            at = heading.end
    styles = Counter(heading.style for heading in found.values())
    numbered = sum(count for style, count in styles.items() if style != _CAPITAL)
    if styles[_CAPITAL] < max(_LEAST_HEADINGS, numbered):  # some words are in capitals in any text
        found = {begin: one for begin, one in found.items() if one.style != _CAPITAL}
    return _without_lists(found, lines)


def _heading_at(lines: Sequence[str], at: int) -> _Heading | None:
    line = lines[at]
    before = lines[at - 1] if at else ""
    after = lines[at + 1] if at + 1 < len(lines) else ""
    if _is_title(line) and (rule := _UNDERLINE.fullmatch(after)) is not None:
        over = _UNDERLINE.fullmatch(before)
        fits = len(line.strip()) - 3 <= len(after.strip()) <= max(len(line.strip()) + 6, 0)
        if (not before.strip() or over is not None) and (fits or over is not None):
            return _Heading(line.strip(), f"{rule[1]}{over is not None}", at + 2)
    if before.strip() or not _is_title(line) or _ENTRY.fullmatch(line):
        return None
    is_alone = not after.strip()
    if is_alone and _NUMBERED.fullmatch(line) and line.strip()[-1] not in ".,;":
        number = _NUMBER.match(line)
        depth = number["number"].count(".") if number is not None else 0
        kind = "chapter" if number is not None and number["word"] else f"number {depth}"
        return _Heading(" ".join(line.split()), kind, at + 1)
    is_below = _indent(after) > _indent(line)
    is_said = line.rstrip().endswith((".", "!", ",", ";"))
    if _CAPITALS.fullmatch(line) and not is_said and _indent(line) < 4 and (is_alone or is_below):
        return _Heading(line.strip(), _CAPITAL, at + 1)
    return None


def _is_title(line: str) -> bool:
    said = line.strip()
    if not 1 < len(said) <= _MOST_OF_A_HEADING or not any(map(str.isalpha, said)):
        return False
    return _UNDERLINE.fullmatch(line) is None and "|" not in said and not _WIDE.search(said[4:])


def _without_lists(headings: dict[int, _Heading], lines: Sequence[str]) -> dict[int, _Heading]:
    """Remove consecutive numbered lines from the headings: a list or a table of contents."""
    begins = list(headings)
    kept: dict[int, _Heading] = {}
    for position, begin in enumerate(begins):
        heading = headings[begin]
        after = begins[position + 1] if position + 1 < len(begins) else len(lines)
        is_empty = not any(map(str.strip, lines[heading.end : after]))
        next_style = headings[after].style if after in headings else ""
        if not (heading.style.startswith("number") and is_empty and next_style == heading.style):
            kept[begin] = heading
    return kept


def _levels(headings: dict[int, _Heading]) -> dict[int, int]:
    """Return the level of each heading: 1 for the title, else by the first use of its style."""
    styles = [heading.style for heading in headings.values()]
    counts = Counter(styles)
    order = list(dict.fromkeys(styles))
    numbered = sorted(style for style in order if style.startswith("number"))
    places = iter(numbered)
    order = [next(places) if style in numbered else style for style in order]
    has_title = counts[order[0]] == 1 and styles[0] == order[0] and len(order) > 1
    first = 1 if has_title else 2
    return {
        begin: min(first + order.index(heading.style), 6) for begin, heading in headings.items()
    }


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else -1


class _Definition(NamedTuple):
    term: str
    text: str
    indent: int
    column: int
    """Where its text begins; lines below with this indentation belong to it."""


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Yield the paragraphs, lists, tables, definitions and code of a section."""
    base = min((_indent(line) for line in lines if line.strip()), default=0)
    open_: _Definition | None = None
    within: list[str] = []
    for block in _parted(lines):
        definition = _definition(block, open_)
        if open_ is not None and definition is None and min(map(_indent, block)) >= open_.column:
            within.append(_block(block, open_.column))
            continue
        if open_ is not None:
            yield f"<dt>{escape(open_.term)}</dt><dd>{''.join(within)}</dd>"
            if definition is None:
                yield "</dl>"
        if definition is None:
            yield _block(block, base)
        else:
            if open_ is None:
                yield "<dl>"
            within = [f"<p>{escape(definition.text)}</p>"]
        open_ = definition
    if open_ is not None:
        yield f"<dt>{escape(open_.term)}</dt><dd>{''.join(within)}</dd></dl>"


def _parted(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines between empty lines."""
    block: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def _block(lines: list[str], base: int) -> str:
    if len(lines) == 1 and _UNDERLINE.fullmatch(lines[0]):
        return ""
    if (rows := _ruled(lines)) is not None:
        return _table(rows, has_header=True)
    if (items := _items(lines)) is not None:
        return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
    if (pairs := _pairs(lines)) is not None:
        return _table(pairs, has_header=False)
    if (rows := _in_columns(lines)) is not None:
        return _table(rows, has_header=_is_header(rows))
    if not _is_prose(lines):
        is_set = sum(_WIDE.search(line.strip()) is not None for line in lines) * 2 > len(lines)
        if is_set or all(_indent(line) >= base + 4 for line in lines):
            return f"<pre>{escape(dedent(chr(10).join(lines)))}</pre>"
    return f"<p>{escape(_joined(lines))}</p>"


def _is_prose(lines: Sequence[str]) -> bool:
    """Return whether lines are sentences, justified or not."""
    said = _joined(lines)
    words = said.split()
    is_begun = said.lstrip("([\"'‘“`")[:1].isupper()
    if len(words) < (_LEAST_WORDS if is_begun else _LEAST_LOWER_WORDS):
        return False
    plain = sum(_PLAIN_WORD.fullmatch(word) is not None for word in words)
    return _SENTENCE_END.search(said) is not None and plain >= _MOST_PLAIN * len(words)


def _joined(lines: Sequence[str]) -> str:
    text = _DIVIDED.sub(r"\1\2", "\n".join(line.strip() for line in lines))
    return _UNJUSTIFIED.sub(" ", text).replace("\n", " ")


def _items(lines: Sequence[str]) -> list[str] | None:
    """Return the items of a list; None if the lines are none."""
    first = _ITEM.fullmatch(lines[0])
    if first is None:
        return None
    items: list[list[str]] = []
    for line in lines:
        item = _ITEM.fullmatch(line)
        if item is not None and len(item["indent"]) <= len(first["indent"]) + 1:
            items.append([item["text"]])
        elif _indent(line) > len(first["indent"]):
            items[-1].append(line)
        else:
            return None
    return [_joined(item) for item in items]


def _definition(lines: Sequence[str], before: _Definition | None) -> _Definition | None:
    """Return the term that a block defines, with its definition; None if the lines are none.

    Parameters:
        before: the definition above; a sign in the column of its term is no bullet.
    """
    first = lines[0]
    indents = {_indent(line) for line in lines[1:]}
    if len(indents) > 1:
        return None
    hanging = _HANGING.fullmatch(first)
    if hanging is not None:
        column = hanging.start("text")
        is_next = before is not None and (before.indent, before.column) == (_indent(first), column)
        if _ITEM.fullmatch(first) is not None and not is_next:
            return None
        if indents <= {column} and (is_next or _is_prose([hanging["text"], *lines[1:]])):
            text = _joined([hanging["text"], *lines[1:]])
            return _Definition(hanging["term"], text, _indent(first), column)
    if not indents or len(first.strip()) > _MOST_OF_A_TERM or _ITEM.fullmatch(first) is not None:
        return None
    column = min(indents)
    if column < _indent(first) + 2 or not _is_prose(lines[1:]):
        return None
    return _Definition(first.strip(), _joined(lines[1:]), _indent(first), column)


def _pairs(lines: Sequence[str]) -> list[list[str]] | None:
    """Return names and their descriptions in two columns; None if the lines are none."""
    rows: list[list[str]] = []
    column = -1
    for line in lines:
        pair = _PAIR.fullmatch(line)
        is_figure = pair is not None and _FIGURE.fullmatch(pair["text"]) is not None
        edge = 0 if pair is None else -pair.end("text") if is_figure else pair.start("text")
        if pair is not None and column in {-1, edge}:
            column = edge
            rows.append([pair["term"], pair["text"]])
        elif rows and _indent(line) == column:
            rows[-1][1] += f" {line.strip()}"
        else:
            return None
    return rows if len(rows) >= 2 and not any(_WIDE.search(row[1]) for row in rows) else None


def _in_columns(lines: Sequence[str]) -> list[list[str]] | None:
    """Return the rows of a table separated only by spaces; None without three columns and lines."""
    width = max(map(len, lines))
    if not _LEAST_ROWS <= len(lines) <= _MOST_ROWS or width > _MOST_WIDTH:
        return None
    padded = [line.ljust(width) for line in lines]
    is_gap = [all(line[at] == " " for line in padded) for at in range(width)]
    edges = [at for at in range(2, width) if is_gap[at - 1] and is_gap[at - 2] and not is_gap[at]]
    starts, ends = [0, *edges], [*edges, width]
    rows = [
        [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        for line in padded
    ]
    if not any(row[0] for row in rows):  # all lines are indented
        rows = [row[1:] for row in rows]
    is_full = sum(all(row) for row in rows) * 2 > len(rows)
    return (
        rows if len(rows[0]) >= _LEAST_COLUMNS and is_full and all(row[0] for row in rows) else None
    )


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns: capitals above figures or words."""
    if not all(cell[:1].isupper() for cell in rows[0]):
        return False
    return any(not cell[:1].isupper() for row in rows[1:] for cell in row if cell)


def _ruled(lines: Sequence[str]) -> list[list[str]] | None:
    """Return the rows of a table with rules, with the header first; None if it is none."""
    rules = [at for at, line in enumerate(lines) if _RULE.fullmatch(line.strip())]
    if not rules or len(rules) == len(lines):
        return None
    bar = next((sign for sign in "│┃║|" if lines[(rules[0] + 1) % len(lines)].count(sign) > 1), "")
    if bar:
        return _barred(lines, set(rules), bar)
    spans = [found.span() for found in _COLUMNS.finditer(lines[rules[0]])]
    if len(spans) < 2:
        return None
    edges = [start for start, _ in spans[1:]]
    if any(line[edge - 1 : edge].strip() for line in lines for edge in edges if line):
        return None
    starts, ends = [0, *edges], [*edges, None]
    return [
        [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        for at, line in enumerate(lines)
        if at not in rules
    ]


def _barred(lines: Sequence[str], rules: set[int], bar: str) -> list[list[str]] | None:
    """Return the rows of a table with bars: all lines between two rules if rules separate rows."""
    rows: list[list[str]] = []
    is_parted = len(rules) > 3
    is_new = True
    for at, line in enumerate(lines):
        if at in rules:
            is_new = True
            continue
        cells = [cell.strip() for cell in line.strip().strip(bar).split(bar)]
        if rows and is_parted and not is_new and len(cells) == len(rows[-1]):
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
        is_new = False
    return rows if len({len(row) for row in rows}) == 1 and len(rows) > 1 else None


def _table(rows: Sequence[Sequence[str]], *, has_header: bool) -> str:
    written = [
        "".join(
            f"<{cell}>{escape(text)}</{cell}>"
            for text in row
            for cell in ["th" if has_header and not number else "td"]
        )
        for number, row in enumerate(rows)
    ]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in written)}</table>"
