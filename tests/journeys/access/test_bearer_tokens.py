"""Signed tokens of identity providers, over HTTP: whom they prove, how they are refused or end."""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import runpy
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from click.testing import CliRunner

from aitp_desk.cli.commands.access.revoke_jwt import revoke_jwt
from aitp_desk.store.reads.audit_log import audit_rows
from aitp_desk.store.reads.credentials.jwt_revocations import Claim, Revocation
from aitp_desk.store.units.keys.jwts import revoke_jwts
from tests.support.access.identity_provider import (
    SECRET,
    Provider,
    claims_of,
    provider,
    public_jwk,
    sign,
)
from tests.support.clients.ahp import CONVERSE, MANIFEST
from tests.support.clients.event_stream import following
from tests.support.clients.threads import Talker, talking
from tests.support.desk.command import run

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = {"capability": "contact", "query": "How do I reach you?"}
SHARED = "https://shared.example"
ONCE = "https://once.example"
DOWN = "http://127.0.0.1:1"
"""Where nobody answers."""
_numbers = itertools.count()


class Clock:
    """Time as it passes, or as it is held."""

    held: float | None = None

    def __call__(self) -> float:
        return time.time() if self.held is None else self.held


class Site:
    """A desk that takes tokens, and those who give them.

    Attributes:
        anyone: a caller without a credential.
        data: the desk's data folder.
        clock: the desk's.
    """

    def __init__(self, anybody: Talker, data: Path, login: Provider, clock: Clock) -> None:
        self.anybody = anybody
        self.data = data
        self.clock = clock
        self.login = login

    def token(self, issuer: str | None = None, **claims: Any) -> str:
        """A token that is good, signed as its issuer signs."""
        issuer = issuer or self.login.url
        algorithm = "EdDSA" if issuer == self.login.url else "HS256"
        named = {"jti": f"token-{next(_numbers)}", **claims}
        return sign(claims_of(issuer, self.anybody.desk.desk.site.url, **named), algorithm)

    async def revoke(self, issuer: str, claim: Claim, value: str) -> None:
        """Revoke tokens as the command does."""
        revocation = Revocation(issuer, claim, value, int(time.time()))
        await self.anybody.desk.store.run(revoke_jwts, revocation=revocation)

    def caller(self, token: str) -> Talker:
        """A caller who sends a token with every request."""
        return Talker(self.anybody.desk, self.data, self.anybody.http, token)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    place = tmp_path_factory.mktemp("tokens")
    folder, clock = place / "site", Clock()
    folder.mkdir()
    (folder / "page.md").write_text("# Page\n\nWe open at nine.\n", encoding="utf-8")
    (folder / "secret.key").write_text(f"{SECRET}\n", encoding="utf-8")
    async with provider() as login:
        (folder / "desk.toml").write_text(
            f"""
            [egress]
            allow_loopback = true
            [[issuers]]
            name = "login"
            url = "{login.url}"
            scopes = ["threads", "actions", "operator"]
            leeway_seconds = 0
            [[issuers]]
            name = "shared"
            url = "{SHARED}"
            algorithms = ["HS256"]
            secret_file = "secret.key"
            [[issuers]]
            name = "once"
            url = "{ONCE}"
            algorithms = ["HS256"]
            secret_file = "secret.key"
            replay = "once"
            [[issuers]]
            name = "down"
            url = "{DOWN}"
            """,
            encoding="utf-8",
        )
        async with talking(place, site=folder, clock=clock) as anybody:
            yield Site(anybody, place / "data", login, clock)


@pytest.mark.requirement("AHP-8.2-4")
async def test_a_token_is_known_by_either_header(site: Site) -> None:
    token = site.token(scope="threads")
    caller = site.caller(token)
    thread = (await caller.open()).id
    assert (await site.anybody.read(thread)).status == 404
    assert (await caller.read(thread)).status == 200
    for header in (("X-AHP-Key", token), ("authorization", f"bearer  {token}")):
        path = f"/v1/threads/{thread}"
        assert (await site.anybody.send("GET", path, headers=[header])).status == 200
    again = site.caller(site.token(scope="threads"))
    assert (await again.read(thread)).status == 200, "another token about the same subject"
    other = site.caller(site.token(SHARED, scope="threads"))
    assert (await other.read(thread)).status == 404, "the same subject at another issuer"
    operator = site.caller(site.token(sub="omar", scope="operator"))
    assert (await operator.read(thread)).status == 200


@pytest.mark.requirement("AHP-8.2-4")
async def test_a_token_that_is_refused_is_never_taken_for_none(site: Site) -> None:
    good = site.token()
    for token, rule in {
        good[:-8] + "AAAAAAAA": "signature",
        site.token(exp=int(time.time()) - 1, iat=int(time.time()) - 9): "expired",
        site.token("https://evil.example"): "issuer",
        site.token(aud="https://elsewhere.example"): "audience",
        f"{good}.AAAA.BBBB": "encrypted",
        "a.b.c": "header",
    }.items():
        headers = [("Authorization", f"Bearer {token}")]
        for method, path in (("POST", CONVERSE), ("GET", MANIFEST), ("POST", "/v1/threads")):
            body = QUESTION if path == CONVERSE else None
            told = await site.anybody.send(method, path, body, headers=headers)
            assert told.status == 401
            challenge = told.headers["WWW-Authenticate"]
            assert challenge.startswith('Bearer realm="aitp-desk", error="invalid_token"')
            assert rule in str(told.body)
            assert not any(part in str(told.body) for part in token.split(".") if len(part) > 6)


async def test_a_token_that_lacks_a_scope_is_refused_with_that_scope(site: Site) -> None:
    told = await site.caller(site.token(scope="actions profile")).open()
    assert told.refusal == (403, "forbidden", None)
    challenge = told.headers["WWW-Authenticate"]
    wanted = 'Bearer realm="aitp-desk", error="insufficient_scope", scope="threads"'
    assert challenge.startswith(wanted)


async def test_a_key_that_nobody_knows_is_asked_for_at_its_issuer_only(site: Site) -> None:
    claims = claims_of(site.login.url, site.anybody.desk.desk.site.url)
    assert (await site.caller(site.token()).open()).status == 200
    asked = len(site.login.site.asked)
    elsewhere: dict[str, Any] = {
        "jku": f"{site.login.url}/jku",
        "x5u": f"{site.login.url}/x5u",
        "kid": f"{site.login.url}/kid",
        "jwk": public_jwk("EdDSA", "other"),
    }
    for name, value in elsewhere.items():
        token = sign(claims, name="other", **{name: value})
        assert (await site.caller(token).open()).status == 401
    assert len(site.login.site.asked) == asked, "its keys were fetched less than a minute ago"


async def test_an_issuer_that_cannot_be_asked_is_no_reason_to_refuse_a_token(site: Site) -> None:
    token = sign(claims_of(DOWN, site.anybody.desk.desk.site.url))
    for _ in range(2):
        told = await site.caller(token).open()
        assert told.refusal == (503, "unavailable", None)
        assert 1 <= int(told.headers["Retry-After"]) <= 60
    assert (await site.caller(site.token()).open()).status == 200


async def test_a_token_for_one_request_is_good_for_one(site: Site) -> None:
    caller = site.caller(site.token(ONCE))
    assert (await caller.send("PUT", "/v1/threads")).status == 405, "not let in"
    assert (await caller.open()).status == 200
    for _ in range(2):
        told = await caller.open()
        assert (told.status, "used before" in str(told.body)) == (401, True)
    same = site.token(ONCE)
    answers = await asyncio.gather(*(site.caller(same).open() for _ in range(8)))
    assert sorted(told.status for told in answers) == [200] + [401] * 7
    told = await site.caller(site.token(ONCE, jti=None)).open()
    assert (told.status, "jti" in str(told.body)) == (401, True)


@pytest.mark.slow
async def test_a_stream_ends_when_its_token_is_revoked_and_others_go_on(site: Site) -> None:
    thread = (await site.caller(site.token(ONCE)).open()).id
    ended = site.caller(site.token(ONCE, jti="ended"))
    async with (
        following(site.caller(site.token(ONCE)), thread) as other,  # its token is used up by now
        following(ended, thread) as listener,
    ):
        assert (await other.next()).name == (await listener.next()).name == "following"
        await site.revoke("once", "jti", "ended")
        revoked_at = time.monotonic()
        assert await listener.rest() == []
        assert time.monotonic() < revoked_at + 1, "a revoked token's stream ends within a second"
        posted = await site.caller(site.token(ONCE)).post(thread, "When do you open?")
        heard = await other.until_named("message.created")
        assert heard[-1].data["id"] == posted.id


async def test_a_stream_ends_when_its_token_does(site: Site) -> None:
    thread = (await site.caller(site.token()).open()).id
    now = int(time.time())
    site.clock.held = now + 0.9
    try:
        async with following(site.caller(site.token(iat=now - 9, exp=now + 1)), thread) as listener:
            assert (await listener.next()).name == "following"
            assert await listener.rest() == []
    finally:
        site.clock.held = None
    assert (await site.caller(site.token()).read(thread)).status == 200


async def test_the_example_signs_a_token_that_is_taken(site: Site, tmp_path: Path) -> None:
    (tmp_path / "secret.key").write_text(f"{SECRET}\n", encoding="ascii")
    example = Path(__file__).parents[3] / "examples" / "clients" / "sign_token.py"
    url = site.anybody.desk.desk.site.url
    arguments = [tmp_path / "secret.key", SHARED, url, "aya", "threads", "actions"]
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("sys.argv", ["sign_token.py", *map(str, arguments)])
        runpy.run_path(str(example), run_name="__main__")
    assert (await site.caller(printed.getvalue().strip()).open()).status == 200


def revocation_of_the_token(token: str, sub: str) -> tuple[str, str]:
    return "--jti", token


def revocation_of_the_subject(token: str, sub: str) -> tuple[str, str]:
    return "--sub", sub


@pytest.mark.slow
@pytest.mark.parametrize("revoke", [revocation_of_the_token, revocation_of_the_subject])
async def test_a_revoked_token_is_refused_within_a_second(
    site: Site, revoke: Callable[[str, str], tuple[str, str]]
) -> None:
    name = revoke.__name__
    caller = site.caller(site.token(SHARED, jti=name, sub=name))
    other = site.caller(site.token(jti=name, sub=name))
    assert (await caller.open()).status == (await other.open()).status == 200
    options = ("--data", site.data, "--issuer", "shared", *revoke(name, name))
    code, said, _ = await run("token", "revoke-jwt", *options)
    assert (code, len(said)) == (0, 1)
    revoked_at = time.monotonic()
    while (told := await caller.open()).status != 401:
        assert told.status == 200
        assert time.monotonic() < revoked_at + 1, "a revoked token is refused within a second"
    # a request that was under way is told so where it would have written
    assert any(words in str(told.body) for words in ("revoked", "no longer valid"))
    assert (await other.open()).status == 200, "another issuer's is another token"
    now = int(time.time())
    told = await site.caller(site.token(SHARED, sub=name, iat=now + 5)).open()
    is_of_subject = revoke is revocation_of_the_subject
    assert told.status == (401 if is_of_subject else 200), "its issuer's clock may be ahead"
    site.clock.held = now + 60
    try:
        later = site.caller(site.token(SHARED, sub=name, iat=now + 60, exp=now + 120))
        assert (await later.open()).status == 200, "a token that was issued since is another token"
    finally:
        site.clock.held = None
    (noted,) = [
        row.object
        async for row in audit_rows(site.anybody.desk.store)
        if row.action == "token.revoked" and row.principal.startswith("cli:")
    ][-1:]
    assert noted.startswith("token:")
    assert name not in noted, "a log that is kept names nobody"


async def test_one_of_jti_and_sub_says_what_is_revoked(tmp_path: Path) -> None:
    for options in ((), ("--jti", "a", "--sub", "b")):
        told = CliRunner().invoke(
            revoke_jwt, ["--data", str(tmp_path), "--issuer", "login", *options]
        )
        assert (told.exit_code, told.stderr) == (1, "Give either --jti or --sub.\n")
