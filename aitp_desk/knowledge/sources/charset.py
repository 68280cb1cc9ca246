"""Determines the encoding of a text: by byte order mark, server or declaration."""

from __future__ import annotations

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})"
    rb"|\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{2,40})",
    re.IGNORECASE,
)
_BEGINNING = 1024
"""Where HTML may declare its encoding (WHATWG HTML, section 4.2.5.4)."""
_ENCODINGS = re.compile(
    r"utf-(8|16(-[lb]e)?)|ascii|iso(8859-\d+|2022_jp)|cp(125\d|866|932|949)|koi8-[ru]"
    r"|shift_jis|euc_(jp|kr)|gb(2312|k|18030)|big5|mac-(roman|cyrillic)"
)
"""The text encodings, by Python's names; Python also knows some that are none."""


def decode_text(body: bytes, charset: str = "", *, is_html: bool) -> str:
    """Decode a text as it or its server declares; else as UTF-8, else as Windows-1252.

    Parameters:
        charset: the server's declaration.
    """
    encoding = (
        _marked(body) or _encoding(charset) or (find_declared_charset(body) if is_html else "")
    )
    if encoding:
        return body.decode(encoding, "replace").removeprefix("\ufeff")
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def decode_file(body: bytes, *, is_html: bool) -> str:
    """Decode a file as UTF-8, else in the encoding that it declares.

    Raises:
        UnicodeDecodeError: it is not UTF-8 and declares nothing else.
    """
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        encoding = _marked(body) or (find_declared_charset(body) if is_html else "")
        if encoding in {"", "utf-8"}:
            raise
        return body.decode(encoding, "replace").removeprefix("\ufeff")


def find_declared_charset(body: bytes) -> str:
    """Return the encoding in an HTML page's ``meta`` element or XML declaration."""
    found = _DECLARED.search(body[:_BEGINNING])
    return _encoding((found[1] or found[2]).decode("ascii", "replace")) if found else ""


def _marked(body: bytes) -> str:
    return next((encoding for mark, encoding in _BOMS if body.startswith(mark)), "")


def _encoding(name: str) -> str:
    """Return Python's name of a declared text encoding, or an empty string."""
    try:
        known = codecs.lookup(name.strip()).name
    except (LookupError, ValueError):
        return ""
    if known in {"iso8859-1", "ascii"}:
        return "cp1252"  # the actual encoding of such pages (WHATWG Encoding, section 4.2)
    return known if _ENCODINGS.fullmatch(known) else ""
