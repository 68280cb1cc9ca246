"""Identifies the caller from the head of a request.

This is the only place that chooses the authentication method. A request without credentials is
anonymous; one with an invalid credential is refused and never treated as anonymous.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from aitp_desk.auth.credentials.address import ClientAddresses, Headers
from aitp_desk.auth.credentials.desk_chain import DESK_VIA, read_desk_chain
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
    """Verifies the message signatures of agents."""

    async def verify(self, head: Head, address: str) -> Proof | None:
        """Return the agent that signed a request; None if the desk ignores the signature.

        Raises:
            NotAuthenticated: the signature is not valid.
            Unavailable: it cannot be verified now.
        """


class _BodyCredentialHead(msgspec.Struct, frozen=True):
    """A request whose credential is in its body, as authentication methods read it."""

    headers: Headers
    presented: RequestCredentials
    method: str = "POST"
    target: str = ""


class CachingAuthMethod(AuthMethod, Protocol):
    """An authentication method that remembers which credentials were valid."""

    def knows(self, credential: str) -> bool:
        """Return whether this credential was valid when it was last looked up."""


class AuthMethods(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The authentication methods, one for each kind of credential.

    Parameters:
        api_keys: verifies API keys sent as bearer tokens.
        jwts: verifies JWTs sent as bearer tokens.
        links: verifies links that share a thread.
        signed_requests: verifies requests signed with a shared secret.
        sessions: verifies sessions of the console; None if there is none.
    """

    api_keys: CachingAuthMethod
    jwts: AuthMethod
    links: AuthMethod
    signed_requests: AuthMethod
    sessions: AuthMethod | None = None

    def choose_method(self, presented: RequestCredentials) -> AuthMethod:
        """Return the method that verifies a credential.

        Raises:
            NotAuthenticated: the desk knows no such credentials.
        """
        if presented.scheme == BEARER:
            # a key has no dots; text with dots receives the errors of a JWT
            return self.jwts if "." in presented.credential else self.api_keys
        if presented.scheme == GRANT:
            return self.links
        if presented.scheme == HMAC_SCHEME:
            return self.signed_requests
        if presented.scheme == SESSION and self.sessions is not None:
            return self.sessions
        raise NotAuthenticated(
            "The Authorization header must be 'Bearer' with an API key or a token, or"
            f" '{HMAC_SCHEME.upper()}' with the parameters of a signed request.",
            reason="malformed",
        )


class Identifier:
    """Identifies callers.

    Parameters:
        agents: verifies message signatures of agents; None to ignore them.
        guesses: limits failed lookups of API keys; None for no limit.
        trusted_proxies: networks whose ``X-Forwarded-For`` is trusted.
        desk_id: the desk's id in ``Desk-Via``.
        clock: Unix seconds.
    """

    def __init__(
        self,
        methods: AuthMethods,
        *,
        agents: SigningAgents | None = None,
        guesses: GuessLimiter | None = None,
        trusted_proxies: Sequence[str] = (),
        desk_id: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.addresses = ClientAddresses(trusted_proxies)
        self.clock = clock
        self._methods = methods
        self._agents = agents
        self._guesses = guesses
        self._desk_id = desk_id

    async def identify(self, head: Head, peer: str) -> Proof:
        """Return the caller, with its address.

        Parameters:
            peer: network address of the connection's other end.

        Raises:
            InvalidRequest: a header that must not be repeated is, or the request loops.
            NotAuthenticated: there are two different credentials, or an invalid one.
            RateLimited: too many invalid keys came from this address.
        """
        presented = head.presented
        if not isinstance(presented, RequestCredentials):
            raise presented.with_traceback(None)  # cached with this head, so raised repeatedly
        address = self.addresses.find(head.headers, peer)
        via = read_desk_chain(head, self._desk_id) if DESK_VIA in head.headers else ()
        proof = None
        if presented is not NO_CREDENTIALS:
            proof = await self._verify(head, presented, address)
        if proof is None:
            return Proof(make_anonymous(address, via))
        principal = msgspec.structs.replace(proof.principal, address=address, via=via)
        return msgspec.structs.replace(proof, principal=principal)

    async def identify_inside(self, headers: Headers, credential: str, address: str) -> Principal:
        """Return the caller whose key or token is in the body.

        Parameters:
            headers: of the request. A credential in them must be the same.
            address: the client's address, as found by :meth:`identify`.

        Raises:
            NotAuthenticated: there are two different credentials, or an invalid one.
            RateLimited: as for :meth:`identify`.
        """
        inside = RequestCredentials(BEARER, credential.strip())
        if read_credentials(headers) not in (NO_CREDENTIALS, inside):
            raise NotAuthenticated(
                "The header and the body contain different credentials. Send one of them.",
                reason="conflicting",
            )
        proof = await self._prove(_BodyCredentialHead(headers, inside), inside, address)
        for use in proof.replay_checks:
            await use()
        return msgspec.structs.replace(proof.principal, address=address)

    async def _verify(
        self, head: Head, presented: RequestCredentials, address: str
    ) -> Proof | None:
        """Return what a request proves; None for nothing.

        With a credential and a message signature, both must be valid. The credential identifies the
        caller.
        """
        proof = None if presented.scheme is None else await self._prove(head, presented, address)
        if not presented.is_signed or self._agents is None:
            return proof
        agent = await self._agents.verify(head, address)
        if proof is None or agent is None:
            return proof or agent
        digests = {proof.body_digest, agent.body_digest} - {None}
        if len(digests) > 1:
            raise NotAuthenticated("The two signatures of this request cover different bodies.")
        digest = digests.pop() if digests else None
        return msgspec.structs.replace(
            proof, body_digest=digest, replay_checks=proof.replay_checks + agent.replay_checks
        )

    async def _prove(self, head: Head, presented: RequestCredentials, address: str) -> Proof:
        method, guesses = self._methods.choose_method(presented), self._guesses
        api_keys = self._methods.api_keys
        is_known = method is not api_keys or api_keys.knows(presented.credential)
        if is_known or guesses is None:
            return await method.verify(head)
        guesses.check(address)
        try:
            return await method.verify(head)
        except NotAuthenticated:
            guesses.count_guess(address)
            raise

    async def still_holds(self, proof: Proof) -> bool:
        """Return whether a caller's credential is still valid."""
        return proof.way is None or await proof.way.still_holds(proof)
