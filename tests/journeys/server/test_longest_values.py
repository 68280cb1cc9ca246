"""The longest values that callers may send are stored and found, also in PostgreSQL's indexes.

These refuse entries of more than about 2,700 bytes.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.a2a.test_access import V1, send_task
from tests.support.access.identity_provider import SECRET, claims_of, sign
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.desk.command import run
from tests.support.store.postgres import PostgresServer

pytestmark = pytest.mark.servers

SHARED = "https://shared.example"
SUBJECT, IDENTITY, KEY, PUSH = 255, 512, 255, 128
"""The longest subject of a token, id of an actor or principal, idempotency key and push id."""
_SEED = random.Random(7)


def long_text(length: int) -> str:
    """A text of characters of four bytes each, which no server compresses."""
    return "".join(chr(_SEED.randrange(0x20000, 0x2A6D0)) for _ in range(length))


@pytest.fixture
async def url(postgres: PostgresServer) -> str:
    return await postgres.begin()


@pytest.fixture
async def desk(url: str, tmp_path: Path) -> AsyncIterator[Talker]:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "page.md").write_text("# Page\n\nWe open at nine.\n", encoding="utf-8")
    (folder / "secret.key").write_text(f"{SECRET}\n", encoding="utf-8")
    (folder / "desk.toml").write_text(
        f"""
        [egress]
        allow_loopback = true
        [[issuers]]
        name = "shared"
        url = "{SHARED}"
        algorithms = ["HS256"]
        secret_file = "secret.key"
        """,
        encoding="utf-8",
    )
    async with talking(tmp_path, f"store.url={url}", site=folder) as anybody:
        yield anybody


def person(desk: Talker, tmp_path: Path, subject: str) -> Talker:
    claims = claims_of(SHARED, desk.desk.desk.site.url, sub=subject)
    return Talker(desk.desk, tmp_path / "data", desk.http, sign(claims, "HS256"))


async def test_whoever_has_the_longest_name_can_do_what_others_can(
    desk: Talker, tmp_path: Path
) -> None:
    who = person(desk, tmp_path, long_text(SUBJECT))
    once = [("Idempotency-Key", long_text(KEY))]
    opened = await who.open("When do you open?", wait=10, headers=once)
    again = await who.open("When do you open?", wait=10, headers=once)
    assert opened.id == again.id
    thread = f"{THREADS}/{opened.id}"
    listed = (await who.messages(opened.id)).ok["data"]
    assert len(listed) == 2
    (reply,) = (message for message in listed if message["role"] == "assistant")

    async def done(method: str, path: str, body: Any = None) -> Any:
        return (await who.send(method, path, body)).ok

    await done("POST", f"{thread}/messages/{reply['id']}/feedback", {"rating": "up"})
    guest = "jwt:shared:" + long_text(IDENTITY - len("jwt:shared:"))
    await done("POST", f"{thread}/actors", {"id": long_text(IDENTITY), "principal": guest})
    other = "jwt:shared:" + long_text(IDENTITY - len("jwt:shared:"))
    await done("POST", f"{thread}/grants", {"principal": other, "may": "read"})
    await done("POST", f"{thread}/runs", {"assistant_id": "desk"})
    assert (await who.upload()).status == 200

    other_one = person(desk, tmp_path, long_text(SUBJECT))
    assert (await other_one.read(opened.id)).status == 404


async def test_a_task_is_told_under_the_longest_id(
    desk: Talker, tmp_path: Path, postgres: PostgresServer
) -> None:
    who = person(desk, tmp_path, long_text(SUBJECT))
    push = {"id": secrets.token_hex(PUSH // 2), "url": "http://127.0.0.1:1/told"}
    task = await send_task(who, "When?", configuration={"taskPushNotificationConfig": push})
    path = f"/a2a/tasks/{task['id']}/pushNotificationConfigs"
    (kept,) = (await who.send("GET", path, headers=V1)).ok["configs"]
    assert kept["id"] == push["id"]
    await desk.desk.store.settled()
    jobs = await postgres.rows("SELECT ref FROM jobs WHERE kind = 'task_push'")
    assert jobs
    assert all(push["id"] in ref for (ref,) in jobs)


async def test_an_owner_cannot_store_what_is_too_long(
    desk: Talker, url: str, tmp_path: Path
) -> None:
    data = ("--data", tmp_path / "data", "--store", url)
    revoke = ("token", "revoke-jwt", *data, "--issuer", "shared")
    code, _, _ = await run(*revoke, "--sub", long_text(SUBJECT))
    assert code == 0
    code, _, told = await run(*revoke, "--sub", long_text(SUBJECT + 1))
    assert (code, told) == (1, ["`--sub` must have at most 255 characters, as in a token."])
    create = ("token", "create", *data, "--scope", "threads", "--name")
    code, _, told = await run(*create, long_text(2000))
    assert (code, told) == (1, ["--name must be one line of at most 200 characters."])
    code, *_ = await run(*create, long_text(200))
    assert code == 0
