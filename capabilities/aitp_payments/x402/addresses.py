"""Validates URLs of servers trusted with money: encrypted, without credentials."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_NONE = "must be a URL, such as https://x402.org/facilitator"


def wrong_address(url: str) -> str | None:
    """Return the fault of such a server's URL; None for none.

    The URL is never repeated: it may contain a key.
    """
    try:
        address = urlsplit(url if url.isascii() and url.isprintable() and " " not in url else "")
        host = "" if address.port == 0 else address.hostname or ""
    except ValueError:
        return _NONE
    if not host or address.scheme not in {"http", "https"}:
        return _NONE
    if "@" in address.netloc:
        return "must not contain a user name or password: put credentials in the environment"
    if address.scheme == "http" and not _is_own(host):
        return "must use https, or http on this machine's loopback only"
    return None


def _is_own(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
