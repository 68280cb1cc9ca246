"""Authenticates agents that prove their domain by signing requests ("Web Bot Auth", RFC 9421).

Every owner of a domain can sign. So an agent has the scopes that the site's owner lists for its
domain; an unlisted one may do no more than anonymous callers, with the limits of its address. A
signature that does not cover method, URL and body could be moved to another request: it permits
threads alone. Each signature is accepted once.

``docs/build/authentication.md`` lists what is accepted. Source:
``draft-ietf-webbotauth-httpsig-protocol-00``.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from functools import partial

from aitp_desk.auth.credentials.nonces import NonceCache
from aitp_desk.auth.credentials.proof import Head, Proof
from aitp_desk.auth.credentials.rate import MinuteRate
from aitp_desk.auth.credentials.signed_request import get_path_and_query
from aitp_desk.auth.web_bot_auth.directories import KeyDirectories
from aitp_desk.auth.web_bot_auth.message_signature import (
    Request,
    SignatureClaim,
    covered_digest,
    covers_request,
    read_claim,
    verify_claim,
)
from aitp_desk.model.access.principal import AGENT_PREFIX, Principal, PrincipalKind, ProvenBy
from aitp_desk.model.errors import NotAuthenticated, RateLimited
from aitp_desk.model.text import write_count

MAX_TRIES = 6000
"""Signatures of unlisted agents per minute: verifying one takes several times as long as
responding."""
MAX_TRIES_PER_ADDRESS = 120
"""The same for one address; for listed agents, invalid and unreadable signatures count."""
SKEW_SECONDS = 30
"""How far ahead of the desk's clock a signature may have been made."""

_STRANGERS_SCOPES = frozenset({"threads"})
_NO_BODY = hashlib.sha256(b"").digest()


class SigningAgentsMethod:
    """The authentication method of signing agents.

    Parameters:
        site_url: the desk's own URL: signatures for another are invalid.
        listed: the scopes of listed agents, by origin.
        takes_others: whether unlisted agents are accepted.
        max_seconds: maximum validity of a signature.
        clock: Unix seconds.
        ticks: monotonic seconds.
    """

    def __init__(
        self,
        *,
        site_url: str,
        listed: Mapping[str, frozenset[str]],
        takes_others: bool,
        max_seconds: int,
        directories: KeyDirectories,
        nonces: NonceCache,
        clock: Callable[[], float],
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._site_url = site_url
        self._listed = listed
        self._takes_others = takes_others
        self._max_seconds = max_seconds
        self._directories = directories
        self._nonces = nonces
        self._clock = clock
        self._tries = MinuteRate(each=MAX_TRIES_PER_ADDRESS, together=MAX_TRIES, ticks=ticks)

    async def verify(self, head: Head, address: str) -> Proof | None:
        """Return the agent that signed a request.

        Parameters:
            address: the client's address.

        Returns:
            None if it is not signed by a method or an agent that the desk accepts.

        Raises:
            NotAuthenticated: the signature is not valid.
            RateLimited: too many such signatures come from this address, or in total.
            Unavailable: it cannot be verified now.
        """
        if self._tries.is_spent(address):
            raise self._too_many(address)
        try:
            claim = read_claim(head.headers)
        except NotAuthenticated:
            self._tries.take(address)
            raise
        if claim is None or (claim.origin not in self._listed and not self._takes_others):
            return None
        if claim.origin not in self._listed and not self._tries.take(address):
            raise self._too_many(address)
        try:
            return await self._verify(claim, head, address)
        except NotAuthenticated:
            if claim.origin in self._listed:
                self._tries.take(address)
            raise

    def _too_many(self, address: str) -> RateLimited:
        wait = self._tries.seconds_left(address)
        return RateLimited(
            "Too many signed requests came from your address or from unlisted agents. Try"
            f" again in {write_count(wait, 'second')}, or send the request without a signature.",
            scope="ip",
            retry_after=wait,
        )

    async def _verify(self, claim: SignatureClaim, head: Head, address: str) -> Proof:
        self._check_times(claim)
        key = await self._directories.find(claim.origin, claim.key_id, address)
        target = get_path_and_query(head.target)
        request = Request(head.method, f"{self._site_url}{target}", head.headers)
        covered = verify_claim(claim, key, request)
        digest = covered_digest(covered)
        is_whole = covers_request(covered, target) and (digest is not None or not _has_body(head))
        principal = self._principal(claim.origin, is_whole=is_whole)
        if digest is None and is_whole:
            digest = _NO_BODY
        nonce = claim.nonce or "\n".join(f"{name}: {value}" for name, value in covered.items())
        use = partial(self._nonces.use, principal.id, nonce, until=claim.expires)
        credential = f"{claim.origin} {claim.key_id}"
        return Proof(principal, self, credential, claim.expires, digest, (use,))

    async def still_holds(self, proof: Proof) -> bool:
        """Return whether the signature is still valid and its key published."""
        origin, _, key_id = proof.credential.partition(" ")
        is_over = proof.until is not None and self._clock() >= proof.until
        return not is_over and self._directories.still_has(origin, key_id)

    def _check_times(self, claim: SignatureClaim) -> None:
        now = self._clock()
        if not claim.created <= now + SKEW_SECONDS or not claim.created < claim.expires:
            raise NotAuthenticated(
                "The message signature's `created` is in the future, or not before its `expires`."
            )
        if claim.expires - claim.created > self._max_seconds:
            raise NotAuthenticated(
                f"A message signature must be valid for at most {self._max_seconds} seconds, from"
                " `created` to `expires`."
            )
        if now >= claim.expires:
            raise NotAuthenticated(
                f"The message signature expired {int(now) - claim.expires} seconds ago."
                " The Date header of this response has the desk's time."
            )

    def _principal(self, origin: str, *, is_whole: bool) -> Principal:
        """Return the agent with its scopes.

        Parameters:
            is_whole: whether its signature covers this request and no other.
        """
        listed = self._listed.get(origin)
        scopes = _STRANGERS_SCOPES if listed is None else listed
        return Principal(
            f"{AGENT_PREFIX}{origin.partition('://')[2]}",
            PrincipalKind.STRANGER if listed is None else PrincipalKind.AGENT,
            scopes if is_whole else scopes & _STRANGERS_SCOPES,
            "",
            proven_by=ProvenBy.MESSAGE_SIGNATURE,
        )


def _has_body(head: Head) -> bool:
    """Return whether the head announces a body."""
    lengths = head.headers.getall("Content-Length", [])
    return any(length.strip() != "0" for length in lengths) or bool(
        head.headers.getall("Transfer-Encoding", [])
    )
