"""Agents that prove their domain by signing their requests (Web Bot Auth, RFC 9421)."""

from __future__ import annotations

import asyncio
import base64
import datetime
import hashlib
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms
from multidict import CIMultiDict
from yarl import URL

from aitp_desk.auth.jwt.jwk import make_thumbprint
from aitp_desk.auth.web_bot_auth.directories import DIRECTORY_PATH, MEDIA_TYPE
from aitp_desk.auth.web_bot_auth.message_signature import Request
from tests.support.access.keys import make_key, make_signing_key
from tests.support.desk.server import SITE, serving
from tests.support.doubles.agent import NOON, Clock
from tests.support.doubles.website import Website, website

pytestmark = pytest.mark.asyncio(loop_scope="module")

WHOLE = ("@method", "@target-uri")
BARE = ("@authority",)
JSON = ("Content-Type", "application/json")
_nonces = count(1)


class Agent(NamedTuple):
    """An agent with a key directory.

    Parameters:
        desk: the address that it calls.
    """

    site: Website
    key: Ed25519PrivateKey
    desk: str
    clock: Clock

    @property
    def key_id(self) -> str:
        return make_thumbprint(self.jwk)

    @property
    def jwk(self) -> dict[str, str]:
        x = base64.urlsafe_b64encode(self.key.public_key().public_bytes_raw()).rstrip(b"=")
        return {"kty": "OKP", "crv": "Ed25519", "x": x.decode()}

    def publish(self) -> None:
        self.site.put(DIRECTORY_PATH, json.dumps({"keys": [self.jwk]}), type=MEDIA_TYPE)

    def sign(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        *,
        covers: tuple[str, ...] = WHOLE,
        seconds: int = 60,
        nonce: str | None = "",
        tag: str = "web-bot-auth",
        origin: str = "",
        to: str = "",
    ) -> list[tuple[str, str]]:
        """The headers that sign a request; an empty nonce is a new one."""
        headers = CIMultiDict({"Signature-Agent": f'me="{origin or self.site.url}"'})
        if body:
            digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
            headers["Content-Digest"] = f"sha-256=:{digest}:"
        components = (*covers, '"signature-agent";key="me"')
        if body and covers == WHOLE:
            components += ("content-digest",)
        created = datetime.datetime.fromtimestamp(self.clock.now, datetime.UTC)
        HTTPMessageSigner(
            signature_algorithm=algorithms.ED25519,
            key_resolver=MappingKeyResolver(public_keys={}, private_keys={self.key_id: self.key}),
        ).sign(
            Request(method, f"{to or self.desk}{target}", headers),
            key_id=self.key_id,
            created=created,
            expires=created + datetime.timedelta(seconds=seconds),
            nonce=f"nonce {next(_nonces)}" if nonce == "" else nonce,
            label="me",
            tag=tag,
            use_existing_digest=bool(body),
            covered_component_ids=components,
        )
        return list(headers.items())


class Ground(NamedTuple):
    """A desk, and two agents: one that its owner has listed, and a stranger."""

    http: aiohttp.ClientSession
    url: str
    data: Path
    store: Any
    clock: Clock
    listed: Agent
    stranger: Agent

    async def send(
        self, method: str, target: str, headers: list[tuple[str, str]], body: bytes = b""
    ) -> tuple[int, Any]:
        url = URL(self.url + target, encoded=True)
        async with self.http.request(
            method, url, data=body or None, headers=[*headers, JSON]
        ) as said:
            text = await said.text()
            return said.status, json.loads(text) if text.startswith("{") else text

    async def signed(
        self, agent: Agent, method: str, target: str, body: bytes = b"", **more: Any
    ) -> tuple[int, Any]:
        return await self.send(method, target, agent.sign(method, target, body, **more), body)

    async def open(self, agent: Agent) -> str:
        status, thread = await self.signed(agent, "POST", "/v1/threads", b"{}")
        assert status == 200, thread
        return f"/v1/threads/{thread['id']}"


@asynccontextmanager
async def grounding(data: Path, *settings: str) -> AsyncIterator[Ground]:
    """A desk and its agents."""
    clock = Clock()
    async with website() as site, website() as strange, aiohttp.ClientSession() as http:
        folder = data.parent / "site"
        shutil.copytree(SITE, folder)
        (folder / "desk.toml").write_text(
            f'[[signature_agents]]\norigin = "{site.url}"\nscopes = ["threads", "actions"]\n'
        )
        loopback = "egress.allow_loopback=true"
        async with serving(data, loopback, *settings, folder=folder, clock=clock) as desk:
            agents = [
                Agent(at, Ed25519PrivateKey.generate(), desk.url, clock) for at in (site, strange)
            ]
            for agent in agents:
                agent.publish()
            yield Ground(http, desk.url, data, desk.store, clock, *agents)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ground]:
    async with grounding(tmp_path_factory.mktemp("agents") / "data") as made:
        yield made


async def test_an_agent_is_known_by_its_domain(ground: Ground) -> None:
    for agent, other in ((ground.listed, ground.stranger), (ground.stranger, ground.listed)):
        mine = await ground.open(agent)
        assert (await ground.signed(agent, "GET", mine))[0] == 200
        assert (await ground.signed(other, "GET", mine))[0] == 404
        assert (await ground.send("GET", mine, []))[0] == 404
    assert len(ground.listed.site.asked) == 1
    assert len(ground.stranger.site.asked) == 1


async def test_a_signature_is_accepted_once_with_a_nonce_and_without(ground: Ground) -> None:
    mine = await ground.open(ground.listed)
    for nonce in ("given", None):
        headers = ground.listed.sign("GET", mine, nonce=nonce)
        assert (await ground.send("GET", mine, headers))[0] == 200
        status, said = await ground.send("GET", mine, headers)
        assert (status, "was used before" in said["error"]["message"]) == (401, True)
    assert (await ground.signed(ground.listed, "GET", f"{mine}?x", nonce="given"))[0] == 401
    assert (await ground.signed(ground.listed, "GET", f"{mine}?x", nonce=None))[0] == 200


async def test_what_was_signed_is_all_that_is_done(ground: Ground) -> None:
    agent, body = ground.listed, b'{"metadata":{"a":"b"}}'
    mine = await ground.open(agent)
    for method, target, sent in [
        ("POST", f"{mine}?x=1", body),
        ("POST", f"{mine}/messages", body),
        ("DELETE", mine, body),
        ("POST", mine, b'{"metadata":{"a":"c"}}'),
        ("POST", mine, b""),
    ]:
        status, _ = await ground.send(method, target, agent.sign("POST", mine, body), sent)
        assert status == 401, (method, target, sent)
    without = agent.sign("GET", mine)
    status, _ = await ground.send("GET", mine, without, b"{}")
    assert status == 200  # a body that comes with a GET is not read
    assert (await ground.signed(agent, "POST", mine, body))[0] == 200
    elsewhere = agent.sign("POST", mine, body, to="https://other.example")
    assert (await ground.send("POST", mine, elsewhere, body))[0] == 401


async def test_a_signature_that_covers_less_opens_threads_alone(ground: Ground) -> None:
    listed = await ground.open(ground.listed)
    assert (await ground.signed(ground.listed, "GET", listed, covers=BARE))[0] == 200
    assert (await ground.signed(ground.listed, "GET", listed, covers=("@method",)))[0] == 401
    body = b'{"role":"user","content":"x"}'
    target = f"{listed}/messages"
    headers = ground.listed.sign("POST", target, body, covers=BARE)
    assert (await ground.send("POST", target, headers, body))[0] == 200


async def test_what_does_not_hold_now_is_refused(ground: Ground) -> None:
    agent, mine = ground.listed, await ground.open(ground.listed)
    status, said = await ground.signed(agent, "GET", mine, seconds=3601)
    assert (status, "3600 seconds" in said["error"]["message"]) == (401, True)
    assert (await ground.signed(agent, "GET", mine, seconds=3600))[0] == 200
    assert (await ground.signed(agent, "GET", mine, seconds=0))[0] == 401
    headers = [agent.sign("GET", mine) for _ in range(2)]
    try:
        for now, expected in ((NOON - 31, 401), (NOON - 30, 200)):
            ground.clock.now = now
            assert (await ground.send("GET", mine, headers[0]))[0] == expected
        ground.clock.now = NOON + 60
        status, said = await ground.send("GET", mine, headers[1])
        assert (status, "expired" in said["error"]["message"]) == (401, True)
    finally:
        ground.clock.now = NOON


async def test_another_key_or_anothers_domain_proves_nothing(ground: Ground) -> None:
    agent, mine = ground.listed, await ground.open(ground.listed)
    forged = agent._replace(key=Ed25519PrivateKey.generate())
    as_other = ground.stranger.sign("GET", mine, origin=agent.site.url)
    status, said = await ground.send("GET", mine, as_other)
    assert (status, "it lacks the key of this signature" in said["error"]["message"]) == (401, True)
    assert (await ground.signed(forged, "GET", mine))[0] == 401
    headers = CIMultiDict(agent.sign("GET", mine))
    headers["Signature"] = f"me=:{base64.b64encode(bytes(64)).decode()}:"
    assert (await ground.send("GET", mine, list(headers.items())))[0] == 401


async def test_what_the_desk_takes_no_part_in_is_answered_as_unsigned(ground: Ground) -> None:
    anybodys = (await ground.send("POST", "/v1/threads", [], b"{}"))[1]["id"]
    target = f"/v1/threads/{anybodys}"
    mine = await ground.open(ground.listed)
    headers = ground.listed.sign("GET", target, tag="another")
    assert (await ground.send("GET", target, headers))[0] == 200
    assert (await ground.send("GET", mine, headers))[0] == 404
    changed = CIMultiDict(ground.listed.sign("GET", mine))
    changed["Signature-Agent"] += ";type=cimd"
    assert (await ground.send("GET", mine, list(changed.items())))[0] == 404


async def test_a_credential_next_to_a_signature_identifies_and_both_must_prove(
    ground: Ground,
) -> None:
    bearer = ("Authorization", f"Bearer {await make_key(ground.store, ground.data)}")
    _, thread = await ground.send("POST", "/v1/threads", [bearer], b"{}")
    target = f"/v1/threads/{thread['id']}"
    assert (await ground.send("GET", target, [bearer, *ground.listed.sign("GET", target)]))[
        0
    ] == 200
    used = ground.listed.sign("GET", target)
    assert (await ground.send("GET", target, used))[0] == 404
    assert (await ground.send("GET", target, [bearer, *used]))[0] == 401
    worthless = ("Authorization", "Bearer desk_1_2")
    fresh = ground.listed.sign("GET", target)
    assert (await ground.send("GET", target, [worthless, *fresh]))[0] == 401
    signer = await make_signing_key(ground.store, ground.data)
    body = b'{"metadata":{"a":"b"}}'
    for agents_body, expected in ((body, 200), (b"{}", 401)):
        both = [
            signer.sign("POST", "/v1/threads", body, timestamp=int(NOON)),
            *ground.listed.sign("POST", "/v1/threads", agents_body),
        ]
        assert (await ground.send("POST", "/v1/threads", both, body))[0] == expected


@pytest.mark.slow
async def test_a_stream_ends_with_the_signature_that_opened_it(tmp_path: Path) -> None:
    async with grounding(tmp_path / "data", "events.heartbeat_seconds=1") as ground:
        target = f"{await ground.open(ground.listed)}/events"
        headers = ground.listed.sign("GET", target)
        async with ground.http.get(ground.url + target, headers=headers) as stream:
            assert stream.status == 200
            assert await stream.content.readline()
            ground.clock.advance(60)
            async with asyncio.timeout(60):
                await stream.content.read()


async def test_strangers_use_up_the_allowance_of_their_address(tmp_path: Path) -> None:
    settings = (
        "limits.enabled=true",
        "limits.static_per_minute=4",
        "limits.authenticated_per_minute=50",
    )
    async with grounding(tmp_path / "data", *settings) as ground:
        target = "/v1/threads/thread_nobody"
        turns = [await ground.signed(ground.stranger, "GET", target) for _ in range(2)]
        turns += [await ground.send("GET", target, []) for _ in range(2)]
        assert [status for status, _ in turns] == [404] * 4
        assert (await ground.signed(ground.stranger, "GET", target))[0] == 429
        assert (await ground.send("GET", target, []))[0] == 429
        assert (await ground.signed(ground.listed, "GET", target))[0] == 404


async def test_an_owner_may_know_the_listed_ones_alone(tmp_path: Path) -> None:
    async with grounding(tmp_path / "data", "signatures.others=false") as ground:
        listed = await ground.open(ground.listed)
        assert (await ground.signed(ground.listed, "GET", listed))[0] == 200
        _, thread = await ground.signed(ground.stranger, "POST", "/v1/threads", b"{}")
        assert (await ground.send("GET", f"/v1/threads/{thread['id']}", []))[0] == 200
        assert ground.stranger.site.asked == []


async def test_without_the_extra_a_signature_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.auth.methods.find_spec", lambda _name: None)
    async with grounding(tmp_path / "data") as ground:
        _, thread = await ground.signed(ground.listed, "POST", "/v1/threads", b"{}")
        assert (await ground.send("GET", f"/v1/threads/{thread['id']}", []))[0] == 200
        assert ground.listed.site.asked == []
