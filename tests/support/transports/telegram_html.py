"""Parses text as Telegram's servers do: what they refuse, and the length that they count.

Written from the Bot API's "HTML style"; the texts of errors are those that the API returns.
"""

from __future__ import annotations

import re

TAGS = frozenset(
    "a b blockquote code del em i ins pre s span strike strong tg-emoji tg-spoiler u".split()
)
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_ENTITY = re.compile(r"&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(lt|gt|amp|quot));?")
_ATTRIBUTE = re.compile(r"""\s+([a-z-]+)(?:\s*=\s*("[^"]*"|'[^']*'|[a-zA-Z0-9.-]+))?""")


class Unparsable(Exception):
    """The text has wrong tags."""


def count_units(text: str) -> int:
    """Return the length in UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


def parse_html(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the text that is shown, and its tags with what they enclose.

    Raises:
        Unparsable: with the description of the API's error.
    """
    shown: list[str] = []
    open_tags: list[tuple[str, int]] = []
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        offset = len(text[:at].encode())
        if text[at] == "&" and (entity := _ENTITY.match(text, at)):
            decimal, hexadecimal, name = entity.groups()
            shown.append(
                _NAMED[name] if name else chr(int(decimal or hexadecimal, 10 if decimal else 16))
            )
            at = entity.end()
        elif text[at] != "<":
            shown.append(text[at])
            at += 1
        elif text.startswith("</", at):
            end = text.find(">", at)
            if not open_tags:
                raise Unparsable(f"Unexpected end tag at byte offset {offset}")
            name, start = open_tags.pop()
            if end < 0 or text[at + 2 : end].strip().lower() not in {"", name}:
                raise Unparsable(
                    f'Unmatched end tag at byte offset {offset}, expected "</{name}>", found'
                    f' "{text[at : end + 1]}"'
                )
            found.append((name, "".join(shown)[start:]))
            at = end + 1
        else:
            at = _open(text, at, offset, open_tags, len("".join(shown)))
    if open_tags:
        name, _ = open_tags[-1]
        raise Unparsable(f'Can\'t find end tag corresponding to start tag "{name}"')
    return "".join(shown), tuple(found)


def _open(text: str, at: int, offset: int, open_tags: list[tuple[str, int]], start: int) -> int:
    name = re.match(r"[^\s>/]*", text[at + 1 :])
    assert name is not None
    tag = name[0].lower()
    if tag not in TAGS:
        raise Unparsable(f'Unsupported start tag "{tag}" at byte offset {offset}')
    at += 1 + len(tag)
    attributes = {}
    while attribute := _ATTRIBUTE.match(text, at):
        attributes[attribute[1]] = (attribute[2] or "").strip("\"'")
        at = attribute.end()
    if not text.startswith(">", at):
        raise Unparsable(f"Unclosed start tag at byte offset {offset}")
    if tag == "span" and attributes.get("class") != "tg-spoiler":
        raise Unparsable(f'Tag "span" must have class "tg-spoiler" at byte offset {offset}')
    open_tags.append((tag, start))
    return at + 1
