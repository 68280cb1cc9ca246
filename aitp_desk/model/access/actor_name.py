"""Actor names: which ones look the same, and which characters are refused.

An actor's id is an address or a name, and people and models read it by its appearance. So two ids
are compared without percent-encoding, case, accents, invisible characters, default ports and other
spellings of one address.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from contextlib import suppress
from urllib.parse import unquote

_MOST_ENCODINGS = 8
"""Maximum number of decodings of a name: an encoding may hide another one."""
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols without a visible form."""
_UNDECODABLE = "\ufffd"
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_VARIATION = re.compile("[\u034f\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Marks without a visible form."""
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe58", "-"),
        **dict.fromkeys("\u2044\u2215\u29f8\\", "/"),
        **dict.fromkeys("\u02d0\u2236\ua789", ":"),
        **dict.fromkeys("\u3002\uff61", "."),
    }
)
_SCHEME = re.compile(r"(?:https?:/*|[a-z][a-z0-9+.-]*://+|//+)")
_AUTHORITY = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]{2,}([^/\\?#]*)")
_DEFAULT_PORT = re.compile(r":(?:0*(?:80|443))?$")
_PORT = re.compile(r":[0-9]*$")
_HOST = re.compile(r"(?:|[\w.-]*[\w-]|\[[0-9A-Fa-f:.]+\])(?::[1-9][0-9]*)?", re.ASCII)
"""The authority of an address in its plain form: no user, no final dot, no zero before a port."""
_NUMBERS = re.compile(r"[0-9a-fx.]*[0-9][0-9a-fx.]*")
_DOTTED = re.compile(r"\S+[.\u3002\uff0e\uff61]\S+")


def comparable_name(id_: str) -> str:
    """Return a form that is equal for ids that look the same."""
    _, _, query = folded_name(id_).partition("#")[0].partition("?")
    return f"{comparable_address(id_)}?{query}"


def comparable_address(id_: str) -> str:
    """Return the same as :func:`comparable_name` for an address without its query."""
    text = _SCHEME.sub("", folded_name(id_), count=1)
    address = re.split(r"[?#]", text, maxsplit=1)[0]
    authority, _, path = address.partition("/")
    host = _comparable_host(_DEFAULT_PORT.sub("", authority.rpartition("@")[2]))
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in {"", "."}:
            segments.append(segment)
    return "/".join((host, *segments))


def folded_name(id_: str) -> str:
    """Return a name without differences of encoding, case, accents and invisible characters."""
    text = id_
    for _ in range(_MOST_ENCODINGS):
        folded = _fold(text)
        if folded == text:
            break
        text = folded
    return text


def _fold(text: str) -> str:
    text = unicodedata.normalize("NFKD", unquote(text)).casefold()
    text = unicodedata.normalize("NFKD", text).translate(_ALIKE)
    shown = (one for one in text if not unicodedata.combining(one) and not is_invisible(one))
    return "".join(shown).replace(_UNDECODABLE, "").strip()


def is_invisible(character: str) -> bool:
    """Return whether a character is invisible, or only changes how others are shown."""
    return (
        character in _BLANK
        or unicodedata.category(character) in _INVISIBLE
        or _VARIATION.match(character) is not None
    )


def find_name_fault(id_: str) -> str | None:
    """Return what is wrong with a name; None for nothing.

    The text continues the sentence "An actor's id …".
    """
    if id_ != id_.strip():
        return "must not begin or end with a space."
    if any(map(is_invisible, id_)):
        return "must not contain invisible characters. Remove them."
    address = _AUTHORITY.match(id_)
    authority = "" if address is None else address.group(1)
    if "@" in unquote(authority):
        return "that is an address must not name a user. Remove the part before '@'."
    if not authority.isascii() or "%" in authority:
        return "that is an address must have its host in ASCII. Write it as 'xn--…'."
    if _HOST.fullmatch(authority) is None:
        return (
            "that is an address must have a plain host, such as 'shop.example' or"
            " 'shop.example:8080'."
        )
    if any(map(_mixes_scripts, _DOTTED.findall(id_))):
        return "must not mix Latin letters with similar letters of other scripts in one word."
    return None


def _comparable_host(host: str) -> str:
    """Return a host and its port in a normalized form."""
    host = host.partition(";")[0]
    name, _, port = host.rpartition(":") if _PORT.search(host) else (host, "", "")
    name, port = name.rstrip("."), port.lstrip("0")
    if "xn--" in name:
        with suppress(UnicodeError):  # not a host: left unchanged
            name = folded_name(name.encode().decode("idna"))
    if name.startswith("["):
        name = _ipv6(name[1:].removesuffix("]")) or name
    elif _NUMBERS.fullmatch(name):
        name = _ipv4(name) or name
    return f"{name}:{port}" if port else name


def _ipv6(name: str) -> str | None:
    """Return an IPv6 address in its short form; an IPv4-mapped one as IPv4."""
    try:
        address = ipaddress.IPv6Address(name)
    except ValueError:
        return None
    return f"[{address}]" if address.ipv4_mapped is None else str(address.ipv4_mapped)


def _ipv4(name: str) -> str | None:
    """Return an IPv4 address in four decimal numbers, from any form that inet_aton(3) reads."""
    try:
        *first, last = (int(part, _base(part)) for part in name.split("."))
        if len(first) > 3 or any(number > 0xFF for number in first):
            return None
        head = int.from_bytes(bytes(first)) << 8 * (4 - len(first)) if first else 0
        if last >> 8 * (4 - len(first)):
            return None
        return str(ipaddress.IPv4Address(head + last))
    except ValueError:
        return None


def _base(part: str) -> int:
    if part[:2].lower() == "0x":
        return 16
    return 8 if part.startswith("0") and len(part) > 1 else 10


def _mixes_scripts(word: str) -> bool:
    letters = (one for one in unicodedata.normalize("NFKD", word) if one.isalpha())
    scripts = {unicodedata.name(one, "").partition(" ")[0] for one in letters}
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
