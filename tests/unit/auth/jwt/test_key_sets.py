"""The keys of identity providers: how they are found, how long they are kept, how often asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from aitp_desk.auth.jwt.jwks import MAX_BYTES, MAX_KEYS, RemoteKeys
from aitp_desk.auth.jwt.key_sets import (
    FRESH_SECONDS,
    MAX_FRESH_SECONDS,
    MIN_FRESH_SECONDS,
    OLD_SECONDS,
    REFETCH_SECONDS,
)
from aitp_desk.egress import Egress
from aitp_desk.model.errors import Unavailable
from tests.support.access.identity_provider import Provider, provider, public_jwk

FIRST, NEXT = "EdDSA-first", "EdDSA-next"


class Clock:
    """Seconds that pass when told."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Login:
    """An identity provider, and the keys that a desk has of it."""

    def __init__(self, made: Provider, egress: Egress, clock: Clock) -> None:
        self.provider = made
        self.egress = egress
        self.clock = clock
        self.keys = self.look()

    def look(self, *, issuer: str | None = None, address: str = "") -> RemoteKeys:
        return RemoteKeys(
            name="login",
            issuer=self.provider.url if issuer is None else issuer,
            address=address,
            egress=self.egress,
            clock=self.clock,
        )

    async def knows(self, key_id: str, algorithm: str = "EdDSA") -> bool:
        return await self.keys.find(key_id, algorithm) is not None


@pytest.fixture
async def login() -> AsyncIterator[Login]:
    async with provider() as made, Egress(allow_loopback=True) as egress:
        yield Login(made, egress, Clock())


async def test_keys_are_where_the_metadata_says_and_are_asked_for_once(login: Login) -> None:
    assert login.provider.times_asked == 0
    for algorithm in ("EdDSA", "ES256", "RS256"):
        assert await login.knows(f"{algorithm}-first", algorithm)
        assert not await login.knows(f"{algorithm}-first", "HS256")
    assert login.provider.site.paths() == ["/.well-known/oauth-authorization-server", "/keys"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("", "/.well-known/openid-configuration"),
        ("/", "/.well-known/openid-configuration"),
        ("/realms/a", "/realms/a/.well-known/openid-configuration"),
        ("/realms/a", "/.well-known/oauth-authorization-server/realms/a"),
        ("/realms/a/", "/.well-known/oauth-authorization-server/realms/a"),
    ],
)
async def test_metadata_is_found_in_either_place(login: Login, path: str, place: str) -> None:
    site = login.provider.site
    site.take_away("/.well-known/oauth-authorization-server")
    issuer = site.url + path
    site.put(place, json.dumps({"issuer": issuer, "jwks_uri": f"{site.url}/keys"}))
    login.keys = login.look(issuer=issuer)
    assert await login.knows(FIRST)
    assert site.paths()[-2:] == [place, "/keys"]


async def test_an_address_that_the_owner_names_is_asked_and_nothing_else(login: Login) -> None:
    login.keys = login.look(address=f"{login.provider.url}/keys")
    assert await login.knows(FIRST)
    assert login.provider.site.paths() == ["/keys"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example", "jwks_uri": "{url}/keys"},
        {"issuer": "{url}/", "jwks_uri": "{url}/keys"},
        {"jwks_uri": "{url}/keys"},
        {"issuer": "{url}"},
        {"issuer": "{url}", "jwks_uri": ["{url}/keys"]},
        {"issuer": "{url}", "jwks_uri": "file:///etc/passwd"},
        {"issuer": "{url}", "jwks_uri": "http://169.254.169.254/keys"},
        ["{url}"],
        "no JSON {{",
    ],
)
async def test_metadata_that_cannot_be_trusted_leads_nowhere(login: Login, metadata: Any) -> None:
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    site = login.provider.site
    site.put("/.well-known/oauth-authorization-server", text.replace("{url}", site.url))
    with pytest.raises(Unavailable) as caught:
        await login.knows(FIRST)
    assert 0 < (caught.value.retry_after or 0) <= REFETCH_SECONDS
    assert login.provider.times_asked == 0


async def test_a_new_key_is_found_and_an_unknown_one_asks_once_a_minute(login: Login) -> None:
    assert await login.knows(FIRST)
    login.provider.publish(public_jwk("EdDSA"), public_jwk("EdDSA", "next"))
    login.clock.now += REFETCH_SECONDS - 1
    assert not await login.knows(NEXT)
    assert login.provider.times_asked == 1
    login.clock.now += 1
    assert await login.knows(NEXT)
    for number in range(20):
        assert not await login.knows(f"made-up-{number}")
    assert login.provider.times_asked == 2
    login.clock.now += REFETCH_SECONDS
    for number in range(20):
        assert not await login.knows(f"made-up-{number}")
    assert login.provider.times_asked == 3
    assert await login.knows(FIRST)


async def test_all_who_ask_at_once_share_one_answer(login: Login) -> None:
    found = await asyncio.gather(*(login.knows(FIRST) for _ in range(20)))
    assert found == [True] * 20
    login.clock.now += REFETCH_SECONDS
    login.provider.publish(public_jwk("EdDSA"), public_jwk("EdDSA", "next"))
    found = await asyncio.gather(*(login.knows(NEXT) for _ in range(20)))
    assert found == [True] * 20
    assert login.provider.times_asked == 2


class Held:
    """An answer that is given when the test says so."""

    def __init__(self, login: Login, *jwks: Any) -> None:
        self.asked, self.free = asyncio.Event(), asyncio.Event()
        self._body = json.dumps({"keys": jwks})
        login.provider.site.handle("/keys", self._answer)

    async def _answer(self, request: web.Request) -> web.Response:
        self.asked.set()
        await self.free.wait()
        return web.Response(text=self._body)


async def test_who_shows_a_known_key_does_not_wait_for_an_answer(login: Login) -> None:
    assert await login.knows(FIRST)
    held = Held(login, public_jwk("EdDSA", "next"))
    login.clock.now += FRESH_SECONDS
    waiting = asyncio.create_task(login.knows(NEXT))
    await held.asked.wait()
    assert await login.knows(FIRST)
    held.free.set()
    assert await waiting
    assert not await login.knows(FIRST), "a key that is published no more is a key no more"
    assert login.provider.times_asked == 2


async def test_who_goes_away_while_asking_leaves_the_question_to_others(login: Login) -> None:
    held = Held(login, public_jwk("EdDSA"))
    gone = asyncio.create_task(login.knows(FIRST))
    await held.asked.wait()
    waiting = asyncio.create_task(login.knows(FIRST))
    gone.cancel()
    held.free.set()
    assert await waiting
    assert login.provider.times_asked == 2


async def test_an_issuer_that_does_not_answer_in_time_has_not_answered(
    login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.auth.jwt.jwks.FETCH_SECONDS", 0.02)
    Held(login, public_jwk("EdDSA"))
    with pytest.raises(Unavailable):
        await login.knows(FIRST)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ({}, FRESH_SECONDS),
        ({"Cache_Control": "public, max-age=900"}, 900),
        ({"Cache_Control": "max-age = 1200, must-revalidate"}, 1200),
        ({"Cache_Control": "max-age=1"}, MIN_FRESH_SECONDS),
        ({"Cache_Control": "max-age=99999999"}, MAX_FRESH_SECONDS),
        ({"Cache_Control": "no-store, max-age=86400"}, MIN_FRESH_SECONDS),
        ({"Cache_Control": "max-age=x"}, FRESH_SECONDS),
    ],
)
async def test_a_set_is_kept_as_long_as_its_issuer_says_within_bounds(
    login: Login, said: dict[str, str], seconds: int
) -> None:
    login.provider.publish(public_jwk("EdDSA"), **said)
    assert await login.knows(FIRST)
    login.clock.now += seconds - 1
    assert await login.knows(FIRST)
    assert login.provider.times_asked == 1
    login.clock.now += 1
    assert await login.knows(FIRST)
    assert login.provider.times_asked == 2


async def fail_with_many_keys(login: Login) -> None:
    login.provider.publish(*[public_jwk("EdDSA")] * (MAX_KEYS + 1))


async def fail_with_much(login: Login) -> None:
    login.provider.publish(public_jwk("EdDSA"), "x" * MAX_BYTES)


async def fail_with_weak_keys(login: Login) -> None:
    login.provider.publish(public_jwk("EdDSA", use="enc"), {"kty": "oct", "k": "c2VjcmV0"})


async def fail_with_no_list(login: Login) -> None:
    login.provider.site.put("/keys", '{"keys": {}}')


async def fail_with_no_json(login: Login) -> None:
    login.provider.site.put("/keys", "<html>")


async def fail_with_depth(login: Login) -> None:
    login.provider.site.put("/keys", '{"keys": ' + "[" * 100_000)


async def fail_with_a_status(login: Login) -> None:
    login.provider.site.take_away("/keys", status=500)


async def fail_with_a_redirect(login: Login) -> None:
    login.provider.site.redirect("/keys", "http://192.0.2.1/keys")


@pytest.mark.parametrize(
    "fail",
    [
        fail_with_many_keys,
        fail_with_much,
        fail_with_weak_keys,
        fail_with_no_list,
        fail_with_no_json,
        fail_with_depth,
        fail_with_a_status,
        fail_with_a_redirect,
    ],
    ids=lambda fail: fail.__name__,
)
async def test_an_answer_that_cannot_be_used_leaves_the_old_keys_for_a_day(
    login: Login, fail: Any
) -> None:
    assert await login.knows(FIRST)
    await fail(login)
    login.clock.now += FRESH_SECONDS
    assert await login.knows(FIRST)
    assert await login.knows(FIRST)
    assert login.provider.times_asked == 2, "a failure counts as asked"
    login.clock.now += OLD_SECONDS - 1
    assert await login.knows(FIRST)
    login.clock.now += 1
    with pytest.raises(Unavailable, match="cannot be fetched"):
        await login.knows(FIRST)
    login.provider.publish(public_jwk("EdDSA"))
    login.clock.now += REFETCH_SECONDS
    assert await login.knows(FIRST)


async def test_an_issuer_that_never_answered_is_asked_again_after_a_minute(login: Login) -> None:
    login.provider.site.take_away("/keys")
    for _ in range(5):
        with pytest.raises(Unavailable) as caught:
            await login.knows(FIRST)
        assert caught.value.retry_after == REFETCH_SECONDS
    assert login.provider.times_asked == 1
    login.provider.publish(public_jwk("EdDSA"))
    login.clock.now += REFETCH_SECONDS
    assert await login.knows(FIRST)


async def test_a_set_with_keys_of_all_kinds_gives_those_that_can_be_used(login: Login) -> None:
    login.provider.publish(
        {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"},
        "no key",
        None,
        public_jwk("EdDSA", "other", crv="Ed448", kid=FIRST),
        public_jwk("EdDSA"),
        public_jwk("RS256", use="enc", kid="encrypting"),
    )
    assert await login.knows(FIRST)
    assert not await login.knows("secret", "HS256")
    assert not await login.knows("encrypting", "RS256")
