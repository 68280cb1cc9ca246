"""Request parts → :class:`Principal`: the one place that looks at credentials.

A credential stands in ``Authorization: Bearer`` or in ``X-AHP-Key`` (AHP 0.1, section 8.2), never
in a URL. None at all is an anonymous caller; one that proves nothing is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from aitp_desk.auth.address import ClientAddresses, Headers
from aitp_desk.auth.api_key import parse_api_key, verify_api_key
from aitp_desk.auth.keys import MasterKey
from aitp_desk.model.errors import InvalidRequest, NotAuthenticated
from aitp_desk.model.principal import KEY_PREFIX, Principal, PrincipalKind, anonymous
from aitp_desk.store.records import Token

EPOCH_SECONDS = 0.5
"""How old the known epoch may be. A revoked key is refused within a second; this leaves margin."""
MAX_VERIFIED = 4096
"""How many verified keys are remembered."""


class Tokens(Protocol):
    """What identifying needs of the store."""

    async def token(self, id: str, /) -> Token | None:
        """Return the row of an API key, revoked ones included."""

    async def epoch(self) -> int:
        """Return the number that grows whenever a key is revoked."""


class Identifier:
    """Tells who is calling.

    A key that was verified is remembered, whole, until the ``tokens`` epoch changes; what was
    looked up before a change is never remembered after it.

    Parameters:
        tokens: where API keys are kept.
        key: the desk's master key.
        trusted_proxies: networks whose ``X-Forwarded-For`` is believed.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        tokens: Tokens,
        key: MasterKey,
        *,
        trusted_proxies: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.addresses = ClientAddresses(trusted_proxies)
        self._tokens = tokens
        self._key = key
        self._clock = clock
        self._verified: dict[str, Principal] = {}
        self._epoch: int | None = None
        self._epoch_read_at = 0.0

    async def identify(self, headers: Headers, peer: str) -> Principal:
        """Return who is calling.

        Parameters:
            headers: the request's headers.
            peer: network address of the other end of the connection.

        Raises:
            InvalidRequest: a header that may stand once stands twice.
            NotAuthenticated: two different credentials, or one that proves nothing.
        """
        address = self.addresses.find(headers, peer)
        credential = read_credential(headers)
        if credential is None:
            return anonymous(address)
        known = await self._verify(credential)
        return Principal(known.id, known.kind, known.scopes, address)

    async def _verify(self, credential: str) -> Principal:
        """Return whose key it is, at no address."""
        now = self._clock()
        if self._epoch is None or now - self._epoch_read_at >= EPOCH_SECONDS:
            epoch = await self._tokens.epoch()
            if epoch != self._epoch:
                self._verified.clear()
            self._epoch, self._epoch_read_at = epoch, now
        known = self._verified.get(credential)
        if known is not None:
            return known
        epoch = self._epoch
        row = await self._tokens.token(parse_api_key(credential))
        known = _principal(verify_api_key(credential, row, self._key))
        if epoch == self._epoch:
            if len(self._verified) >= MAX_VERIFIED:
                del self._verified[next(iter(self._verified))]
            self._verified[credential] = known
        return known


def _principal(token: Token) -> Principal:
    scopes = frozenset(token.scopes)
    operates = not scopes.isdisjoint({"operator", "admin"})
    kind = PrincipalKind.OPERATOR if operates else PrincipalKind.AGENT
    return Principal(f"{KEY_PREFIX}{token.id}", kind, scopes, address="")


def read_credential(headers: Headers) -> str | None:
    """Return the credential that a request carries, None when it carries none.

    Raises:
        InvalidRequest: a header that may stand once stands twice.
        NotAuthenticated: two different credentials, or a scheme other than Bearer.
    """
    authorization = _only(headers, "Authorization")
    ahp_key = _only(headers, "X-AHP-Key")
    if authorization is None:
        return ahp_key
    scheme, _, bearer = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise NotAuthenticated("The Authorization header must read 'Bearer' and an API key.")
    bearer = bearer.strip()
    if ahp_key is not None and ahp_key != bearer:
        raise NotAuthenticated(
            "Authorization and X-AHP-Key carry two different credentials; send one."
        )
    return bearer


def _only(headers: Headers, name: str) -> str | None:
    lines = headers.getall(name, [])
    if not lines:
        return None
    if len(lines) > 1:
        raise InvalidRequest(f"The header {name} may stand only once.", param=name)
    return lines[0].strip()
