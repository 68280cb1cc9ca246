"""The credentials that a request presents: read from its head, not yet verified.

A credential is in ``Authorization`` or in ``X-AHP-Key`` (AHP 0.1, section 8.2), or the whole head
is signed (RFC 9421). A link that shares a thread is in ``Desk-Grant``. None is ever in a URL.
"""

from __future__ import annotations

from typing import Final

import msgspec

from aitp_desk.auth.credentials.address import Headers
from aitp_desk.model.errors import InvalidRequest, NotAuthenticated

BEARER: Final = "bearer"
GRANT: Final = "Desk-Grant"
"""The scheme of grant links, named after their header. No ``Authorization`` can have it: schemes
there are read in lowercase."""
SESSION: Final = "Cookie"
"""The scheme of console sessions, named after their header. No other part of the desk reads
cookies."""
HMAC_SCHEME: Final = "aitp-hmac-sha256"
"""The scheme of requests signed with a shared secret (``signed_request.py``)."""


WEB_BOT_AUTH: Final = "web-bot-auth"
"""The tag of message signatures that identify an agent (``web_bot_auth/agents.py``)."""


class RequestCredentials(msgspec.Struct, frozen=True):
    """The credentials of a head.

    Parameters:
        scheme: None if there is no credential.
        credential: the text after the scheme.
        is_signed: whether there is a message signature that identifies an agent (RFC 9421).
    """

    scheme: str | None = None
    credential: str = ""
    is_signed: bool = False

    @property
    def is_single_use(self) -> bool:
        """Whether it is valid only once, and so is the head."""
        return self.is_signed or self.scheme == HMAC_SCHEME


NO_CREDENTIALS = RequestCredentials()


def read_credentials(headers: Headers) -> RequestCredentials:
    """Return the credentials of a request.

    Raises:
        InvalidRequest: a header that must not be repeated is.
        NotAuthenticated: there are two different credentials.
    """
    presented = _read_credential(headers)
    if any(WEB_BOT_AUTH in line for line in headers.getall("Signature-Input", [])):
        return msgspec.structs.replace(presented, is_signed=True)
    return presented


def read_session(headers: Headers, cookie: str) -> RequestCredentials:
    """Return the credential of a request to the console: the cookie and nothing else.

    A program that sends a key receives an error; it must not act as the signed-in operator whose
    browser it uses.

    Parameters:
        cookie: its name.

    Raises:
        NotAuthenticated: there is another credential, or there are two such cookies: a page of
            another host of the site's domain can set a second one.
    """
    if any(headers.getall(name, []) for name in ("Authorization", "X-AHP-Key", "Desk-Grant")):
        raise NotAuthenticated(
            "The console accepts only its sign-in cookie, no other credential.",
            reason="conflicting",
        )
    held = [
        value.strip()
        for line in headers.getall("Cookie", [])
        for name, _, value in (pair.partition("=") for pair in line.split(";"))
        if name.strip() == cookie
    ]
    if len(held) > 1:
        raise NotAuthenticated(
            f"The cookie {cookie} was sent twice. Delete both and sign in again.",
            reason="conflicting",
        )
    return RequestCredentials(SESSION, held[0]) if held else NO_CREDENTIALS


def _read_credential(headers: Headers) -> RequestCredentials:
    authorization = _only(headers, "Authorization")
    ahp_key = _only(headers, "X-AHP-Key")
    grant = _only(headers, "Desk-Grant")
    if grant is not None:
        if authorization is not None or ahp_key is not None:
            raise NotAuthenticated(
                "Send either Desk-Grant or another credential, not both. To share a"
                " thread with a known caller, create a grant for that caller.",
                reason="conflicting",
            )
        return RequestCredentials(GRANT, grant)
    if authorization is None:
        return NO_CREDENTIALS if ahp_key is None else RequestCredentials(BEARER, ahp_key)
    scheme, _, credential = authorization.partition(" ")
    presented = RequestCredentials(scheme.lower(), credential.strip())
    if ahp_key is not None and presented != RequestCredentials(BEARER, ahp_key):
        raise NotAuthenticated(
            "Authorization and X-AHP-Key contain different credentials. Send one of them.",
            reason="conflicting",
        )
    return presented


def _only(headers: Headers, name: str) -> str | None:
    lines = headers.getall(name, [])
    if not lines:
        return None
    if len(lines) > 1:
        raise InvalidRequest(f"The header {name} must occur only once.", param=name)
    return lines[0].strip()
