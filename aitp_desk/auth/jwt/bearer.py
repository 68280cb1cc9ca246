"""Authenticates ``Authorization: Bearer`` with a JWT of an issuer that the owner configured.

Cheap checks come first: issuer, audience, expiry. Only then is a key looked up, and only where the
owner allows. An error names the broken rule and repeats nothing of the token.

Sources: RFC 6750 (bearer tokens), RFC 7519, section 7.2, RFC 8725 (best current practices), RFC
9068, section 4 (JWTs as access tokens).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from aitp_desk.auth.credentials.proof import Head, Proof, get_credential
from aitp_desk.auth.credentials.proof_cache import ProofCache
from aitp_desk.auth.jwt.claims import read_claims
from aitp_desk.auth.jwt.compact import CompactToken, read_compact
from aitp_desk.auth.jwt.issuers import Issuer
from aitp_desk.model.access.credential import CredentialMark
from aitp_desk.model.errors import TokenRefused


class BearerTokens:
    """The authentication method of JWTs.

    Parameters:
        issuers: the trusted issuers.
        verified: caches proofs.
        clock: Unix seconds.
    """

    def __init__(
        self, issuers: Iterable[Issuer], verified: ProofCache, clock: Callable[[], float]
    ) -> None:
        self._issuers = {issuer.url: issuer for issuer in issuers}
        self._verified = verified
        self._clock = clock

    async def verify(self, head: Head) -> Proof:
        """Return the proof of a request's token.

        Raises:
            TokenRefused: the token is not valid.
            Unavailable: the keys of its issuer cannot be fetched now.
        """
        return await self._verified.find(get_credential(head), self._prove)

    async def still_holds(self, proof: Proof) -> bool:
        """Return whether the token is still valid with its scopes, and not expired."""
        return await self._verified.is_still_valid(proof, self._prove)

    async def _prove(self, credential: str) -> Proof:
        token = read_compact(credential)
        issuer = self._issuer_of(token)
        claims = read_claims(token.claims, issuer.bounds, self._clock())
        await _check_signature(token, issuer)
        principal, until = await issuer.introduce(claims), claims.ends_at
        mark = CredentialMark(token_id=claims.token_id, issued_at=claims.issued_at)
        if issuer.use is None:
            return Proof(principal, self, credential, until, mark=mark)
        if claims.token_id is None:
            raise TokenRefused(
                "The token has no jti, but its issuer's tokens are valid for one request each."
            )
        replay_checks = (partial(issuer.use, claims),)
        return Proof(principal, self, credential, until, replay_checks=replay_checks, mark=mark)

    def _issuer_of(self, token: CompactToken) -> Issuer:
        named = token.claims.get("iss")
        issuer = self._issuers.get(named) if isinstance(named, str) else None
        if issuer is None:
            raise TokenRefused("The token's issuer (iss) is not accepted by this desk.")
        if token.algorithm not in issuer.algorithms:
            raise TokenRefused(
                "The token's alg must be one that its issuer uses:"
                f" {', '.join(sorted(issuer.algorithms))}."
            )
        if token.type not in issuer.types:
            raise TokenRefused("The token's typ is not accepted as a caller's credential.")
        return issuer


async def _check_signature(token: CompactToken, issuer: Issuer) -> None:
    key = await issuer.keys.find(token.key_id, token.algorithm)
    if key is None:
        raise TokenRefused(
            "The token's signature cannot be checked: its issuer has no key of this kid and alg."
        )
    key.check(token)
