"""Addresses that the site's owner names: what is one, whose, and which the desk may ask."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

_PORTS = {"http": 80, "https": 443}


def wrong_address(url: str, *, allow_loopback: bool) -> str | None:
    """Say what is wrong with an address that the desk is to ask; None where nothing is.

    The address itself is never repeated: it may hold a key.

    Parameters:
        allow_loopback: whether one of this machine may be asked.
    """
    address = web_address(url)
    if address is None:
        return "is no web address"
    if address.username is not None or address.password is not None:
        return "holds a user name or password"
    host = address.hostname or ""
    literal = ip_address(host)
    if allow_loopback and literal is not None and literal.is_loopback:
        return None
    if address.scheme != "https":
        return "is not encrypted"
    if is_loopback(host) or (literal is not None and not literal.is_global):
        return "is not public"
    return None


def web_address(url: str) -> SplitResult | None:
    """The parts of a http(s) URL; None where it is none."""
    if not url.isascii() or not url.isprintable() or " " in url:
        return None
    try:
        address = urlsplit(url)
        known = address.scheme in {"http", "https"} and address.hostname and address.port != 0
    except ValueError:
        return None
    return address if known else None


def origin_of(address: SplitResult) -> str:
    """The origin of a web address as browsers write it (RFC 6454, section 6.2)."""
    host = address.hostname or ""
    name = f"[{host}]" if ":" in host else host
    default = _PORTS.get(address.scheme)
    port = "" if address.port in {None, default} else f":{address.port}"
    return f"{address.scheme}://{name}{port}"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself."""
    address = ip_address(host)
    if address is not None:
        return address.is_loopback
    return host == "localhost" or host.endswith(".localhost")


def ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host is written as; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
