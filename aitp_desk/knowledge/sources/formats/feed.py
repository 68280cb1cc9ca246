"""Converts RSS and Atom feeds to HTML: a section for each entry."""

from __future__ import annotations

from html import escape
from xml.etree.ElementTree import XML, Element, ParseError, TreeBuilder, XMLParser, tostring

from aitp_desk.knowledge.sources.formats.base import FormatError

MAX_ENTRIES = 1000
_MAX_DEPTH = 64
_ENTRIES = frozenset({"item", "entry"})
_TEXTS = ("encoded", "content", "description", "summary", "subtitle")
"""Members with the text, the fullest first."""
_DATES = ("pubDate", "published", "date", "updated")
_ROOTS = frozenset({"rss", "feed", "RDF"})


def feed_html(text: str) -> str:
    """Convert a feed to an HTML page.

    Raises:
        FormatError: it is no feed.
    """
    try:
        feed = XML(text, XMLParser(target=_Target()))  # noqa: S314 -- refuses entities
    except ParseError as error:
        raise FormatError(f"It is not XML (line {error.position[0]}).") from None
    if feed.tag not in _ROOTS:
        raise FormatError("It is not a feed: it is neither RSS nor Atom.")
    entries = [node for node in feed.iter() if node.tag in _ENTRIES]
    if len(entries) > MAX_ENTRIES:
        raise FormatError(f"It has more than {MAX_ENTRIES} entries; split it.")
    channel = feed.find("channel")
    about = [node for node in (feed if channel is None else channel) if node.tag not in _ENTRIES]
    parts = [_section("h1", about), *(_section("h2", list(entry.iter())) for entry in entries)]
    return f"<main>{''.join(parts)}</main>"


def _section(heading: str, members: list[Element]) -> str:
    title, date = _first(members, ("title",)), _first(members, _DATES)
    named = f"<{heading}>{escape(title)}</{heading}>" if title else ""
    dated = f"<p>{escape(date)}</p>" if date and heading == "h2" else ""
    return f"<section>{named}{dated}<div>{_first(members, _TEXTS)}</div></section>"


def _first(members: list[Element], names: tuple[str, ...]) -> str:
    said = (_said(node) for name in names for node in members if node.tag == name)
    return next(filter(None, said), "")


def _said(node: Element) -> str:
    """Return the text of a member; that of a description is HTML."""
    text = "".join(node.itertext()).strip()
    if node.tag not in _TEXTS:
        return text
    if len(node):  # elements of XHTML
        within = (tostring(child, "unicode", "html") for child in node)
        return escape(node.text or "").strip() + "".join(within)
    return text if "<" in text and node.get("type") != "text" else escape(text)


class _Target(TreeBuilder):
    """Builds the tree, by names without a namespace; takes no document type, hence no entities."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0

    def doctype(self, *_: object) -> None:
        raise FormatError("It declares a document type, which a feed does not need.")

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise FormatError(f"It is nested more than {_MAX_DEPTH} elements deep.")
        return super().start(tag.rpartition("}")[2], attrs)

    def end(self, tag: str, /) -> Element:
        self._depth -= 1
        return super().end(tag)
