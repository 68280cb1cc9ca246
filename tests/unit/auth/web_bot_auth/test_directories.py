"""Key directories of agents: how often they are fetched, for whom, and what is kept of them."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.auth.jwt.jwk import make_thumbprint
from aitp_desk.auth.web_bot_auth.directories import (
    DIRECTORY_PATH,
    MAX_FETCHES,
    MAX_FETCHES_PER_ADDRESS,
    MAX_KEYS,
    MEDIA_TYPE,
    KeyDirectories,
)
from aitp_desk.egress import Egress
from aitp_desk.model.errors import NotAuthenticated, Unavailable
from tests.support.doubles.agent import NOON, Clock
from tests.support.doubles.website import Website, website

ADDRESS = "192.0.2.1"


def new_jwk(**more: Any) -> dict[str, Any]:
    key = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    x = base64.urlsafe_b64encode(key).rstrip(b"=").decode()
    return {"kty": "OKP", "crv": "Ed25519", "x": x, **more}


class Ground(NamedTuple):
    """A website with a directory, and what finds keys in it, at two clocks."""

    site: Website
    directories: KeyDirectories
    clock: Clock
    ticks: Clock

    def put(self, *jwks: dict[str, Any], **more: Any) -> None:
        given = {"type": MEDIA_TYPE, **more}
        self.site.put(DIRECTORY_PATH, json.dumps({"keys": jwks}), **given)

    async def has(self, jwk: dict[str, Any], address: str = ADDRESS) -> bool:
        try:
            await self.directories.find(self.site.url, make_thumbprint(jwk), address)
        except NotAuthenticated:
            return False
        return True

    @property
    def asked(self) -> int:
        return len(self.site.asked)


@pytest.fixture
async def ground() -> AsyncIterator[Ground]:
    clock, ticks = Clock(), Clock(0.0)
    async with website() as site, Egress(allow_loopback=True) as egress:
        yield Ground(site, KeyDirectories(egress, (), clock, ticks), clock, ticks)


async def test_a_directory_is_fetched_once_for_all_its_keys_and_all_who_come(
    ground: Ground,
) -> None:
    jwks = [new_jwk() for _ in range(3)]
    ground.put(*jwks)
    assert all(await asyncio.gather(*(ground.has(jwk) for jwk in jwks * 5)))
    assert ground.asked == 1
    [asked] = ground.site.asked
    assert asked.headers["Accept"] == MEDIA_TYPE


async def test_a_key_that_is_not_there_is_looked_for_once_a_minute_at_most(ground: Ground) -> None:
    old, new = new_jwk(), new_jwk()
    ground.put(old)
    assert await ground.has(old)
    for _ in range(5):
        assert not await ground.has(new)
    assert ground.asked == 1
    ground.put(old, new)
    ground.ticks.advance(60)
    assert await ground.has(new)
    assert ground.asked == 2


async def test_a_key_that_is_gone_from_the_directory_is_gone(ground: Ground) -> None:
    old, new = new_jwk(), new_jwk()
    ground.put(old, headers={"Cache-Control": "max-age=600"})
    assert await ground.has(old)
    assert ground.directories.still_has(ground.site.url, make_thumbprint(old))
    ground.put(new)
    ground.ticks.advance(599)
    assert await ground.has(old)
    ground.ticks.advance(1)
    assert not await ground.has(old)
    assert not ground.directories.still_has(ground.site.url, make_thumbprint(old))


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": 500},
        {"status": 404},
        {"status": 302, "headers": {"Location": "/elsewhere"}},
        {"type": "application/json"},
    ],
)
async def test_a_directory_that_does_not_answer_keeps_its_keys_for_a_day(
    ground: Ground, wrong: dict[str, Any]
) -> None:
    jwk = new_jwk()
    ground.put(jwk)
    assert await ground.has(jwk)
    ground.put(jwk, **wrong)
    ground.site.put("/elsewhere", json.dumps({"keys": [new_jwk()]}), type=MEDIA_TYPE)
    ground.ticks.advance(3600)
    assert await ground.has(jwk)
    assert ground.asked == 2
    ground.ticks.advance(24 * 3600)
    assert not await ground.has(jwk)


async def test_a_key_holds_between_its_times(ground: Ground) -> None:
    jwk = new_jwk(nbf=NOON + 10, exp=NOON + 20)
    ground.put(jwk)
    found = []
    for _ in range(4):
        found.append(await ground.has(jwk))
        ground.clock.advance(9)
    assert found == [False, False, True, False]


async def test_a_key_that_should_not_be_there_is_left_out(ground: Ground) -> None:
    right = new_jwk(use="sig", alg="ed25519")
    test_key = {**right, "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}
    wrong = [
        new_jwk(kid="another"),
        new_jwk(use="enc"),
        new_jwk(d="private"),
        new_jwk(nbf="now"),
        new_jwk(exp=True),
        {**new_jwk(), "x": "short"},
        test_key,
    ]
    ground.put(right, *wrong, {"kty": "oct", "k": "AAAA"})
    assert await ground.has({**right, "kid": make_thumbprint(right)})
    assert [jwk for jwk in wrong if await ground.has(jwk)] == []


@pytest.mark.parametrize(
    "body", ["", "[]", "{}", '{"keys": {}}', '{"keys": [5, null, "x"]}', "\xff", "[" * 10_000]
)
async def test_what_is_no_directory_has_no_keys(ground: Ground, body: str) -> None:
    ground.site.put(DIRECTORY_PATH, body, type=MEDIA_TYPE)
    assert not await ground.has(new_jwk())


async def test_a_directory_that_is_too_large_is_none(ground: Ground) -> None:
    jwk = new_jwk()
    ground.put(jwk, *(new_jwk() for _ in range(MAX_KEYS)))
    assert not await ground.has(jwk)
    ground.ticks.advance(60)
    ground.put(jwk, {"more": "x" * 70_000})
    assert not await ground.has(jwk)
    assert ground.asked == 2


async def test_a_directory_whose_own_signature_does_not_hold_is_none(ground: Ground) -> None:
    jwk = new_jwk()
    tag = 'tag="http-message-signatures-directory"'
    signed = (
        f'a=("@authority";req);created=1;expires=4000000000;keyid="{make_thumbprint(jwk)}";{tag}'
    )
    ground.put(jwk, headers={"Signature-Input": signed, "Signature": "a=:YWJj:"})
    assert not await ground.has(jwk)


async def test_strangers_have_few_directories_fetched_each_and_in_all() -> None:
    ticks = Clock(0.0)
    async with website() as site, Egress(allow_loopback=True) as egress:
        listed = site.url.replace("127.0.0.1", "127.0.0.2")
        directories = KeyDirectories(egress, (listed,), Clock(), ticks)

        async def find(number: int, address: str) -> str:
            """Ask on behalf of an agent at a separate origin; nobody answers there."""
            try:
                await directories.find(f"http://127.0.1.{number}:1", "k" * 43, address)
            except Unavailable as refused:
                return "too many" if refused.retry_after else "without an end"
            except NotAuthenticated:
                return "asked"
            raise AssertionError(number)

        one = [await find(number, ADDRESS) for number in range(8)]
        assert one == ["asked"] * MAX_FETCHES_PER_ADDRESS + ["too many"] * 2
        assert await find(0, "192.0.2.2") == "asked"
        more = [await find(number, f"192.0.2.{number}") for number in range(6, 66)]
        assert more.count("asked") == MAX_FETCHES - MAX_FETCHES_PER_ADDRESS
        assert await find(99, "198.51.100.1") == "too many"
        with pytest.raises(NotAuthenticated):
            await directories.find(listed, "k" * 43, ADDRESS)
        ticks.advance(60)
        assert await find(99, ADDRESS) == "asked"


async def test_no_directory_is_asked_inside_the_house() -> None:
    async with website() as site, Egress() as egress:
        directories = KeyDirectories(egress, (), Clock())
        for origin in (site.url, "https://127.0.0.1", "https://169.254.169.254", "https://[::1]"):
            with pytest.raises(NotAuthenticated):
                await directories.find(origin, "k" * 43, ADDRESS)
        assert site.asked == []
