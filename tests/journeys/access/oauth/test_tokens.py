"""Access tokens: how a client gets one, what it opens, and when it stops to."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import aiohttp
import jwt
import pytest
import pytest_asyncio

from aitp_desk.auth.jwt.signing_keys import AHEAD_SECONDS
from aitp_desk.config.sections.access.oauth import LONGEST_TOKEN_SECONDS
from aitp_desk.store.units.keys.clients import revoke_client, rotate_signing_key
from tests.support.access.oauth_clients import (
    URLENCODED,
    Credentials,
    ask_for_token,
    get_token,
    make_client,
)
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import NOON, Clock

pytestmark = pytest.mark.asyncio(loop_scope="module")

GRANT = ("grant_type", "client_credentials")
WORTHLESS = Credentials("0" * 16, "0" * 64)


class Known(NamedTuple):
    """A desk, a caller without a credential, and a client that the owner made."""

    talker: Talker
    data: Path
    clock: Clock
    client: Credentials

    @property
    def http(self) -> aiohttp.ClientSession:
        return self.talker.http

    @property
    def url(self) -> str:
        return self.talker.desk.desk.site.url

    def bearing(self, token: str) -> Talker:
        """A caller who shows this token."""
        return Talker(self.talker.desk, self.data, self.http, token)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def known(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Known]:
    folder, clock = tmp_path_factory.mktemp("oauth"), Clock()
    async with talking(folder, clock=clock) as talker:
        data = folder / "data"
        client = await make_client(talker.desk.store, data, "threads", "actions", now=NOON)
        yield Known(talker, data, clock, client)


async def keys_of(known: Known) -> list[dict[str, Any]]:
    async with known.http.get("/.well-known/jwks.json") as response:
        assert response.status == 200
        keys: list[dict[str, Any]] = (await response.json())["keys"]
        return keys


@pytest.mark.requirement("AHP-8.2-4")
async def test_a_client_gets_a_token_by_basic_or_in_the_body_and_opens_its_threads(
    known: Known,
) -> None:
    for said in (
        await ask_for_token(known.http, [GRANT], known.client.basic),
        await ask_for_token(known.http, [GRANT, *known.client.post]),
        # the id may be told twice, where it is the same
        await ask_for_token(known.http, [GRANT, known.client.post[0]], known.client.basic),
    ):
        assert said.ok.keys() == {"access_token", "token_type", "expires_in", "scope"}
        assert said.ok["token_type"] == "Bearer"
        assert said.ok["expires_in"] == 3600
        assert said.ok["scope"] == "threads actions"
        assert said.headers["Cache-Control"] == "no-store"
        assert said.headers["Pragma"] == "no-cache"
        client = known.bearing(said.ok["access_token"])
        thread = await client.open("Hello")
        assert (await client.read(thread.id)).status == 200
        assert (await known.talker.read(thread.id)).refusal[0] == 404
    ((owner,),) = set(known.talker.rows("SELECT owner FROM threads"))
    assert owner == f"client:{known.client.id}"


async def test_a_secret_in_the_address_is_refused_in_the_protocols_form(known: Known) -> None:
    (_, id_), (_, secret) = known.client.post
    address = f"/oauth/token?client_id={id_}&client_secret={secret}"
    async with known.http.post(address, data=[GRANT, *known.client.post]) as said:
        assert said.status == 400
        told = await said.json()
    assert told["error"] == "invalid_request"
    assert "address of this request contains a credential" in told["error_description"]
    assert secret not in str(told)


async def test_a_token_is_a_jwt_that_others_can_verify_with_the_published_keys(
    known: Known,
) -> None:
    token = (await get_token(known.http, known.client, scope="threads"))["access_token"]
    header = jwt.get_unverified_header(token)
    keys = {key["kid"]: jwt.PyJWK(key) for key in await keys_of(known)}
    claims = jwt.decode(
        token,
        keys[header["kid"]],
        algorithms=["EdDSA"],
        audience=known.url,
        issuer=known.url,
        options={"verify_exp": False, "verify_iat": False},
    )
    assert header == {"alg": "EdDSA", "typ": "at+jwt", "kid": header["kid"]}
    assert claims == {
        "iss": known.url,
        "aud": known.url,
        "sub": known.client.id,
        "client_id": known.client.id,
        "iat": int(known.clock.now),
        "exp": int(known.clock.now) + 3600,
        "jti": claims["jti"],
        "scope": "threads",
    }
    again = (await get_token(known.http, known.client))["access_token"]
    other = jwt.decode(again, options={"verify_signature": False})
    assert other["jti"] != claims["jti"]
    assert len(claims["jti"]) == 32


async def test_a_token_opens_what_it_was_asked_for_and_no_more(known: Known) -> None:
    asked_and_given = {
        "threads": "threads",
        "actions": "actions",
        "actions threads actions": "actions threads",
        "actions:order_lookup": "actions:order_lookup",
        "threads operator admin": "threads",  # not the client's
        "": "threads actions",  # none named, as if it were not there
    }
    for asked, given in asked_and_given.items():
        assert (await get_token(known.http, known.client, scope=asked))["scope"] == given, asked
    actions = (await get_token(known.http, known.client, scope="actions"))["access_token"]
    assert (await known.bearing(actions).open("Hello")).refusal[0] == 403


async def test_what_a_token_is_for_may_be_named_where_it_is_this_desk(known: Known) -> None:
    url = known.url
    for resources in ([url], [f"{url}/"], [f"{url}/v1", f"{url}/mcp"], [url.upper()], [""]):
        asked = [GRANT, *(("resource", resource) for resource in resources)]
        said = await ask_for_token(known.http, asked, known.client.basic)
        assert said.status == 200, resources
    foreign = ["https://example.com", f"{url}.example.com", f"{url}@example.com", f"{url}/#a"]
    for resource in [*foreign, f"{url}0", "v1", "http://[", f"https{url.removeprefix('http')}"]:
        asked = [GRANT, ("resource", url), ("resource", resource)]
        said = await ask_for_token(known.http, asked, known.client.basic)
        assert (said.status, said.body["error"]) == (400, "invalid_target"), resource


REFUSED: list[tuple[str, list[tuple[str, str]], int, str]] = [
    ("no way is named", [], 400, "invalid_request"),
    ("another way", [("grant_type", "password")], 400, "unsupported_grant_type"),
    ("another way", [("grant_type", "authorization_code")], 400, "unsupported_grant_type"),
    ("a parameter stands twice", [GRANT, GRANT], 400, "invalid_request"),
    ("an unknown one stands twice", [GRANT, ("a", "1"), ("a", "2")], 400, "invalid_request"),
    ("no such scope", [GRANT, ("scope", "threads read")], 400, "invalid_scope"),
    ("no such scope", [GRANT, ("scope", "threads  actions")], 400, "invalid_scope"),
    ("no such scope", [GRANT, ("scope", "actions:No")], 400, "invalid_scope"),
    ("none of its scopes", [GRANT, ("scope", "operator")], 400, "invalid_scope"),
    ("too many", [GRANT, *((f"a{n}", "") for n in range(32))], 400, "invalid_request"),
    ("no text", [GRANT, ("scope", "threads\0")], 400, "invalid_request"),
    ("no ASCII", [GRANT, ("scope", "thréads")], 400, "invalid_request"),
    ("proven twice", [GRANT, ("client_secret", "a")], 400, "invalid_request"),
    ("two clients", [GRANT, ("client_id", "a")], 400, "invalid_request"),
]


async def test_what_is_asked_wrongly_is_refused_in_oauths_form(known: Known) -> None:
    for why, parameters, status, error in REFUSED:
        said = await ask_for_token(known.http, parameters, known.client.basic)
        assert (said.status, said.body["error"]) == (status, error), why
        assert said.body.keys() == {"error", "error_description"}
        assert said.headers["Cache-Control"] == "no-store"
    for body in (
        b"grant_type",
        b"&",
        "grant_type=ä".encode(),
    ):
        said = await ask_for_token(known.http, body, known.client.basic)
        assert (said.status, said.body["error"]) == (400, "invalid_request"), body
    said = await ask_for_token(
        known.http, b'{"grant_type": "client_credentials"}', content_type="application/json"
    )
    assert (said.status, said.body["error"]) == (415, "invalid_request")
    said = await ask_for_token(known.http, b"a" * 9000)
    assert (said.status, said.body["error"]) == (413, "invalid_request")
    for method in ("GET", "PUT"):
        async with known.http.request(method, "/oauth/token") as response:
            assert response.status == 405
            assert (await response.json())["error"] == "invalid_request"


def basic(text: str) -> tuple[str, str]:
    return "Authorization", f"Basic {base64.b64encode(text.encode()).decode()}"


async def test_a_caller_who_proves_nothing_learns_only_how_to(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        client = await make_client(talker.desk.store, tmp_path / "data", now=NOON)
        said = []
        for parameters, headers in (
            ([GRANT], []),
            ([GRANT, ("client_id", client.id)], []),
            ([GRANT, ("client_secret", client.secret)], []),
            ([GRANT], [("Authorization", f"Bearer {client.secret}")]),
            ([GRANT], [("Authorization", "Basic")]),
            ([GRANT], [("Authorization", "Basic !!!")]),
            ([GRANT], [basic(client.id)]),
            ([GRANT], [basic(f"{client.id}:{client.secret}:")]),
            ([GRANT], [basic(f"{client.id}:")]),
            ([GRANT], [basic(f":{client.secret}")]),
            ([GRANT], [basic(f"{client.id}:{'0' * 9000}")]),
            ([GRANT], [Credentials(client.id, "0" * 64).basic]),
            ([GRANT], [Credentials("0" * 16, client.secret).basic]),
            ([GRANT, *WORTHLESS.post], []),
        ):
            if len(str(headers)) > 8000:
                continue  # no header that long is read at all
            told = await ask_for_token(talker.http, parameters, *headers)
            said.append(told)
            assert (told.status, told.body["error"]) == (401, "invalid_client"), headers
            assert told.headers["WWW-Authenticate"] == 'Basic realm="aitp-desk"'
            assert client.secret not in json.dumps(told.body)
        # a wrong secret and an unknown client are told the same
        assert said[-3].body == said[-2].body == said[-1].body
        twice = await ask_for_token(talker.http, [GRANT], client.basic, client.basic)
        assert (twice.status, twice.body["error"]) == (400, "invalid_request")


async def test_who_tries_too_often_waits_and_nobody_else_does(tmp_path: Path) -> None:
    clock = Clock()
    async with talking(tmp_path, "server.trusted_proxies=['127.0.0.1']", clock=clock) as talker:
        client = await make_client(talker.desk.store, tmp_path / "data", now=NOON)
        wrong = Credentials(client.id, "0" * 64)

        async def ask(who: Credentials, address: str) -> tuple[int, str | None]:
            place = ("X-Forwarded-For", address)
            told = await ask_for_token(talker.http, [GRANT], who.basic, place)
            if told.status == 429:
                assert told.body["error"] == "temporarily_unavailable"
            return told.status, told.headers.get("Retry-After")

        for _ in range(5):
            assert await ask(wrong, "203.0.113.1") == (401, None)
        clock.advance(20)
        assert await ask(wrong, "203.0.113.1") == (429, "40")
        assert await ask(client, "203.0.113.1") == (429, "40")  # also with the right secret
        assert await ask(client, "203.0.113.2") == (200, None)  # the client is not shut out
        for n in range(15):  # and as many clients as one likes
            assert await ask(Credentials(f"{n:016x}", "0" * 64), "203.0.113.1") == (401, None)
        assert await ask(WORTHLESS, "203.0.113.1") == (429, "40")
        clock.advance(40)
        assert await ask(client, "203.0.113.1") == (200, None)


def changed(token: str) -> dict[str, str]:
    """The token, and what is none because something of it was changed."""
    header, claims, signature = token.split(".")

    def part(text: str, **members: Any) -> str:
        padded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        body = json.dumps({**json.loads(padded), **members}).encode()
        return base64.urlsafe_b64encode(body).rstrip(b"=").decode()

    kid = jwt.get_unverified_header(token)["kid"]
    public = b"a" * 32
    return {
        "no signature": f"{header}.{claims}.",
        "another's signature": f"{header}.{claims}.{'A' * len(signature)}",
        "no algorithm": f"{part(header, alg='none')}.{claims}.",
        "more scopes": f"{header}.{part(claims, scope='admin')}.{signature}",
        "longer": f"{header}.{part(claims, exp=9_999_999_999)}.{signature}",
        "another key": f"{part(header, kid='x')}.{claims}.{signature}",
        "no key": f"{part(header, kid=None)}.{claims}.{signature}",
        "another type": f"{part(header, typ='JWT')}.{claims}.{signature}",
        "a shared secret": jwt.encode(
            jwt.decode(token, options={"verify_signature": False}),
            public,
            algorithm="HS256",
            headers={"typ": "at+jwt", "kid": kid},
        ),
        "nothing": "..",
        "no JSON": f"{header[1:]}.{claims}.{signature}",
    }


async def test_a_token_that_was_changed_proves_nothing(known: Known) -> None:
    token = (await get_token(known.http, known.client))["access_token"]
    assert (await known.bearing(token).open()).status == 200
    for why, bad in changed(token).items():
        said = await known.bearing(bad).open()
        assert said.refusal[:2] == (401, "not_authenticated"), why
        assert bad not in str(said.body)


async def test_a_token_ends_in_its_time_and_with_its_client(known: Known) -> None:
    store = known.talker.desk.store
    short = await make_client(store, known.data, "threads", now=known.clock.now - 86_000, days=1)
    token = await get_token(known.http, short)
    assert token["expires_in"] == 400  # no longer than its client
    mine = known.bearing(token["access_token"])
    assert (await mine.open()).status == 200
    known.clock.advance(399)
    assert (await mine.open()).status == 200
    known.clock.advance(1)
    assert (await mine.open()).refusal[0] == 401
    said = await ask_for_token(known.http, [GRANT], short.basic)
    assert (said.status, said.body["error"]) == (401, "invalid_client")


@pytest.mark.slow
async def test_a_client_that_is_revoked_takes_its_tokens_with_it_within_a_second(
    known: Known,
) -> None:
    store, loop = known.talker.desk.store, asyncio.get_running_loop()
    doomed = await make_client(store, known.data, now=known.clock.now)
    mine = known.bearing((await get_token(known.http, doomed))["access_token"])
    assert (await mine.open()).status == 200
    await store.run(revoke_client, id_or_name=doomed.id, now=int(known.clock.now))
    revoked_at = loop.time()
    while (await mine.open()).status == 200:
        assert loop.time() < revoked_at + 1
    said = await ask_for_token(known.http, [GRANT], doomed.basic)
    assert (said.status, said.body["error"]) == (401, "invalid_client")


async def test_the_audit_log_knows_who_tries_what_was_revoked_or_has_expired(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, clock=Clock()) as talker:
        store, data = talker.desk.store, tmp_path / "data"
        revoked = await make_client(store, data, now=NOON)
        await store.run(revoke_client, id_or_name=revoked.id, now=int(NOON))
        expired = await make_client(store, data, now=NOON - 90_000, days=1)
        for client in (revoked, expired, WORTHLESS):
            await ask_for_token(talker.http, [GRANT], client.basic)
        await store.settled()
        noted = talker.rows("SELECT principal, outcome FROM audit ORDER BY n")
        assert noted == [
            (f"client:{revoked.id}", "revoked"),
            (f"client:{expired.id}", "expired"),
            ("anonymous", "unproven"),
        ]


async def test_tokens_outlive_the_key_that_signed_them(known: Known) -> None:
    store = known.talker.desk.store
    (first,) = await keys_of(known)
    old = (await get_token(known.http, known.client))["access_token"]
    now = int(known.clock.now)
    await store.run(rotate_signing_key, now=now, ahead=AHEAD_SECONDS, data_key=1)
    assert [key["kid"] for key in await keys_of(known)][:-1] == [first["kid"]]
    known.clock.advance(AHEAD_SECONDS - 1)
    meanwhile = (await get_token(known.http, known.client))["access_token"]
    assert jwt.get_unverified_header(meanwhile)["kid"] == first["kid"]
    known.clock.advance(1)
    new = (await get_token(known.http, known.client))["access_token"]
    *_, second = await keys_of(known)
    assert jwt.get_unverified_header(new)["kid"] == second["kid"]
    for token in (old, meanwhile, new):
        assert (await known.bearing(token).open()).status == 200
    known.clock.advance(LONGEST_TOKEN_SECONDS)
    assert [key["kid"] for key in await keys_of(known)] == [second["kid"]]


@pytest.mark.slow
async def test_a_key_that_ends_those_before_it_ends_all_tokens_within_a_second(
    known: Known,
) -> None:
    store, loop = known.talker.desk.store, asyncio.get_running_loop()
    mine = known.bearing((await get_token(known.http, known.client))["access_token"])
    assert (await mine.open()).status == 200
    now = int(known.clock.now)
    await store.run(rotate_signing_key, now=now, ahead=1, data_key=1, voids_earlier=True)
    rotated_at = loop.time()
    while (await mine.open()).status == 200:
        assert loop.time() < rotated_at + 1
    again = known.bearing((await get_token(known.http, known.client))["access_token"])
    assert (await again.open()).status == 200
    assert len(await keys_of(known)) == 1


async def test_a_desk_that_gives_no_tokens_says_nothing_of_them(tmp_path: Path) -> None:
    async with talking(tmp_path, "oauth.enabled=false") as talker:
        body = urlencode([GRANT]).encode()
        sent = {"Content-Type": URLENCODED}
        async with talker.http.post("/oauth/token", data=body, headers=sent) as response:
            assert response.status in (404, 405)
        for path in ("oauth-authorization-server", "oauth-protected-resource", "jwks.json"):
            async with talker.http.get(f"/.well-known/{path}") as response:
                assert response.status == 404
        said = await talker.send(
            "GET", "/v1/threads/x", headers=[("Authorization", "Bearer a.b.c")]
        )
        assert said.refusal[0] == 401
        assert "resource_metadata" not in said.headers["WWW-Authenticate"]
