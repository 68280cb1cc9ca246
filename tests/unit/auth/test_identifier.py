"""Who is calling: credentials, their absence, and how fast a revoked one stops to work."""

import asyncio

import msgspec
import pytest
from multidict import CIMultiDict

from aitp_desk.auth.credentials.api_key import ApiKeys, make_api_key
from aitp_desk.auth.credentials.grant_links import GrantLinks
from aitp_desk.auth.credentials.guess_limiter import MOST_A_MINUTE, GuessLimiter
from aitp_desk.auth.credentials.last_use import LastUse
from aitp_desk.auth.credentials.proof_cache import (
    EPOCH_SECONDS,
    MAX_VERIFIED,
    CredentialEpoch,
    ProofCache,
)
from aitp_desk.auth.credentials.request_credentials import RequestCredentials, read_credentials
from aitp_desk.auth.identifier import AuthMethods, Identifier
from aitp_desk.auth.jwt.bearer import BearerTokens
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.model.access.grant import Grant
from aitp_desk.model.access.principal import Principal, PrincipalKind, ProvenBy, make_anonymous
from aitp_desk.model.errors import InvalidRequest, NotAuthenticated, RateLimited
from aitp_desk.store.records.keys import Key

KEYS = DataKeys({1: bytes(32)})
PEER = "203.0.113.7"


class Rows:
    """API keys in memory, with a count of the look-ups."""

    def __init__(self) -> None:
        self.rows: dict[str, Key] = {}
        self.number = 0
        self.looked_up = 0
        self.used: list[tuple[str, int]] = []
        self.asked = asyncio.Queue[str]()
        self.answering = asyncio.Event()
        self.answering.set()

    async def token(self, id: str, /) -> Key | None:
        self.looked_up += 1
        found = self.rows.get(id)
        self.asked.put_nowait(id)
        await self.answering.wait()
        return found

    async def grant(self, _hash: bytes, /) -> Grant | None:
        return None

    async def epoch(self) -> int:
        return self.number

    def add(self, *scopes: str) -> str:
        id_, text = make_api_key()
        self.rows[id_] = Key(
            id=id_, name=id_, hash=KEYS.hash_token(text, 1), scopes=scopes, created_at=1
        )
        return text

    def revoke(self, text: str) -> None:
        del self.rows[text.split("_")[1]]
        self.number += 1


class Clock:
    """Seconds that pass when told."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def rows() -> Rows:
    return Rows()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def identifier(rows: Rows, clock: Clock) -> Identifier:
    verified = ProofCache(CredentialEpoch(rows.epoch, clock))
    last_use = LastUse(lambda id_, used_at: rows.used.append((id_, used_at)), clock)
    keys = ApiKeys(rows.token, KEYS, verified, last_use, clock)
    methods = AuthMethods(
        api_keys=keys,
        jwts=BearerTokens((), verified, clock),
        links=GrantLinks(rows.grant, KEYS.hash_link, clock),
        signed_requests=keys,
    )
    return Identifier(methods, trusted_proxies=["10.0.0.0/8"])


class Head(msgspec.Struct):
    """The head of a request."""

    headers: CIMultiDict[str]
    presented: RequestCredentials
    method: str = "GET"
    target: str = "/"


async def identify(identifier: Identifier, *lines: tuple[str, str], peer: str = PEER) -> Principal:
    headers = CIMultiDict(lines)
    proof = await identifier.identify(Head(headers, read_credentials(headers)), peer)
    return proof.principal


async def test_no_credential_is_an_anonymous_caller(identifier: Identifier) -> None:
    assert await identify(identifier) == make_anonymous(PEER)


@pytest.mark.parametrize(
    "line",
    [
        ("Authorization", "Bearer {}"),
        ("authorization", "bearer {}"),
        ("Authorization", "BEARER   {} "),
        ("X-AHP-Key", "{}"),
        ("x-ahp-key", " {}"),
    ],
)
async def test_a_key_proves_its_caller(
    rows: Rows, identifier: Identifier, line: tuple[str, str]
) -> None:
    text = rows.add("threads", "actions")
    name, value = line
    principal = await identify(identifier, (name, value.format(text)))
    assert principal == Principal(
        f"key:{text.split('_')[1]}",
        PrincipalKind.AGENT,
        frozenset({"threads", "actions"}),
        PEER,
        proven_by=ProvenBy.API_KEY,
    )


@pytest.mark.parametrize("scope", ["operator", "admin"])
async def test_a_key_for_operating_proves_an_operator(
    rows: Rows, identifier: Identifier, scope: str
) -> None:
    principal = await identify(identifier, ("X-AHP-Key", rows.add(scope)))
    assert principal.kind is PrincipalKind.OPERATOR


async def test_the_same_key_in_both_headers_is_one_credential(
    rows: Rows, identifier: Identifier
) -> None:
    text = rows.add("threads")
    principal = await identify(identifier, ("Authorization", f"Bearer {text}"), ("X-AHP-Key", text))
    assert principal.kind is PrincipalKind.AGENT


async def test_two_different_credentials_are_refused(rows: Rows, identifier: Identifier) -> None:
    lines = ("Authorization", f"Bearer {rows.add()}"), ("X-AHP-Key", rows.add())
    with pytest.raises(NotAuthenticated, match="contain different credentials"):
        await identify(identifier, *lines)


@pytest.mark.parametrize("name", ["Authorization", "X-AHP-Key"])
async def test_a_credential_header_that_stands_twice_is_not_understood(
    rows: Rows, identifier: Identifier, name: str
) -> None:
    line = (name, f"Bearer {rows.add()}")
    with pytest.raises(InvalidRequest, match="only once") as caught:
        await identify(identifier, line, line)
    assert caught.value.param == name


@pytest.mark.parametrize(
    "line",
    [
        ("Authorization", ""),
        ("Authorization", "Bearer"),
        ("Authorization", "Bearer "),
        ("Authorization", "Basic dXNlcjpwYXNz"),
        ("Authorization", "Bearer sk-something"),
        ("Authorization", f"Bearer {make_api_key()[1]}"),
        ("Authorization", make_api_key()[1]),
        ("X-AHP-Key", ""),
        ("X-AHP-Key", make_api_key()[1]),
    ],
)
async def test_a_credential_that_proves_nothing_is_never_an_anonymous_caller(
    identifier: Identifier, line: tuple[str, str]
) -> None:
    with pytest.raises(NotAuthenticated) as caught:
        await identify(identifier, line)
    assert line[1].rpartition("_")[2] not in caught.value.message or "_" not in line[1]


async def test_a_verified_key_is_not_looked_up_again(rows: Rows, identifier: Identifier) -> None:
    line = ("X-AHP-Key", rows.add("threads"))
    first = await identify(identifier, line)
    assert await identify(identifier, line) == first
    assert rows.looked_up == 1


async def test_a_remembered_key_takes_the_address_of_each_request(
    rows: Rows, identifier: Identifier
) -> None:
    line = ("X-AHP-Key", rows.add("threads"))
    await identify(identifier, line)
    behind = ("X-Forwarded-For", "198.51.100.9")
    assert (await identify(identifier, line, behind, peer="10.0.0.1")).address == "198.51.100.9"


async def test_a_revoked_key_is_refused_within_a_second(
    rows: Rows, identifier: Identifier, clock: Clock
) -> None:
    text, other = rows.add("threads"), rows.add("threads")
    for key in (text, other):
        await identify(identifier, ("X-AHP-Key", key))
    rows.revoke(text)
    assert EPOCH_SECONDS < 1
    clock.now += EPOCH_SECONDS
    with pytest.raises(NotAuthenticated):
        await identify(identifier, ("X-AHP-Key", text))
    assert (await identify(identifier, ("X-AHP-Key", other))).kind is PrincipalKind.AGENT


async def test_a_key_revoked_while_it_was_looked_up_is_not_remembered(
    rows: Rows, identifier: Identifier, clock: Clock
) -> None:
    text, other = rows.add("threads"), rows.add("threads")
    await identify(identifier, ("X-AHP-Key", other))
    await rows.asked.get()
    rows.answering.clear()
    waiting = asyncio.create_task(identify(identifier, ("X-AHP-Key", text)))
    await rows.asked.get()
    rows.revoke(text)
    clock.now += EPOCH_SECONDS
    refreshing = asyncio.create_task(identify(identifier, ("X-AHP-Key", other)))
    await rows.asked.get()
    rows.answering.set()
    await asyncio.gather(waiting, refreshing)
    with pytest.raises(NotAuthenticated):
        await identify(identifier, ("X-AHP-Key", text))


async def test_only_so_many_keys_are_remembered(
    rows: Rows, identifier: Identifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_VERIFIED >= 1024
    monkeypatch.setattr("aitp_desk.auth.credentials.proof_cache.MAX_VERIFIED", 2)
    keys = [("X-AHP-Key", rows.add("threads")) for _ in range(3)]
    for line in keys:
        await identify(identifier, line)
    await identify(identifier, keys[2])
    assert rows.looked_up == 3
    await identify(identifier, keys[0])
    assert rows.looked_up == 4


async def test_the_use_of_a_key_is_noted_once_a_minute(
    rows: Rows, identifier: Identifier, clock: Clock
) -> None:
    one, other = rows.add("threads"), rows.add("threads")
    for seconds in (0, 1, 58.9, 0.2, 59.9, 0.1):
        clock.now += seconds
        await identify(identifier, ("X-AHP-Key", one))
    await identify(identifier, ("X-AHP-Key", other))
    with pytest.raises(NotAuthenticated):
        await identify(identifier, ("X-AHP-Key", other[:-1] + ("0" if other[-1] != "0" else "1")))
    first, second = one.split("_")[1], other.split("_")[1]
    assert rows.used == [(first, 1000), (first, 1060), (first, 1120), (second, 1120)]


async def test_a_key_ends_at_its_time_however_well_it_is_remembered(
    rows: Rows, identifier: Identifier, clock: Clock
) -> None:
    text = rows.add("threads")
    id_ = text.split("_")[1]
    rows.rows[id_] = msgspec.structs.replace(rows.rows[id_], expires_at=1010)
    clock.now = 1009.9
    await identify(identifier, ("X-AHP-Key", text))
    clock.now = 1010.0
    with pytest.raises(NotAuthenticated):
        await identify(identifier, ("X-AHP-Key", text))


async def test_what_proves_nothing_is_looked_up_so_often_for_one_address_and_no_more(
    rows: Rows, clock: Clock
) -> None:
    verified = ProofCache(CredentialEpoch(rows.epoch, clock))
    keys = ApiKeys(rows.token, KEYS, verified, LastUse(lambda *_: None, clock), clock)
    methods = AuthMethods(api_keys=keys, jwts=keys, links=keys, signed_requests=keys)
    identifier = Identifier(methods, guesses=GuessLimiter(clock), clock=clock)
    known, late = rows.add("threads"), rows.add("threads")
    await identify(identifier, ("X-AHP-Key", known))
    for _ in range(MOST_A_MINUTE):
        with pytest.raises(NotAuthenticated):
            await identify(identifier, ("X-AHP-Key", make_api_key()[1]))
    looked_up = rows.looked_up
    for text in (make_api_key()[1], late):
        with pytest.raises(RateLimited) as caught:
            await identify(identifier, ("X-AHP-Key", text))
        assert caught.value.retry_after == 60
    await identify(identifier, ("X-AHP-Key", known))
    assert rows.looked_up == looked_up
    await identify(identifier, ("X-AHP-Key", late), peer="203.0.113.8")
    clock.now += 60
    await identify(identifier, ("X-AHP-Key", late))
