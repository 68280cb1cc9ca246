"""Credentials in addresses, which are refused whether they prove anything or not.

An address ends up in logs, histories and ``Referer`` headers, of the desk's proxies as well (RFC
6750, section 5.3; RFC 9110, section 4.2.4). So whoever puts a credential there is told at once.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

from aitp_desk.model.errors import InvalidRequest

PARAMETERS = ("access_token", "api_key", "apikey", "client_secret", "token", "x-ahp-key")
"""What a parameter with a credential is called (RFC 6750, section 2.3, RFC 6749, section 2.3.1, and
the habits of others), in capitals or not."""

_MARKS = ("?", ";", "%", "desk_", "eyJ")
"""Some of these stand in every path that carries a credential, and in few others."""
_NAMED = re.compile(rf"[?&;](?:{'|'.join(PARAMETERS)})=.", re.IGNORECASE)
_API_KEY = re.compile(r"desk_[0-9a-f]{16}_[0-9a-f]{8}", re.IGNORECASE)
_JWT = re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8}", re.ASCII)
"""It begins where a word begins, and nothing is given back: one pass it is."""
_USER = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#]*@", re.IGNORECASE)


def check_address(target: str) -> None:
    """Refuse a request whose address carries a credential.

    Parameters:
        target: of the request line, as it was sent.

    Raises:
        InvalidRequest: it does. Nothing of it is repeated.
    """
    if target.startswith("/") and not any(map(target.__contains__, _MARKS)):
        return
    text = unquote_plus(target) if "%" in target else target
    if _NAMED.search(text) or _API_KEY.search(text) or _JWT.search(text) or _USER.match(target):
        raise InvalidRequest(
            "The address of this request carries a credential. Addresses are kept in logs and"
            " histories: have this credential revoked, and send another one as 'Authorization:"
            " Bearer …'."
        )
