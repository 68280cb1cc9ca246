"""Reads the email addresses and telephone numbers that only links of a page contain."""

from __future__ import annotations

import re
from urllib.parse import unquote

_MAIL = re.compile(r"mailto:\s*([^\s?,@]+@[^\s?,@]+)", re.IGNORECASE)
_CALL = re.compile(r"tel:\s*(\+?[\d().\s-]{5,25})", re.IGNORECASE)
_DIGITS = re.compile(r"\D+")
_MOST_OF_A_NUMBER = 6
"""Numbers with the same last digits are the same, with or without the country's."""


def address_of(href: str, text: str) -> str:
    """Return the address behind a link, as an addition to its text.

    It is empty if the text has the address, and for other links than "email us".
    """
    if mail := _MAIL.match(unquote(href)):
        return "" if mail[1].casefold() in text.casefold() else f" ({mail[1]})"
    if call := _CALL.fullmatch(unquote(href)):
        last = _DIGITS.sub("", call[1])[-_MOST_OF_A_NUMBER:]
        return "" if last in _DIGITS.sub("", text) else f" ({call[1].strip()})"
    return ""
