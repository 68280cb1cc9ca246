"""Renders Markdown as Telegram's HTML, within its limits.

Source: Bot API, "Formatting options" and "HTML style". Lengths count UTF-16 code units, after the
tags are taken away.
"""

from __future__ import annotations

import re
from html import escape, unescape

import msgspec

from aitp_desk.transports.wire.markup import MOST_CHARACTERS, Marks, count_units, render_markdown
from aitp_desk.transports.wire.splitter import SHORTEST, split_text

MOST_UNITS = 4096
"""Longest text of a message."""
MOST_CAPTION_UNITS = 1024
"""Longest caption of a file."""
_TAG = re.compile(r"<[^<>]*>")
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,32}")


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A text that fits into one message.

    Parameters:
        html: with Telegram's tags.
        plain: the same without tags, for when Telegram refuses them.
    """

    html: str
    plain: str


def slice_units(text: str, start: int, length: int) -> tuple[str, str, str]:
    """Return what is before, in and after a range of UTF-16 code units."""
    if start < 0 or length < 0:
        return text, "", ""
    data = text.encode("utf-16-le", "replace")
    end = start + length
    before, inner, after = data[: 2 * start], data[2 * start : 2 * end], data[2 * end :]
    return tuple(part.decode("utf-16-le", "replace") for part in (before, inner, after))  # type: ignore[return-value]


def render_pieces(markdown: str, *, head: str = "", tail: str = "") -> list[Piece]:
    """Render a text as one message, or several where it is longer.

    Parameters:
        head: HTML before it.
        tail: HTML after it.
    """
    body = render_markdown(markdown, _HTML)
    piece = _make_piece("\n\n".join(part for part in (head, body, tail) if part))
    if count_units(piece.plain) <= MOST_UNITS and len(markdown) <= MOST_CHARACTERS:
        return [piece] if piece.plain.strip() else []
    if tail:  # the sources go into a message after it
        return [*render_pieces(markdown, head=head), *_cut(tail)]
    first, *rest = split_text(markdown, max(SHORTEST, len(markdown) * 2 // 3)) or ("",)
    if not rest:
        return _cut(piece.html)
    pieces = render_pieces(first, head=head)
    return pieces + [one for part in rest for one in render_pieces(part)]


def link(label: str, url: str) -> str:
    """Return a link as HTML."""
    return _HTML.link(escape(label), url)


def strong(text: str) -> str:
    """Return a plain text as strong HTML."""
    return _HTML.strong(escape(text))


def _make_piece(html: str) -> Piece:
    return Piece(html=html, plain=unescape(_TAG.sub("", html)))


def _cut(html: str) -> list[Piece]:
    """Cut what no border divides, without its tags."""
    pieces, rest = [], unescape(_TAG.sub("", html))
    while rest:
        # at most half as many characters, since one may be two units
        part, rest = rest[: MOST_UNITS // 2], rest[MOST_UNITS // 2 :]
        if part.strip():
            pieces.append(Piece(html=escape(part, quote=False), plain=part))
    return pieces


class _Html(Marks):
    """Telegram's tags."""

    def escape(self, text: str) -> str:
        return escape(text, quote=False)

    def strong(self, text: str) -> str:
        return f"<b>{text}</b>"

    def emphasis(self, text: str) -> str:
        return f"<i>{text}</i>"

    def strike(self, text: str) -> str:
        return f"<s>{text}</s>"

    def code(self, text: str) -> str:
        return f"<code>{escape(text, quote=False)}</code>"

    def block(self, text: str, language: str) -> str:
        shown = escape(text, quote=False)
        if _LANGUAGE.fullmatch(language):
            return f'<pre><code class="language-{language}">{shown}</code></pre>'
        return f"<pre>{shown}</pre>"

    def link(self, label: str, url: str) -> str:
        return f'<a href="{escape(url)}">{label}</a>'

    def quote(self, text: str) -> str:
        return f"<blockquote>{text}</blockquote>"


_HTML = _Html()
