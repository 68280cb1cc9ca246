"""A desk with secrets around its content, and what every answer to a stranger must keep to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.http.raw_client import Answer, send

SECRET = b"never-to-be-served"
AHP_PLACES = ("/agent/", "/.well-known/", "/llms.txt", "/llms-full.txt")
"""What an address begins with that refuses in AHP's form."""


@asynccontextmanager
async def hostile_ground(folder: Path) -> AsyncIterator[Talker]:
    """A desk with secrets next to and below its content."""
    site = folder / "site"
    (site / "guides").mkdir(parents=True)
    (site / "about.md").write_text("# About\n\nA shop.")
    (site / "desk.toml").write_text(f"[site]\nname = 'Shop'  # {SECRET.decode()}")
    (folder / "outside.md").write_text(SECRET.decode())
    for hidden in (".env", ".hidden.md", "key.pem", "guides/.git"):
        (site / hidden).write_bytes(SECRET)
    settings = ("threads.max_wait=1", "store.synchronous=normal")
    async with talking(folder, *settings, site=site, agent=ScriptedAgent()) as talker:
        (folder / "data" / "secret.md").write_bytes(SECRET)
        yield talker


def check(path: str, accept: bytes, answer: Answer) -> None:
    """Check that an answer is no fault, and a refusal one in words and in its protocol's form."""
    assert answer.status < 500, answer
    assert 'rel="agent-manifest"' in answer.headers["Link"]
    assert answer.headers["Server"] == "aitp-desk"
    assert SECRET not in answer.body
    if answer.status < 400 or not answer.body:
        return
    if answer.headers["Content-Type"].startswith("text/html"):
        assert b"text/html" in accept
        assert b"<h1" in answer.body
        return
    body = json.loads(answer.body)
    if path.startswith(AHP_PLACES) and "error" not in body:
        assert body["status"] == "error"
        assert {"code", "message"} <= body.keys()
    else:
        assert body.keys() == {"error"}
        assert body["error"].keys() == {"message", "type", "param", "code"}
        body = body["error"]
        if path.startswith("/agent/"):  # a malformed request reaches no protocol
            assert answer.status == 400
            assert body["message"].startswith("This cannot be read")
    assert len(body["message"]) > 10


async def attempt(
    desk: Talker,
    method: str,
    path: str,
    body: bytes = b"",
    headers: Mapping[bytes, bytes] = {},
    chunks: int = 0,
) -> Answer:
    """Send a request; what is refused must have kept nothing."""
    store = desk.desk.store
    await store.settled()
    before = desk.counts()
    answer = await send(
        desk.desk.url, method.encode(), path.encode(), [*headers.items()], body, chunks=chunks
    )
    check(path, headers.get(b"Accept", b""), answer)
    await store.settled()
    if answer.status >= 400 or method != "POST":
        assert desk.counts() == before
    return answer
