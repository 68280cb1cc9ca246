"""Addresses of people as they are sent: the domain in ASCII (RFC 5891)."""

from __future__ import annotations

import idna

MOST_CHARACTERS = 254


def sendable(address: str) -> str | None:
    """Return an address with its domain in ASCII; None if it is none to which mail can be sent.

    The part before the ``@`` stays as it is: other than in ASCII, it needs SMTPUTF8 (RFC 6531).
    """
    local, _, domain = address.rpartition("@")
    if not local or not domain or len(address) > MOST_CHARACTERS:
        return None
    if any(sign.isspace() or not sign.isprintable() or sign in '<>,;:\\"()[]' for sign in local):
        return None
    try:
        encoded = idna.encode(domain, uts46=True).decode()
    except idna.IDNAError:
        return None
    return f"{local}@{encoded}" if len(local.encode()) <= 64 and local[-1] != "." else None
