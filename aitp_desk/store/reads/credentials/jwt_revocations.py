"""Reads revocations of tokens that other issuers signed."""

from __future__ import annotations

from typing import Literal

import msgspec

from aitp_desk.store.base import Store

Claim = Literal["jti", "sub"]


class Revocation(msgspec.Struct, frozen=True):
    """A revocation of tokens of an issuer.

    Parameters:
        issuer: the name that the site's owner gave it.
        claim: ``jti`` for the token with this id; ``sub`` for all tokens about a subject that were
            issued until then.
        value: of that claim.
        revoked_at: Unix seconds.
    """

    issuer: str
    claim: Claim
    value: str
    revoked_at: int


async def is_revoked(
    store: Store,
    issuer: str,
    *,
    token_id: str | None,
    subject: str,
    issued_at: int,
    leeway: int,
) -> bool:
    """Return whether a token was revoked, by its id or its subject.

    Parameters:
        issuer: the name that the site's owner gave it.
        token_id: its ``jti``; None for none.
        issued_at: Unix seconds, by the issuer's clock.
        leeway: seconds by which that clock may differ: tokens issued so soon after their
            revocation, by their claim, may have been issued before it.
    """
    if token_id is not None and await _revoked_at(store, issuer, "jti", token_id) is not None:
        return True
    until = await _revoked_at(store, issuer, "sub", subject)
    return until is not None and issued_at <= until + leeway


async def _revoked_at(store: Store, issuer: str, claim: Claim, value: str) -> int | None:
    rows = await store.read("jwts_revoked_at", {"issuer": issuer, "claim": claim, "value": value})
    return rows[0][0] if rows else None
