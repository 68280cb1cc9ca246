"""API keys: ``desk_<id>_<secret>``.

The id (16 hexadecimal digits) finds the row and may be shown; the secret (64) is shown once, when
the key is made. The store keeps a keyed hash of the whole. A key is sent as ``Authorization:
Bearer`` or as ``X-AHP-Key`` (AHP 0.1, section 8.2).
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable

from aitp_desk.auth.data_keys import DataKeys
from aitp_desk.auth.presented import Presented
from aitp_desk.auth.proof import Head, Proof
from aitp_desk.auth.verified import Verified
from aitp_desk.model.errors import InvalidRequest, NotAuthenticated, Refusal
from aitp_desk.model.principal import KEY_PREFIX, ProvenBy, principal_of_key
from aitp_desk.store.records import Token

SCOPES = ("threads", "actions", "operator", "admin")
"""What a key may open; ``actions:<name>`` opens one action."""

_API_KEY = re.compile(r"desk_([0-9a-f]{16})_[0-9a-f]{64}", re.ASCII)
_ONE_ACTION = re.compile(r"actions:[a-z][a-z0-9_]{0,63}", re.ASCII)


FindToken = Callable[[str], Awaitable[Token | None]]
"""Finds the row of an API key by its id, revoked ones included."""


class ApiKeys:
    """The way of API keys.

    Parameters:
        find: where keys are kept.
        keys: the desk's data keys.
        verified: remembers what was looked up.
    """

    def __init__(self, find: FindToken, keys: DataKeys, verified: Verified) -> None:
        self._find = find
        self._keys = keys
        self._verified = verified

    async def verify(self, head: Head) -> Proof:
        """Return whose key a request carries.

        Raises:
            NotAuthenticated: it proves nothing.
        """
        presented = head.presented
        credential = presented.credential if isinstance(presented, Presented) else ""
        return await self._verified.find(credential, self._look_up)

    async def still_holds(self, proof: Proof) -> bool:
        """Whether the key still opens what it opened."""
        try:
            again = await self._verified.find(proof.credential, self._look_up)
        except NotAuthenticated:
            return False
        return again.principal.scopes >= proof.principal.scopes

    async def _look_up(self, credential: str) -> Proof:
        row = await self._find(parse_api_key(credential))
        token = verify_api_key(credential, row, self._keys)
        principal = principal_of_key(token.id, token.scopes, ProvenBy.API_KEY)
        return Proof(principal, self, credential)


def make_api_key() -> tuple[str, str]:
    """Make a new key. Returns its id and the whole key."""
    id_ = secrets.token_hex(8)
    return id_, f"desk_{id_}_{secrets.token_hex(32)}"


def parse_api_key(text: str) -> str:
    """Return the id within a key.

    Raises:
        NotAuthenticated: the text has not the form of a key.
    """
    found = _API_KEY.fullmatch(text)
    if found is None:
        raise _unproven("malformed")
    return found[1]


def verify_api_key(text: str, token: Token | None, keys: DataKeys) -> Token:
    """Return the row that a key proves, comparing in constant time.

    Parameters:
        text: the key as it was sent.
        token: the row with the key's id, None where there is none.

    Raises:
        NotAuthenticated: there is no such key, it was revoked, or its secret is another. Which of
            these is not told.
    """
    if token is None:
        raise _unproven("unknown")
    if not hmac.compare_digest(keys.hash_token(text, token.data_key), token.hash):
        raise _unproven("unproven")
    if token.revoked_at is not None:
        raise _unproven("revoked", f"{KEY_PREFIX}{token.id}")
    return token


def check_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes, each once, in their order.

    Raises:
        InvalidRequest: one of them does not exist, or there is none.
    """
    checked = tuple(dict.fromkeys(scopes))
    if not checked:
        raise InvalidRequest(f"A key needs a scope: {_scopes_in_words()}.", param="scope")
    for scope in checked:
        if not is_scope(scope):
            raise InvalidRequest(
                f"There is no scope {scope!r}; the scopes are {_scopes_in_words()}.", param="scope"
            )
    return checked


def is_scope(text: str) -> bool:
    """Whether there is such a scope."""
    return text in SCOPES or _ONE_ACTION.fullmatch(text) is not None


def _scopes_in_words() -> str:
    return f"{', '.join(SCOPES)} and actions:<name>"


def _unproven(reason: Refusal, whose: str = "") -> NotAuthenticated:
    return NotAuthenticated(
        "The credential proves nothing: it is malformed, unknown or revoked. Send an API key of"
        " this desk as 'Authorization: Bearer desk_…', or no credential to ask anonymously.",
        reason=reason,
        whose=whose,
    )
