"""Links: whom they let in, and for how long."""

from __future__ import annotations

import msgspec
import pytest
from multidict import CIMultiDict

from aitp_desk.auth.credentials.grant_links import GrantLinks
from aitp_desk.auth.credentials.request_credentials import (
    GRANT,
    RequestCredentials,
    read_credentials,
)
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.model.access.grant import Grant, GrantLevel, make_link_secret
from aitp_desk.model.access.principal import PrincipalKind, ProvenBy, may_use_threads
from aitp_desk.model.errors import InvalidRequest, NotAuthenticated

KEYS = DataKeys({1: bytes(32)})
LINK = f"link_{'aB3-_' * 8}xyz"
OTHER = f"link_{'z' * 43}"


class Head(msgspec.Struct):
    """The head of a request."""

    headers: CIMultiDict[str]
    presented: RequestCredentials
    method: str = "GET"
    target: str = "/"


class Shared:
    """Grants in memory, and a clock."""

    def __init__(self, expires_at: int | None = None) -> None:
        self.now = 1000.0
        grant = Grant("grant_1", "thread_1", "link:grant_1", GrantLevel.READ, 900, expires_at)
        self.grants = {KEYS.hash_link(LINK): grant}
        self.links = GrantLinks(self._find, KEYS.hash_link, lambda: self.now)

    async def _find(self, hash: bytes) -> Grant | None:
        return self.grants.get(hash)


def present(*lines: tuple[str, str]) -> Head:
    headers = CIMultiDict(lines)
    return Head(headers, read_credentials(headers))


async def test_a_links_holder_is_known_by_the_grant_and_nothing_else() -> None:
    proof = await Shared().links.verify(present(("Desk-Grant", f" {LINK} ")))
    principal = proof.principal
    assert (principal.id, principal.kind) == ("link:grant_1", PrincipalKind.ANONYMOUS)
    assert (principal.is_guest, principal.owner, principal.name) == (True, None, "guest-nk:grant_1")
    assert principal.proven_by is ProvenBy.LINK
    assert may_use_threads(principal)


@pytest.mark.parametrize("secret", ["", "link_", OTHER, LINK[:-1], f"{LINK}x", LINK.upper()])
async def test_what_is_no_link_proves_nothing(secret: str) -> None:
    with pytest.raises(NotAuthenticated) as refused:
        await Shared().links.verify(present(("Desk-Grant", secret)))
    assert LINK not in refused.value.message


async def test_a_link_that_is_revoked_proves_nothing_from_then_on() -> None:
    shared = Shared()
    proof = await shared.links.verify(present(("Desk-Grant", LINK)))
    assert await shared.links.still_holds(proof)
    shared.grants.clear()
    assert not await shared.links.still_holds(proof)
    with pytest.raises(NotAuthenticated):
        await shared.links.verify(present(("Desk-Grant", LINK)))


async def test_a_link_holds_until_it_expires() -> None:
    shared = Shared(expires_at=1001)
    proof = await shared.links.verify(present(("Desk-Grant", LINK)))
    assert proof.until == 1001
    shared.now = 1001
    assert not await shared.links.still_holds(proof)
    with pytest.raises(NotAuthenticated):
        await shared.links.verify(present(("Desk-Grant", LINK)))


def test_a_link_stands_once_and_alone() -> None:
    assert read_credentials(CIMultiDict({"desk-grant": LINK})) == RequestCredentials(GRANT, LINK)
    with pytest.raises(InvalidRequest):
        read_credentials(CIMultiDict([("Desk-Grant", LINK), ("Desk-Grant", LINK)]))
    for name, value in (("Authorization", "Bearer desk_1"), ("X-AHP-Key", "desk_1")):
        with pytest.raises(NotAuthenticated, match="not both"):
            read_credentials(CIMultiDict([("Desk-Grant", LINK), (name, value)]))


def test_no_two_links_are_equal() -> None:
    assert len({make_link_secret() for _ in range(100)}) == 100
    assert len(make_link_secret()) == len(LINK) == len("link_") + 43  # 256 bits in base64
