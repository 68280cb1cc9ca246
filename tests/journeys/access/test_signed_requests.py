"""Requests that are signed with a secret that is never sent."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest
import pytest_asyncio
from yarl import URL

from aitp_desk.store.units.keys.tokens import revoke_token, rotate_token
from tests.support.access.keys import CLIENTS, SigningKey, make_key, make_signing_key
from tests.support.desk.command import run
from tests.support.desk.processes import desk_command, free_port, serving_fork
from tests.support.desk.server import serving
from tests.support.doubles.agent import NOON, Clock
from tests.support.http.raw_client import send

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = ("Content-Type", "application/json")
LARGE = 600_000


class Signer(NamedTuple):
    """A desk with a key that signs."""

    http: aiohttp.ClientSession
    url: str
    data: Path
    store: Any
    clock: Clock
    key: SigningKey

    def sign(self, method: str, target: str, body: bytes = b"", **more: Any) -> tuple[str, str]:
        return self.key.sign(method, target, body, **{"timestamp": int(self.clock.now), **more})

    async def send(
        self, method: str, target: str, *headers: tuple[str, str], body: bytes = b""
    ) -> tuple[int, Any]:
        url = URL(self.url + target, encoded=True)
        async with self.http.request(
            method, url, data=body or None, headers=[*headers, JSON]
        ) as said:
            text = await said.text()
            return said.status, json.loads(text) if text.startswith("{") else text

    async def signed(self, method: str, target: str, body: bytes = b"") -> tuple[int, Any]:
        return await self.send(method, target, self.sign(method, target, body), body=body)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def signer(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Signer]:
    data = tmp_path_factory.mktemp("signed") / "data"
    clock = Clock()
    async with (
        serving(data, clock=clock) as desk,
        aiohttp.ClientSession() as http,
    ):
        key = await make_signing_key(desk.store, data)
        yield Signer(http, desk.url, data, desk.store, clock, key)


@pytest.mark.requirement("AHP-8.2-6")
async def test_who_signs_is_known_by_the_key_and_the_secret_is_never_sent(signer: Signer) -> None:
    status, thread = await signer.signed("POST", "/v1/threads", b"{}")
    assert status == 200
    assert signer.key.secret not in " ".join(signer.sign("GET", "/"))
    path = f"/v1/threads/{thread['id']}"
    assert (await signer.send("GET", path))[0] == 404
    assert (await signer.signed("GET", path))[0] == 200
    status, asked = await signer.signed(
        "POST", "/agent/converse", b'{"capability":"contact","query":"How do I reach you?"}'
    )
    assert (status, asked["status"]) == (200, "success")


async def test_a_request_is_answered_once_and_changed_in_no_place(signer: Signer) -> None:
    _, thread = await signer.signed("POST", "/v1/threads", b"{}")
    path, body = f"/v1/threads/{thread['id']}", b'{"metadata":{"a":"b"}}'
    target = f"{path}?limit=1&limit=2&q=%7e%2F"
    header = signer.sign("POST", target, body)
    changed = [
        ("POST", f"{path}?limit=2&limit=1&q=%7e%2F", header, body),
        ("POST", f"{path}?limit=1&limit=2&q=%7E%2F", header, body),
        ("POST", f"{path}?limit=1&limit=2&q=~%2F", header, body),
        ("POST", f"{path}/messages?limit=1&limit=2&q=%7e%2F", header, body),
        ("DELETE", target, header, body),
    ]
    for name in ("keyid", "timestamp", "nonce", "body", "signature"):
        old = header[1].partition(f'{name}="')[2].partition('"')[0]
        new = {
            "keyid": old.replace(".1", ".2"),
            "timestamp": str(int(old) + 1) if name == "timestamp" else "",
            "nonce": f"{old}0",
            "body": hashlib.sha256(b"other").hexdigest(),
            "signature": old[:-1] + ("0" if old[-1] != "0" else "1"),
        }[name]
        other = ("Authorization", header[1].replace(old, new))
        changed.append(("POST", target, other, body))
    for method, where, sent, what in changed:
        status, said = await signer.send(method, where, sent, body=what)
        assert status == 401, where
        assert "The signature is not valid" in said["error"]["message"]
    assert (await signer.send("POST", target, header, body=body))[0] == 200
    for _ in range(2):
        status, said = await signer.send("POST", target, header, body=body)
        assert (status, "was used before" in said["error"]["message"]) == (401, True)


async def test_it_is_known_when_a_key_signed_last_a_request_that_was_let_in(signer: Signer) -> None:
    key = await make_signing_key(signer.store, signer.data, name="last")
    mine = signer._replace(key=key)

    async def last_use() -> Any:
        await signer.store.settled()
        _, lines, _ = await run("token", "list", "--json", "--data", signer.data)
        (kept,) = [one for one in map(json.loads, lines) if key.id.startswith(one["id"])]
        return kept["used_at"]

    forged = mine.sign("POST", "/v1/threads", b"{}")
    assert (await signer.send("PUT", "/v1/threads", forged, body=b"{}"))[0] == 405
    assert await last_use() is None
    assert (await mine.signed("POST", "/v1/threads", b"{}"))[0] == 200
    assert await last_use() == f"{datetime.fromtimestamp(NOON, UTC):%Y-%m-%dT%H:%M:%SZ}"


async def test_another_body_is_refused_and_does_nothing(signer: Signer) -> None:
    _, thread = await signer.signed("POST", "/v1/threads", b"{}")
    target = f"/v1/threads/{thread['id']}/messages"
    bodies = [b'{"role":"user","content":"x"}', b'{"role":"user","content":"y"}', b""]
    for number, sent in enumerate(bodies):
        header = signer.sign("POST", target, bodies[number - 1])
        status, said = await signer.send("POST", target, header, body=sent)
        assert (status, "differs from the signed one" in said["error"]["message"]) == (401, True)
    assert (await signer.signed("GET", target))[1]["data"] == []


async def test_a_large_body_is_compared_as_well(signer: Signer) -> None:
    def form(letter: str) -> bytes:
        head = (
            '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nassistants\r\n--b\r\n'
            'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n'
            "Content-Type: text/plain\r\n\r\n"
        )
        return f"{head}{letter * LARGE}\r\n--b--\r\n".encode()

    kind = ("Content-Type", "multipart/form-data; boundary=b")
    url = f"{signer.url}/v1/files"
    for sent, expected in ((form("y"), 401), (form("x"), 200)):
        header = signer.sign("POST", "/v1/files", form("x"))
        async with signer.http.post(url, data=sent, headers=[header, kind]) as said:
            assert said.status == expected, await said.text()


async def test_a_timestamp_may_be_off_by_the_window_and_no_more(signer: Signer) -> None:
    for off, expected in [(-300, 200), (300, 200), (-301, 401), (301, 401)]:
        header = signer.sign("POST", "/v1/threads", b"{}", timestamp=int(NOON) + off)
        async with signer.http.post(
            f"{signer.url}/v1/threads", data=b"{}", headers=[header, JSON]
        ) as said:
            assert said.status == expected
            if expected == 401:
                message = (await said.json())["error"]["message"]
                assert "301 seconds " + ("ahead" if off > 0 else "behind") in message
                assert parsedate_to_datetime(said.headers["Date"]).year >= 2026
                assert "AITP-HMAC-SHA256" in said.headers.getall("WWW-Authenticate")[1]


async def test_what_was_sent_is_known_as_long_as_it_is_not_too_old(signer: Signer) -> None:
    header = signer.sign("POST", "/v1/threads", b"{}", timestamp=int(NOON) + 300)
    assert (await signer.send("POST", "/v1/threads", header, body=b"{}"))[0] == 200
    signer.clock.advance(600)
    try:
        status, said = await signer.send("POST", "/v1/threads", header, body=b"{}")
        assert (status, "was used before" in said["error"]["message"]) == (401, True)
        signer.clock.advance(1)
        status, said = await signer.send("POST", "/v1/threads", header, body=b"{}")
        assert (status, "301 seconds behind" in said["error"]["message"]) == (401, True)
    finally:
        signer.clock.now = NOON


async def test_of_many_that_are_sent_at_once_one_is_answered(signer: Signer) -> None:
    header = signer.sign("POST", "/v1/threads", b"{}")
    said = await asyncio.gather(
        *(signer.send("POST", "/v1/threads", header, body=b"{}") for _ in range(8))
    )
    assert sorted(status for status, _ in said) == [200, *[401] * 7]


async def test_a_request_that_was_refused_for_a_limit_can_be_sent_again(tmp_path: Path) -> None:
    data, clock = tmp_path / "data", Clock()
    settings = ("limits.enabled=true", "limits.authenticated_per_minute=1")
    async with serving(data, *settings, clock=clock) as desk, aiohttp.ClientSession() as http:
        key = await make_signing_key(desk.store, data)
        signer = Signer(http, desk.url, data, desk.store, clock, key)
        headers = [signer.sign("POST", "/v1/threads", b"{}") for _ in range(2)]
        for header, expected in zip(headers, (200, 429), strict=True):
            assert (await signer.send("POST", "/v1/threads", header, body=b"{}"))[0] == expected
        clock.advance(60)
        assert (await signer.send("POST", "/v1/threads", headers[1], body=b"{}"))[0] == 200


async def test_a_key_that_signs_and_one_that_is_sent_are_no_substitutes(signer: Signer) -> None:
    api_key = await make_key(signer.store, signer.data, name="sent")
    id_, secret = api_key.split("_")[1:]
    as_signer = SigningKey(f"{id_}.1", secret)
    as_bearer = f"desk_{signer.key.id.partition('.')[0]}_{signer.key.secret}"
    mine = signer.sign("GET", "/v1/threads/x")
    for headers in (
        [as_signer.sign("GET", "/v1/threads/x", timestamp=int(NOON))],
        [("Authorization", f"Bearer {as_bearer}")],
        [("X-AHP-Key", as_bearer)],
        [mine, ("X-AHP-Key", api_key)],
        [("Authorization", mine[1].replace("AITP-HMAC-SHA256", "AITP-HMAC-SHA512"))],
        [("Authorization", "AITP-HMAC-SHA256")],
    ):
        assert (await signer.send("GET", "/v1/threads/x", *headers))[0] == 401
    assert (await signer.send("GET", "/v1/threads/x", mine))[0] == 404


async def test_a_scope_opens_what_it_opens_for_any_key(signer: Signer) -> None:
    narrow = await make_signing_key(signer.store, signer.data, "actions:pay", name="narrow")
    target = "/v1/threads/x/claim"
    header = narrow.sign("POST", target, b"{}", timestamp=int(NOON))
    assert (await signer.send("POST", target, header, body=b"{}"))[0] == 403


async def test_heads_of_whole_urls_and_head_requests_are_signed_as_they_are_sent(
    signer: Signer,
) -> None:
    for method, target in (("GET", "/llms.txt"), ("HEAD", "/llms.txt"), ("GET", "/llms.txt?x")):
        for host in ("", signer.url):
            name, value = signer.sign(method, target)
            line = f"{host}{target}".encode()
            lines = [(name.encode(), value.encode())]
            answer = await send(signer.url, method.encode(), line, lines)
            assert answer.status == 200, answer
            answer = await send(signer.url, b"GET", line + b"x", lines)
            assert answer.status == 401


async def test_a_rotated_secret_goes_on_until_its_overlap_ends(tmp_path: Path) -> None:
    data, clock = tmp_path / "data", Clock()
    async with serving(data, clock=clock) as desk, aiohttp.ClientSession() as http:
        first = await make_signing_key(desk.store, data)
        signer = Signer(http, desk.url, data, desk.store, clock, first)
        id_ = first.id.partition(".")[0]
        await desk.store.run(
            rotate_token,
            id=id_,
            version=1,
            hash=b"",
            data_key=1,
            previous_until=int(NOON) + 60,
            now=int(NOON),
        )
        second = await second_version(signer, id_)
        assert second.secret != first.secret
        clock.advance(1)
        assert (await signer.signed("POST", "/v1/threads", b"{}"))[0] == 200
        assert (await signer._replace(key=second).signed("POST", "/v1/threads", b"{}"))[0] == 200
        clock.advance(59)
        assert (await signer.signed("POST", "/v1/threads", b"{}"))[0] == 401
        assert (await signer._replace(key=second).signed("POST", "/v1/threads", b"{}"))[0] == 200


async def second_version(signer: Signer, id_: str) -> SigningKey:
    from aitp_desk.auth.credentials.signed_request import make_secret
    from aitp_desk.auth.keys.data_keys import open_data_keys

    keys = await open_data_keys(signer.store, signer.data, {})
    return SigningKey(f"{id_}.2", make_secret(keys, id_, 2, 1))


@pytest.mark.slow
async def test_a_stream_that_a_signature_opened_ends_with_its_key(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with (
        serving(data, "events.heartbeat_seconds=1") as desk,
        aiohttp.ClientSession() as http,
    ):
        key = await make_signing_key(desk.store, data)
        signer = Signer(http, desk.url, data, desk.store, Clock(), key)
        signed = key.sign("POST", "/v1/threads", b"{}")
        _, thread = await signer.send("POST", "/v1/threads", signed, body=b"{}")
        target = f"/v1/threads/{thread['id']}/events"
        async with http.get(desk.url + target, headers=[key.sign("GET", target)]) as stream:
            assert stream.status == 200
            first = await stream.content.readline()
            assert first
            id_ = key.id.partition(".")[0]
            assert await desk.store.run(revoke_token, id_or_name=id_, now=int(NOON))
            async with asyncio.timeout(60):
                await stream.content.read()


@pytest.mark.sqlite
async def test_the_command_line_makes_a_key_that_a_shell_signs_with(signer: Signer) -> None:
    given = ["--data", signer.data, "--name", "made", "--scope", "threads", "--hmac"]
    code, lines, _ = await run("token", "create", *given)
    assert code == 0
    key_id, secret = (line.partition("=")[2] for line in lines[-2:])
    assert [line.partition("=")[0] for line in lines[-2:]] == [
        "AITP_DESK_KEY_ID",
        "AITP_DESK_SECRET",
    ]
    header = SigningKey(key_id, secret).sign("POST", "/v1/threads", b"{}", timestamp=int(NOON))
    assert (await signer.send("POST", "/v1/threads", header, body=b"{}"))[0] == 200
    kept = (signer.data / "desk.db").read_bytes() + (signer.data / "desk.db-wal").read_bytes()
    assert secret.encode() not in kept
    assert bytes.fromhex(secret) not in kept


@pytest.mark.slow
async def test_the_clients_of_python_and_of_the_shell_are_answered(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with serving(data) as desk:
        key = await make_signing_key(desk.store, data)
        environment = {**os.environ, "AITP_DESK_KEY_ID": key.id, "AITP_DESK_SECRET": key.secret}
        for program in ([sys.executable, "signed_request.py"], ["sh", "signed_request.sh"]):

            async def ask(*arguments: str, program: list[str] = program) -> str:
                done = await asyncio.to_thread(
                    subprocess.run,
                    [*program, *arguments],
                    cwd=CLIENTS,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                return f"{done.stdout}{done.stderr}"

            thread = json.loads(await ask("POST", f"{desk.url}/v1/threads", "{}"))
            message = '{"role":"user","content":"Öl & \\"%7E\\""}'
            address = f"{desk.url}/v1/threads/{thread['id']}/messages"
            said = json.loads(await ask("POST", address, message))
            listed = json.loads(await ask("GET", f"{address}?order=asc&limit=1&x=%7e%2F[]"))
            assert [one["id"] for one in listed["data"]] == [said["id"]]
            assert "not_authenticated" not in await ask("GET", f"{desk.url}/v1/threads/none")


@pytest.mark.servers
async def test_what_was_answered_once_is_not_answered_again_by_a_desk_that_was_killed(
    tmp_path: Path,
) -> None:
    port = free_port()
    command = desk_command(tmp_path / "data", port)

    async def post(url: str, header: tuple[str, str]) -> int:
        async with aiohttp.ClientSession() as http:
            sent = [header, JSON]
            async with http.post(f"{url}/v1/threads", data=b"{}", headers=sent) as said:
                return said.status

    given = ["--data", tmp_path / "data", "--name", "made", "--scope", "threads", "--hmac"]
    key, answered, header = SigningKey("", ""), 0, ("", "")
    for _ in range(3):
        with serving_fork(command, port, log=tmp_path / "log") as server:
            if not key.id:
                _, lines, _ = await run("token", "create", *given)
                key = SigningKey(*(line.partition("=")[2] for line in lines[-2:]))
            if answered:
                assert await post(server.url, header) == 401
            header = key.sign("POST", "/v1/threads", b"{}")
            assert await post(server.url, header) == 200
            answered += 1
            server.kill()
    assert answered == 3
