"""Decodes texts whose declared character set may be missing, unknown or wrong.

Source: RFC 2046, section 4.1.2, and the labels of the WHATWG Encoding Standard, which mail
programs use the same way.
"""

from __future__ import annotations

import codecs
import re

_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "hz",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso2022_jp": "iso2022_jp_ext",
    "iso2022_jp_1": "iso2022_jp_ext",
    "iso2022_jp_2": "iso2022_jp_ext",
}
"""What is meant by names that programs also write for the larger set."""
_ALIASES = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "x-gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601": "cp949",
    "windows-949": "cp949",
    "windows-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "iso-8859-8-e": "iso8859-8",
    "unicode-1-1-utf-8": "utf-8",
    "utf8mb4": "utf-8",
    "x-mac-roman": "mac-roman",
    "macintosh": "mac-roman",
    "cp-850": "cp850",
}
_TEXT_ENCODINGS = re.compile(
    r"utf-(8|16(-[lb]e)?|32(-[lb]e)?)|iso(8859-\d+|2022_(jp_ext|jp_2004|jp_3|kr))|hz"
    r"|cp(125\d|437|85[0258]|86[0-9]|874|866|932|949)|koi8-[rut]|shift_jis(x0213|_2004)|euc_j\w+"
    r"|gb18030|big5hkscs|mac-(roman|cyrillic|latin2|greek|turkish)|johab"
)
"""By Python's names. It also knows some that are no encodings of text, and UTF-7, which hides."""
_LONGEST_NAME = 40


def find_encoding(name: str) -> str:
    """Return Python's name of a declared character set; empty if it is none of text."""
    wanted = name.strip(" \t\"'").lower()
    if not wanted or len(wanted) > _LONGEST_NAME or not wanted.isascii():
        return ""
    try:
        known = codecs.lookup(_ALIASES.get(wanted, wanted)).name
    except (LookupError, ValueError):
        return ""
    known = _SUPERSETS.get(known, known)
    return known if _TEXT_ENCODINGS.fullmatch(known) else ""


def decode(data: bytes, charset: str = "") -> str:
    """Decode a text as its program declares it; as UTF-8 or Windows-1252 if that is wrong.

    Text of several bytes a character that is valid UTF-8 is UTF-8 whatever was declared: by chance
    no text of another set is.
    """
    if data.startswith(codecs.BOM_UTF8):
        return data[3:].decode("utf-8", "replace")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    encoding = find_encoding(charset)
    candidates = ["utf-8"] if not data.isascii() else []
    if encoding.startswith(("utf-16", "utf-32")):
        candidates = []  # nearly every text of two bytes is valid UTF-8
    if encoding:
        candidates.append(encoding)
    candidates.append("utf-8")
    for candidate in candidates:
        try:
            return data.decode(candidate)
        except (UnicodeError, ValueError):
            continue
    return data.decode(_last_resort(data, encoding), "replace")


def _last_resort(data: bytes, codec: str) -> str:
    """Return what loses least: a text with one broken byte keeps its set."""
    if codec not in {"", "utf-8", "cp1252"}:
        return codec
    lost = data.decode("utf-8", "replace").count("\ufffd")
    high = len(data) - len(data.decode("ascii", "ignore"))
    return "utf-8" if lost * 4 < high else "cp1252"
