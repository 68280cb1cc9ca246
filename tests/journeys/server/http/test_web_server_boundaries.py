"""What nginx or Caddy reads as one request, the desk behind it never reads as two."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from unittest.mock import patch

import aiohttp
import pytest

from aitp_desk.http.dispatcher import Dispatcher, Response
from aitp_desk.http.request import Request
from tests.support.http.message_boundaries import (
    CARRIED_AS_BODY,
    CHUNKS,
    ENDS_CONNECTION,
    HOST,
    HOSTS,
    LAST,
    LENGTHS,
    LINES,
    PIPELINED,
    TRANSFER_CODINGS,
)
from tests.support.http.web_servers import HOST as SITE_HOST
from tests.support.http.web_servers import Kind, beside, every_server

pytestmark = pytest.mark.servers

TABLES = (
    *(TRANSFER_CODINGS, LENGTHS, CHUNKS, CARRIED_AS_BODY, ENDS_CONNECTION, PIPELINED, LINES, HOSTS),
)
PATIENCE_SECONDS = 1.0
"""How long is waited where the server in front waits for more."""
OURS = b"Host: " + SITE_HOST.encode()


class RecordingFront(Dispatcher):
    """A front that notes what it was asked."""

    asked: list[str]

    async def handle_request(self, request: Request) -> Response:
        RecordingFront.asked.append(f"{request.heading.method} {request.heading.path}")
        return await super().handle_request(request)


async def heard(port: int, said: bytes) -> list[bytes]:
    """The statuses of what the server in front answers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    told = b""
    writer.write(said)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while data := await reader.read(65536):
                told += data
    except (TimeoutError, ConnectionError):
        pass
    finally:
        writer.close()
    return re.findall(rb"HTTP/1\.1 ([2-5]\d\d) ", told)


@every_server
async def test_no_request_is_made_of_a_part_of_another(tmp_path: Path, kind: Kind) -> None:
    RecordingFront.asked = []
    with patch("aitp_desk.app.server.Dispatcher", RecordingFront):
        async with beside(kind, tmp_path, keeps=True) as client:
            async with client.get("/ready.txt") as response:
                port = response.url.port
            assert port is not None
            for table in TABLES:
                for name, case in table.items():
                    RecordingFront.asked.clear()
                    answers = await heard(port, (case.said + LAST).replace(HOST, OURS))
                    asked = RecordingFront.asked
                    # one may be under way still, where the server in front waits for its rest
                    assert len(asked) <= max(len(answers), 1), (name, asked, answers)
                    await check_next(client, name)


async def check_next(client: aiohttp.ClientSession, name: str) -> None:
    """The next caller, on a reused connection to the desk, has their own answer."""
    asked = {"capability": "contact", "query": f"How do I reach you about {name}?"}
    async with client.post("/agent/converse", json=asked) as response:
        assert response.status == 200, name
        assert (await response.json())["meta"]["capability_used"] == "contact"
    async with client.get("/v1/models") as response:
        assert (response.status, (await response.json())["object"]) == (200, "list"), name


@every_server
async def test_what_one_visitor_sends_behind_a_body_is_no_header_of_another_s(
    tmp_path: Path, kind: Kind
) -> None:
    async with beside(kind, tmp_path, keeps=True) as client:
        async with client.get("/ready.txt") as response:
            port = response.url.port
        assert port is not None
        for trailer in (b"Authorization: Bearer worthless", b"X-AHP-Key: worthless"):
            named = trailer.partition(b":")[0]
            head = [b"POST /v1/thread HTTP/1.1", OURS, b"Content-Type: application/json"]
            head += [b"Transfer-Encoding: chunked", b"Trailer: " + named, b"Connection: close"]
            body = b"2\r\n{}\r\n0\r\n" + trailer + b"\r\n\r\n"
            assert await heard(port, b"\r\n".join([*head, b"", body])) == [b"200"]
            for _ in range(3):
                async with client.get("/v1/models") as response:
                    assert response.status == 200
