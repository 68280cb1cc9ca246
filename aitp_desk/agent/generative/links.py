"""Removes links and images from a model's text that could exfiltrate data. Pure; also for streams.

A client that renders an image or previews a link requests its address, and an address can hold
parts of the conversation. So an image becomes its alternative text, and a link stays only if it
leads to the site or to an address that occurs, letter for letter, in what the model was given. Of
any other link the text stays; a bare address is removed.

The pieces of a stream can divide a link anywhere. :class:`LinkFilter` returns a piece only if no
continuation can make a link of it. Every absolute address is checked in any position, inside
brackets, tags and code too, so that it does not matter what renderers treat as a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

REMOVED_MARK = "(link left out)"
MAX_URL = 1_000
"""A construct that does not end within this many characters is treated as plain text."""
MAX_NESTING = 32
"""So is one with more nested brackets."""

_END = r"[^\s<>\"'`\[\](){}|\\^]*"
_BARE = re.compile(
    rf"[a-z][a-z0-9+.\-]{{0,20}}:[/\\]{{2,}}{_END}"
    rf"|[/\\]{{2,}}[a-z0-9]{_END}"
    rf"|(?<![a-z0-9])(?:https?|ftp|wss?|javascript|vbscript|data|blob|file|mailto|tel|sms):(?=\S){_END}"
    rf"|(?<![a-z0-9])www\.{_END}"
    rf"|[^\s<>()]*&(?:#0*(?:47|58|92)|#x0*(?:2f|3a|5c)|sol|colon|bsol);{_END}"
    rf"|(?<![a-z0-9@/.\-_])[a-z0-9\-]+(?:\.[a-z0-9\-]+)*\.[a-z]{{2,24}}(?::\d+)?[/?#]{_END}",
    re.IGNORECASE | re.ASCII,
)
"""An address that programs turn into a link automatically, or in which the characters that make it
one are character references, which they resolve.
"""
_TRAILING = ".,;:!?*_~…"
_TARGET = re.compile(r"[A-Za-z0-9\-._~:/?#@!$&*+,;=%]+")
_REFERENCE = re.compile(r"&#?\w+;")
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.\-]*:|//", re.IGNORECASE | re.ASCII)
_TAG_NAME = re.compile(r"<[/!?]?([a-z][a-z0-9:-]*|--)?", re.IGNORECASE | re.ASCII)
_TAG = re.compile(r"<[^<>]*>")
_LOADS = frozenset(
    "-- a area audio base body button embed form frame iframe image img input link meta object"
    " picture portal script source style svg table track video".split()
)
"""Tags that load or link to something; ``--`` begins a comment."""
_BRACKETS = {"[": re.compile(r"[\[\]]"), "(": re.compile(r"[()]")}
_OPENS = re.compile(r"(!*)\[")
_WORD = re.compile(rf"(?:(?!!*\[)[^\s<]){{1,{MAX_URL}}}")
_SPACE = re.compile(r"\s+")
_ENDS_WORD = re.compile(r"[^!-;=-Z\\-~]")
_ASCII_END = re.compile(r"[!-~]*\Z")


class AllowedAddresses:
    """The addresses that links may lead to.

    Parameters:
        site_url: the site's address.
    """

    def __init__(self, site_url: str) -> None:
        self._origin = _origin(site_url)
        self._known: set[str] = set()
        self._read = ""

    def learn(self, texts: Iterable[str]) -> None:
        """Allow the addresses in texts that the model was given."""
        for text in texts:
            self._read += f"\n{text}"
            self._known.update(found[0].rstrip(_TRAILING) for found in _BARE.finditer(text))

    def allow(self, address: str) -> bool:
        """Return whether a link may lead to an address, absolute or on the site."""
        if not _TARGET.fullmatch(address) or _REFERENCE.search(address):
            return False
        if address in self._known:
            return True
        if _ABSOLUTE.match(address):
            return self._origin is not None and _origin(address) == self._origin
        return _BARE.match(address) is None

    def allow_bare(self, address: str) -> bool:
        """Return whether a bare address may be in a text."""
        whole = address if _ABSOLUTE.match(address) else f"https://{address}"
        return self.allow(address) or (address[:1] != "/" and self.allow(whole))

    def contains(self, text: str) -> bool:
        """Return whether a piece of text occurs literally in what the model was given."""
        return text in self._read


class LinkFilter:
    """Removes from a text, in pieces, what could exfiltrate data."""

    def __init__(self, addresses: AllowedAddresses) -> None:
        self._addresses = addresses
        self._waiting = ""

    def feed(self, text: str) -> str:
        """Return the text that can be shown now."""
        begun, self._waiting = self._waiting, self._waiting + text
        # an unfinished word is judged at its end, not with every piece
        is_word = begun[:1] not in {"", "<", "[", "!"}
        if is_word and len(self._waiting) < MAX_URL and not _ENDS_WORD.search(text):
            return ""
        return self._take(final=False)

    def close(self) -> str:
        """Return the rest at the end of the text."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> str:
        shown: list[str] = []
        text, at = self._waiting, 0
        while at < len(text):
            said, length = self._next(text[at : at + MAX_URL], final=final)
            if not length:
                break
            shown.append(said)
            at += length
        self._waiting = text[at:]
        return "".join(shown)

    def _next(self, text: str, *, final: bool) -> tuple[str, int]:
        """Return the filtered beginning of a text, and its length; 0 if it may continue."""
        whole = final or len(text) == MAX_URL
        if (space := _SPACE.match(text)) is not None:
            return space[0], space.end()
        if text[0] == "<":
            return self._tag(text, whole=whole)
        if (opens := _OPENS.match(text)) is not None:
            return self._link(text, len(opens[1]), whole=whole)
        if not whole and not text.strip("!"):
            return "", 0
        return self._word(text, whole=whole)

    def _link(self, text: str, marks: int, *, whole: bool) -> tuple[str, int]:
        """Filter a link, or an image if it has a mark before it."""
        literal = ("[", 1 + marks)
        text, whole = _paragraph(text, whole=whole)
        waits = literal if whole else ("", 0)
        closing = _closing(text, marks, "[")
        if closing is None or closing + 1 == len(text):
            return waits
        if text[closing + 1] != "(":
            return literal
        end = _closing(text, closing + 1, "(")
        if end is None:
            return waits
        inner = filter_links(text[1 + marks : closing], self._addresses)
        address = (text[closing + 2 : end].split() or [""])[0].strip("<>")
        if marks or not self._addresses.allow(address):
            return inner, end + 1
        return f"[{inner}]({address})", end + 1

    def _tag(self, text: str, *, whole: bool) -> tuple[str, int]:
        found = _TAG_NAME.match(text)
        name = found[1] if found is not None else None
        if found is None or (found.end() == len(text) and not whole):
            return "", 0
        tag = _TAG.match(text)
        if tag is None and not whole and "<" not in text[1:]:
            return "", 0
        if tag is not None and (address := _BARE.fullmatch(tag[0][1:-1])) is not None:
            return self._bare(address), tag.end()
        if (name or "").lower() not in _LOADS:
            return ("" if tag is not None and self._is_foreign_mail(tag[0]) else "<"), 1
        if tag is None:
            return "‹", 1
        return (tag[0] if self._addresses.contains(tag[0]) else " "), tag.end()

    def _is_foreign_mail(self, tag: str) -> bool:
        """Return whether a tag is a mail address that renderers turn into a link."""
        return "@" in tag and not self._addresses.contains(tag)

    def _word(self, text: str, *, whole: bool) -> tuple[str, int]:
        word = _WORD.match(text)
        length = word.end() if word is not None else 1
        if length == len(text) and not whole:
            # an address may still follow
            ending = _ASCII_END.search(text)
            length = ending.start() if ending is not None else length
            for found in _BARE.finditer(text):
                length = min(length, found.start())
        return _BARE.sub(self._bare, text[:length]), length

    def _bare(self, found: re.Match[str]) -> str:
        address = found[0].rstrip(_TRAILING)
        allowed = self._addresses.allow_bare(address)
        return (address if allowed else REMOVED_MARK) + found[0][len(address) :]


def filter_links(text: str, addresses: AllowedAddresses) -> str:
    """Return a whole text without what could exfiltrate data."""
    links = LinkFilter(addresses)
    return links.feed(text) + links.close()


def _paragraph(text: str, *, whole: bool) -> tuple[str, bool]:
    """Return the text up to an empty line, which ends every link."""
    first, empty, _ = text.partition("\n\n")
    return first, whole or bool(empty)


def _closing(text: str, at: int, opens: str) -> int | None:
    """Return where the bracket is closed that is opened at a position."""
    depth = 0
    for found in _BRACKETS[opens].finditer(text, at):
        depth += 1 if found[0] == opens else -1
        if not depth:
            return found.start()
        if depth > MAX_NESTING:
            return None
    return None


def _origin(address: str) -> tuple[str, str, int | None] | None:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if host is None or parts.username is not None or parts.password is not None:
        return None
    scheme = parts.scheme.lower()
    return scheme, host, port or {"http": 80, "https": 443}.get(scheme)
