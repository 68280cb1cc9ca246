"""Request head → who is calling: the one place that decides which proof is asked for.

None at all is an anonymous caller; a credential that proves nothing is refused, and never taken for
an anonymous caller's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from aitp_desk.auth.credentials.address import ClientAddresses, Headers
from aitp_desk.auth.credentials.guess_limiter import GuessLimiter
from aitp_desk.auth.credentials.proof import AuthMethod, Head, Proof
from aitp_desk.auth.credentials.request_credentials import (
    BEARER,
    GRANT,
    HMAC_SCHEME,
    NO_CREDENTIALS,
    SESSION,
    RequestCredentials,
    read_credentials,
)
from aitp_desk.model.access.principal import Principal, make_anonymous
from aitp_desk.model.errors import NotAuthenticated


class SigningAgents(Protocol):
    """What verifies the message signatures of agents."""

    async def verify(self, head: Head, address: str) -> Proof | None:
        """Return whose agent has signed a request; None where that is none of the desk's business.

        Raises:
            NotAuthenticated: the signature proves nothing.
            Unavailable: this cannot be found out now.
        """


class _BodyCredentialHead(msgspec.Struct, frozen=True):
    """A request whose credential stands in its body, as the ways look at it."""

    headers: Headers
    presented: RequestCredentials
    method: str = "POST"
    target: str = ""


class CachingAuthMethod(AuthMethod, Protocol):
    """A way that knows whose credentials were good when it looked them up."""

    def knows(self, credential: str) -> bool:
        """Whether this one was."""


class Identifier:
    """Tells who is calling.

    Parameters:
        api_keys: what verifies a bearer's API key.
        jwts: what verifies a bearer's JWT.
        links: what verifies a link by which a thread is shared.
        signed_requests: what verifies requests that are signed with a shared secret.
        agents: what verifies message signatures of agents; None where they are not looked at.
        sessions: what knows who has signed in to the operators' pages; None without these.
        guesses: bounds how many API keys are looked up in vain; None for no bound.
        trusted_proxies: networks whose ``X-Forwarded-For`` is believed.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        api_keys: CachingAuthMethod,
        jwts: AuthMethod,
        links: AuthMethod,
        signed_requests: AuthMethod,
        agents: SigningAgents | None = None,
        sessions: AuthMethod | None = None,
        guesses: GuessLimiter | None = None,
        trusted_proxies: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.addresses = ClientAddresses(trusted_proxies)
        self._api_keys = api_keys
        self._jwts = jwts
        self._links = links
        self.clock = clock
        self._signed_requests = signed_requests
        self._agents = agents
        self._sessions = sessions
        self._guesses = guesses

    async def identify(self, head: Head, peer: str) -> Proof:
        """Return who is calling, at their address.

        Parameters:
            peer: network address of the other end of the connection.

        Raises:
            InvalidRequest: a header that may stand once stands twice.
            NotAuthenticated: two different credentials, or one that proves nothing.
            RateLimited: too many keys that prove nothing came from there.
        """
        presented = head.presented
        if not isinstance(presented, RequestCredentials):
            raise presented.with_traceback(None)  # it is raised at each request with this head
        address = self.addresses.find(head.headers, peer)
        proof = None
        if presented is not NO_CREDENTIALS:
            proof = await self._verify(head, presented, address)
        if proof is None:
            return Proof(make_anonymous(address))
        principal = msgspec.structs.replace(proof.principal, address=address)
        return msgspec.structs.replace(proof, principal=principal)

    async def identify_inside(self, headers: Headers, credential: str, address: str) -> Principal:
        """Return who is calling whose key or token stands in the body, as some doors have it.

        Parameters:
            headers: the request's. A credential that stands there as well has to be the same.
            address: where the client is, as :meth:`identify` has found it.

        Raises:
            NotAuthenticated: two different credentials, or one that proves nothing.
            RateLimited: as :meth:`identify`.
        """
        inside = RequestCredentials(BEARER, credential.strip())
        if read_credentials(headers) not in (NO_CREDENTIALS, inside):
            raise NotAuthenticated(
                "The head and the body carry two different credentials; send one.",
                reason="conflicting",
            )
        proof = await self._prove(_BodyCredentialHead(headers, inside), inside, address)
        for use in proof.once:
            await use()
        return msgspec.structs.replace(proof.principal, address=address)

    async def _verify(
        self, head: Head, presented: RequestCredentials, address: str
    ) -> Proof | None:
        """What a request proves; None for nothing.

        Where a credential stands beside a message signature both must prove who is calling. Who
        that is the credential says.
        """
        proof = None if presented.scheme is None else await self._prove(head, presented, address)
        if not presented.is_signed or self._agents is None:
            return proof
        agent = await self._agents.verify(head, address)
        if proof is None or agent is None:
            return proof or agent
        digests = {proof.body_digest, agent.body_digest} - {None}
        if len(digests) > 1:
            raise NotAuthenticated("The two signatures of this request are about two bodies.")
        digest = digests.pop() if digests else None
        return msgspec.structs.replace(proof, body_digest=digest, once=proof.once + agent.once)

    async def _prove(self, head: Head, presented: RequestCredentials, address: str) -> Proof:
        way, guesses = self._way(presented), self._guesses
        is_known = way is not self._api_keys or self._api_keys.knows(presented.credential)
        if is_known or guesses is None:
            return await way.verify(head)
        guesses.check(address)
        try:
            return await way.verify(head)
        except NotAuthenticated:
            guesses.count_guess(address)
            raise

    async def still_holds(self, proof: Proof) -> bool:
        """Whether a caller would still be let in by what they have shown."""
        return proof.way is None or await proof.way.still_holds(proof)

    def _way(self, presented: RequestCredentials) -> AuthMethod:
        if presented.scheme == BEARER:
            # a key has no dots, and whatever has some shall hear what is wrong with it as a JWT
            return self._jwts if "." in presented.credential else self._api_keys
        if presented.scheme == GRANT:
            return self._links
        if presented.scheme == HMAC_SCHEME:
            return self._signed_requests
        if presented.scheme == SESSION and self._sessions is not None:
            return self._sessions
        raise NotAuthenticated(
            "The Authorization header must read 'Bearer' and an API key or a token, or"
            f" '{HMAC_SCHEME.upper()}' and the parameters of a signed request.",
            reason="malformed",
        )
