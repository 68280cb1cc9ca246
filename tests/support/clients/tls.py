"""One set of certificates for all clients: each would read the same file again."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def certificates() -> ssl.SSLContext:
    """Return the machine's certificates; tests ask only for plain addresses on the loopback."""
    return ssl.create_default_context()
