"""Refuses credentials in URLs, whether they are valid or not.

A URL ends up in logs, histories and ``Referer`` headers, also those of proxies (RFC 6750, section
5.3; RFC 9110, section 4.2.4). The client receives an error at once.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

from aitp_desk.model.errors import InvalidRequest

PARAMETERS = ("access_token", "api_key", "apikey", "client_secret", "token", "x-ahp-key")
"""Names of parameters with a credential, compared without case (RFC 6750, section 2.3; RFC 6749,
section 2.3.1; and common practice)."""

_MARKS = ("?", ";", "%", "desk_", "eyJ")
"""Every path with a credential contains one of these, and few other paths do."""
_NAMED = re.compile(rf"[?&;](?:{'|'.join(PARAMETERS)})=.", re.IGNORECASE)
_API_KEY = re.compile(r"desk_[0-9a-f]{16}_[0-9a-f]{8}", re.IGNORECASE)
_JWT = re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8}", re.ASCII)
"""It starts at a word boundary and does not backtrack: one pass."""
_USER = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#]*@", re.IGNORECASE)


def check_address(target: str) -> None:
    """Reject a request whose URL carries a credential.

    Parameters:
        target: the raw target of the request line.

    Raises:
        InvalidRequest: it carries one. The error does not repeat it.
    """
    if target.startswith("/") and not any(map(target.__contains__, _MARKS)):
        return
    text = unquote_plus(target) if "%" in target else target
    if _NAMED.search(text) or _API_KEY.search(text) or _JWT.search(text) or _USER.match(target):
        raise InvalidRequest(
            "The address of this request contains a credential, which logs may have"
            " recorded. Revoke it, and send a new one as 'Authorization: Bearer …'."
        )
