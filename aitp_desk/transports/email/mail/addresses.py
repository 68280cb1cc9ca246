"""Reads lists of addresses (RFC 5322, section 3.4; RFC 6532).

An address decides who a thread belongs to, so what is not well formed is left out, never guessed.
The time is proportional to the field.
"""

from __future__ import annotations

import re

from aitp_desk.transports.email.mail.headers import decode_raw, decode_words
from aitp_desk.transports.email.mail.message import Address

_TOKEN = re.compile(
    r'"(?P<quoted>(?:[^"\\]|\\.)*+)"?'
    r"|(?P<space>\s+)"
    r"|(?P<special>[<>,;:()\[\]@\\])"
    r'|(?P<atom>[^\s<>,;:()\[\]@"\\]+)',
    re.DOTALL,
)
_LOCAL = re.compile(r"[^\s<>()\[\],;:@\"\\\x00-\x20\x7f]{1,64}")
_DOMAIN = re.compile(r"(?=.{1,253}\Z)[\w-]{1,63}(?:\.[\w-]{1,63})*")
_LITERAL = re.compile(r"\[[0-9A-Fa-f:.]{2,60}\]|\[IPv6:[0-9A-Fa-f:.]{2,60}\]")
_LONGEST_NAME = 200


def read_addresses(value: str, most: int) -> tuple[Address, ...]:
    """Return the addresses of a field, at most so many; groups are dissolved."""
    return tuple(found for found in _Entries(decode_raw(value), most).read() if found)


def count_addresses(value: str) -> int:
    """Return how many entries a field has, well formed or not."""
    return len(_Entries(decode_raw(value), 100).read())


def clean_address(text: str) -> str:
    """Return ``local@domain`` with the domain in lower case; empty if it is no address."""
    local, at, domain = text.strip().rpartition("@")
    domain = domain.removesuffix(".").lower()
    if not at or not _LOCAL.fullmatch(local):
        return ""
    if not _DOMAIN.fullmatch(domain) and not _LITERAL.fullmatch(domain):
        return ""
    return f"{local}@{domain}"


class _Entries:
    """Splits a field into entries: a name, and what stands between angle brackets."""

    def __init__(self, value: str, most: int) -> None:
        self._value = value
        self._most = most
        self._entries: list[Address | None] = []
        self._clear()

    def _clear(self) -> None:
        self._name: list[str] = []
        self._plain: list[str] = []
        self._comment: list[str] = []
        self._angle: list[str] | None = None
        self._is_angle_open = False
        self._is_broken = False

    def read(self) -> list[Address | None]:
        """Return the entries; None for one without a well-formed address."""
        level = 0
        for token in _TOKEN.finditer(self._value):
            text, special = token[0], token["special"]
            if special == "(":
                level += 1
            elif level:
                level -= special == ")"
                self._comment.append(text if special != ")" or level else " ")
            elif special in {",", ";"} and not self._is_angle_open:
                self._finish()
                if len(self._entries) >= self._most:
                    return self._entries
            elif special == ":" and self._angle is None and "@" not in self._plain:
                self._clear()  # the name of a group
            else:
                self._take(token)
        self._finish()
        return self._entries

    def _take(self, token: re.Match[str]) -> None:
        special, quoted = token["special"], token["quoted"]
        if special == "<":
            self._is_broken = self._is_broken or self._angle is not None
            self._angle = []
            self._is_angle_open = True
        elif special == ">":
            self._is_broken = self._is_broken or not self._is_angle_open
            self._is_angle_open = False
        elif self._is_angle_open and self._angle is not None:
            self._angle.append(token[0])
        else:
            if self._angle is not None and not token["space"]:
                self._is_broken = True  # text after the brackets: programs differ in what it is
            self._plain.append(token[0])
            self._name.append(quoted.replace("\\", "") if quoted is not None else token[0])

    def _finish(self) -> None:
        plain = "".join(self._plain).strip()
        if self._angle is None and not plain:
            self._clear()
            return
        inner = "".join(self._angle) if self._angle is not None else plain
        route, colon, last = inner.rpartition(":")
        if colon and route.startswith("@"):
            inner = last  # an obsolete route (RFC 5322, section 4.4)
        name = "".join(self._name if self._angle is not None else self._comment)
        address = "" if self._is_broken else clean_address(inner.strip().strip('"'))
        shown = decode_words(name)[:_LONGEST_NAME]
        self._entries.append(Address(address, shown) if address else None)
        self._clear()
