"""Selects the form of A2A that a caller uses.

Version 0.3 has two forms: JSON-RPC tells its objects apart by ``kind``, plain HTTP by the member
that is present, as 1.0 does.

Source: A2A 1.0, sections 3.6 (versions) and 5.5 (JSON); A2A 0.3, section 6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from aitp_desk.model.errors import UnknownVersion

VERSION_HEADER = "A2A-Version"
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.\d{1,9})?")


class Dialect(Enum):
    """A form of the protocol; its value begins with the version."""

    V1 = "1.0"
    V03 = "0.3"
    V03_HTTP = "0.3 over HTTP"

    @property
    def version(self) -> str:
        """The version as the header has it."""
        return self.value[:3]


def read_version(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    """Return the version of a request, ``1.0`` or ``0.3``; without the header, 0.3.

    Raises:
        UnknownVersion: it is another.
    """
    named = (headers.get(VERSION_HEADER) or query.get(VERSION_HEADER) or "").strip()
    if not named:
        return Dialect.V03.version
    found = _VERSION.fullmatch(named)
    version = f"{int(found[1])}.{int(found[2])}" if found else ""
    if version not in (Dialect.V1.version, Dialect.V03.version):
        raise UnknownVersion(
            f"This desk supports A2A 1.0 and 0.3; send {VERSION_HEADER}: 1.0.", param=VERSION_HEADER
        )
    return version


def check_version(headers: Mapping[str, str], query: Mapping[str, str], wanted: str) -> None:
    """Refuse a request at the address of another version.

    Raises:
        UnknownVersion: the request is of another version.
    """
    version = read_version(headers, query)
    if version != wanted:
        raise UnknownVersion(
            f"This address serves A2A {wanted}, but the request is of {version} (0.3 without"
            f" {VERSION_HEADER}); send {VERSION_HEADER}: {wanted}.",
            param=VERSION_HEADER,
        )
