"""Converts RSS and Atom feeds to HTML: a section for each entry.

The parser takes no document type, hence no entities.
"""

from __future__ import annotations

from html import escape
from xml.parsers import expat

from aitp_desk.knowledge.sources.formats.base import FormatError

MAX_ENTRIES = 1000
_MAX_DEPTH = 64
_ENTRIES = frozenset({"item", "entry"})
_TEXTS = ("encoded", "content", "description", "summary", "subtitle")
"""Members with the text, the fullest first."""
_DATES = ("pubDate", "published", "date", "updated")
_MEMBERS = frozenset({"title", *_TEXTS, *_DATES})
_ROOTS = frozenset({"rss", "feed", "RDF"})


def feed_html(text: str) -> str:
    """Convert a feed to an HTML page.

    Raises:
        FormatError: it is no feed.
    """
    reader = _Reader()
    try:
        reader.parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise FormatError(f"It is not XML (line {error.lineno}).") from None
    about, *entries = reader.holders
    title = f"<h1>{escape(about['title'])}</h1>" if about.get("title") else ""
    parts = [f"{title}{_first(about, _TEXTS)}"]
    for entry in entries:
        heading = f"<h2>{escape(entry['title'])}</h2>" if entry.get("title") else ""
        date = _first(entry, _DATES)
        dated = f"<p>{escape(date)}</p>" if date else ""
        parts.append(f"<section>{heading}{dated}<div>{_first(entry, _TEXTS)}</div></section>")
    return f"<main>{''.join(parts)}</main>"


def _first(holder: dict[str, str], names: tuple[str, ...]) -> str:
    return next((holder[name] for name in names if holder.get(name)), "")


class _Reader:
    """Collects the members of the feed, the first holder, and of each entry."""

    def __init__(self) -> None:
        self.holders: list[dict[str, str]] = [{}]
        self._path: list[str] = []
        self._member = ""
        self._text: list[str] = []
        self.parser = expat.ParserCreate("UTF-8", namespace_separator=" ")
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._take

    def _refuse(self, *_: object) -> None:
        raise FormatError("It declares a document type, which a feed does not need.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if not self._path and local not in _ROOTS:
            raise FormatError("It is not a feed: it is neither RSS nor Atom.")
        if len(self._path) == _MAX_DEPTH:
            raise FormatError(f"It is nested more than {_MAX_DEPTH} elements deep.")
        self._path.append(local)
        if self._member:
            self._text.append(" ")
        elif local in _ENTRIES:
            if len(self.holders) > MAX_ENTRIES:
                raise FormatError(f"It has more than {MAX_ENTRIES} entries; split it.")
            self.holders.append({})
        elif local in _MEMBERS and self._path[-2:-1] != ["image"]:
            self._member = local
            is_text = local == "title" or local in _DATES or attributes.get("type") == "text"
            self._is_html = not is_text
            self._depth = len(self._path)

    def _take(self, text: str) -> None:
        if self._member:
            self._text.append(text)

    def _end(self, _name: str) -> None:
        if self._member and len(self._path) == self._depth:
            said = "".join(self._text).strip()
            is_markup = self._is_html and "<" in said
            said = said if is_markup or not self._is_html else escape(said)
            self.holders[-1].setdefault(self._member, said)
            self._member, self._text = "", []
        self._path.pop()
