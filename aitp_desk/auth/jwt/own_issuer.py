"""The desk as one of its token issuers, with local keys and clients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from aitp_desk.auth.jwt.claims import ClaimRules, Claims
from aitp_desk.auth.jwt.issuance import ALGORITHM, TYPE
from aitp_desk.auth.jwt.issuers import Issuer
from aitp_desk.auth.jwt.jwk import VerifyingKey, find_key
from aitp_desk.auth.jwt.signing_keys import SigningKeys
from aitp_desk.config.sections.access.oauth import LONGEST_TOKEN_SECONDS
from aitp_desk.model.access.principal import (
    CLIENT_PREFIX,
    Principal,
    PrincipalKind,
    ProvenBy,
    find_kind,
)
from aitp_desk.model.errors import TokenRefused
from aitp_desk.store.base import Store
from aitp_desk.store.reads.credentials import clients as client_reads

Clock = Callable[[], float]


class OwnIssuerKeys:
    """The public halves of the keys that sign the desk's tokens.

    They are read once for each token; the proof is then cached.
    """

    def __init__(self, store: Store, keys: SigningKeys, clock: Clock) -> None:
        self._store = store
        self._keys = keys
        self._clock = clock

    async def find(self, key_id: str | None, algorithm: str) -> VerifyingKey | None:
        """Return the key that a token names; None if it is no longer published."""
        later = await client_reads.signing_keys(self._store)
        published = [
            VerifyingKey(pair.id, ALGORITHM, pair.private.public_key())
            for pair in self._keys.list_published(later, self._clock())
        ]
        return find_key(published, key_id, algorithm)


def make_own_issuer(*, store: Store, keys: SigningKeys, url: str, clock: Clock) -> Issuer:
    """Make the desk an issuer whose tokens it accepts.

    A token is valid as long as its client: revoking a client ends its tokens.

    Parameters:
        keys: the signing keys.
        url: the public URL of the desk, which is the tokens' issuer and audience.
        clock: Unix seconds, the clock that signs the tokens.
    """
    return Issuer(
        url=url,
        algorithms=frozenset({ALGORITHM}),
        keys=OwnIssuerKeys(store, keys, clock),
        bounds=ClaimRules(audience=url, leeway=0, max_lifetime=LONGEST_TOKEN_SECONDS),
        types=frozenset({TYPE}),
        introduce=partial(_introduce, store, clock),
    )


async def _introduce(store: Store, clock: Clock, claims: Claims) -> Principal:
    """Return the caller of a token. Its scopes were settled when it was signed.

    Registration of clients is open and unlimited: such clients share their address's limits.
    """
    client = await client_reads.client(store, claims.subject)
    if client is None or not client.is_live(clock()):
        raise TokenRefused(
            "The client of this token was revoked or has expired.",
            reason="revoked",
            whose=f"{CLIENT_PREFIX}{claims.subject}",
        )
    scopes = frozenset(claims.scopes)
    kind = PrincipalKind.STRANGER if client.is_registered else find_kind(scopes)
    return Principal(f"{CLIENT_PREFIX}{client.id}", kind, scopes, "", proven_by=ProvenBy.JWT)
