"""Warns of safety information that travels without TLS (HAC 1.0, section 9.4)."""

from __future__ import annotations

import ipaddress
import logging
from urllib.parse import urlsplit

_log = logging.getLogger(__name__)


class InTheClear:
    """Warns the owner, once, of an API without TLS beyond this machine.

    Parameters:
        url: the public address of the API; empty where requests show it.

    Attributes:
        is_known: whether the warning was logged or cannot become necessary.
    """

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self.is_known = bool(url)
        if address.scheme == "http" and not _is_loopback(address.hostname or ""):
            self._tell(url)

    def look_at(self, host: str) -> None:
        """Check a request without TLS, by the address that it came to."""
        if not _is_loopback(host):
            self.is_known = True
            self._tell(f"http://{host}")

    @staticmethod
    def _tell(url: str) -> None:
        _log.warning(
            "HAC is served without TLS at %s: its safety information can be changed on"
            " the way. Serve it by https.",
            url,
        )


def _is_loopback(host: str) -> bool:
    """Return whether a host is this machine; a socket without a host counts."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host in {"", "localhost"} or host.endswith(".localhost") or host.startswith("/")
