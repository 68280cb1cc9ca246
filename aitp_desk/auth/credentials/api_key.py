"""API keys: ``desk_<id>_<secret>``.

The id (16 hexadecimal digits) finds the row and may be shown. The secret (64) is shown once, when
the key is made or rotated. The store keeps a keyed hash of the whole. A key is sent as
``Authorization: Bearer`` or as ``X-AHP-Key`` (AHP 0.1, section 8.2).
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Awaitable, Callable

from aitp_desk.auth.credentials.last_use import LastUse
from aitp_desk.auth.credentials.proof import Head, Proof, get_credential
from aitp_desk.auth.credentials.proof_cache import ProofCache
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.model.access.credential import CredentialMark
from aitp_desk.model.access.principal import KEY_PREFIX, ProvenBy, make_key_principal
from aitp_desk.model.error_kind import CredentialFault
from aitp_desk.model.errors import NotAuthenticated
from aitp_desk.store.records.keys import FormerSecret, Key

_API_KEY = re.compile(r"desk_([0-9a-f]{16})_[0-9a-f]{64}", re.ASCII)

MAX_KNOWN = 4096
"""How many recently verified keys are known as valid."""

_NOBODY = Key("", "", secrets.token_bytes(32), (), created_at=0, expires_at=0)
_NO_FORMER = FormerSecret(secrets.token_bytes(32), data_key=1, until=0)
"""Compared with a key that has no former secret: nothing hashes to it."""

FindKey = Callable[[str], Awaitable[Key | None]]
"""Finds the row of an API key by its id, revoked ones included."""


class ApiKeys:
    """The authentication method of API keys.

    Parameters:
        find: looks keys up in the store.
        verified: caches proofs.
        last_use: records when keys are used.
        clock: Unix seconds.
    """

    def __init__(
        self,
        find: FindKey,
        keys: DataKeys,
        verified: ProofCache,
        last_use: LastUse,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._find = find
        self._keys = keys
        self._verified = verified
        self._last_use = last_use
        self._clock = clock
        self._known: dict[str, None] = {}

    async def verify(self, head: Head) -> Proof:
        """Return the proof of a request's key.

        Raises:
            NotAuthenticated: the key is not valid.
        """
        credential = get_credential(head)
        proof = await self._verified.find(credential, self._look_up)
        self._last_use.note(proof.principal.id.removeprefix(KEY_PREFIX))
        return proof

    def knows(self, credential: str) -> bool:
        """Return whether a key was valid when it was last looked up here."""
        return credential in self._known

    async def still_holds(self, proof: Proof) -> bool:
        """Return whether the key is still valid with its scopes."""
        return await self._verified.is_still_valid(proof, self._look_up)

    async def _look_up(self, credential: str) -> Proof:
        row = await self._find(parse_api_key(credential))
        self._known.pop(credential, None)
        token, until = verify_api_key(credential, row, self._keys, self._clock())
        if len(self._known) >= MAX_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[credential] = None
        principal = make_key_principal(token.id, token.scopes, ProvenBy.API_KEY)
        is_present = matches_hash(credential, token.hash, token.data_key, self._keys)
        mark = CredentialMark(token.version if is_present else token.version - 1)
        return Proof(principal, self, credential, until, mark=mark)


def make_api_key(id_: str | None = None) -> tuple[str, str]:
    """Make a new key. Returns its id and the whole key.

    Parameters:
        id_: of a key that gets a new secret; None for a new key.
    """
    id_ = id_ or secrets.token_hex(8)
    return id_, f"{get_visible_prefix(id_)}{secrets.token_hex(32)}"


def get_visible_prefix(id_: str) -> str:
    """Return the visible prefix of a key, for which secret scanners can search."""
    return f"desk_{id_}_"


def parse_api_key(text: str) -> str:
    """Return the id within a key.

    Raises:
        NotAuthenticated: the text does not have the form of a key.
    """
    found = _API_KEY.fullmatch(text)
    if found is None:
        raise _unproven("malformed")
    return found[1]


def verify_api_key(
    text: str, token: Key | None, keys: DataKeys, now: float
) -> tuple[Key, float | None]:
    """Return a valid key's row, and its expiry; None for no expiry.

    It takes the same time for an unknown key, and compares in constant time.

    Parameters:
        text: the key as sent.
        token: the row with the key's id, None if there is none.
        now: Unix seconds.

    Raises:
        NotAuthenticated: the key is unknown, revoked or expired, its secret is wrong, or it is a
            signing key, which is never sent. The message does not say which.
    """
    kept = _NOBODY if token is None or token.kind != "api_key" else token
    former = kept.former_at(now) or _NO_FORMER
    is_present = matches_hash(text, kept.hash, kept.data_key, keys)
    is_former = matches_hash(text, former.hash, former.data_key, keys)
    if kept is _NOBODY:
        raise _unproven("unknown")
    if not (is_present or is_former):
        raise _unproven("unproven")
    if not kept.is_live(now):
        reason: CredentialFault = "expired" if kept.revoked_at is None else "revoked"
        raise _unproven(reason, f"{KEY_PREFIX}{kept.id}")
    ends = (kept.expires_at, None if is_present else former.until)
    return kept, min((end for end in ends if end is not None), default=None)


def matches_hash(text: str, hash_: bytes, data_key: int, keys: DataKeys) -> bool:
    """Return whether this is the hash of a key, compared in constant time."""
    is_known = data_key in keys.versions
    made = keys.hash_token(text, data_key if is_known else keys.newest)
    return hmac.compare_digest(made, hash_) and is_known


def _unproven(reason: CredentialFault, whose: str = "") -> NotAuthenticated:
    return NotAuthenticated(
        "The credential is not valid: it is malformed, unknown, expired or revoked. Send"
        " an API key of this desk as 'Authorization: Bearer desk_…', or send none to be"
        " anonymous.",
        reason=reason,
        whose=whose,
    )
