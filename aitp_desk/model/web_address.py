"""Web addresses: what is one, its origin and path, and whether it is this machine's."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, quote, unquote, urlsplit

_PORTS = {"http": 80, "https": 443}


def wrong_address(url: str, *, allow_loopback: bool) -> str | None:
    """Return the fault of a URL for the desk's requests; None for none.

    The URL is never repeated: it may contain a key.

    Parameters:
        allow_loopback: whether a URL of this machine is allowed.
    """
    address = web_address(url)
    if address is None:
        return "is not a web address"
    if address.username is not None or address.password is not None:
        return "contains a user name or password"
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
    """Split a http(s) URL; None if it is none."""
    if not url.isascii() or not url.isprintable() or " " in url:
        return None
    try:
        address = urlsplit(url)
        known = address.scheme in {"http", "https"} and address.hostname and address.port != 0
    except ValueError:
        return None
    return address if known else None


def origin_of(address: SplitResult) -> str:
    """Return the origin of a URL as browsers write it (RFC 6454, section 6.2)."""
    host = address.hostname or ""
    name = f"[{host}]" if ":" in host else host
    default = _PORTS.get(address.scheme)
    port = "" if address.port in {None, default} else f":{address.port}"
    return f"{address.scheme}://{name}{port}"


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    address = ip_address(host)
    if address is not None:
        return address.is_loopback
    return host == "localhost" or host.endswith(".localhost")


def ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the IP address that a host is; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def canonical_path(path: str) -> str:
    """Return a requested path as documents are named: each part percent-encoded once."""
    return "/".join(quote(unquote(part), safe="") for part in path.strip("/").split("/"))
