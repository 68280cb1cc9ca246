"""Matrix, with a homeserver that calls the desk; and what the page says of registering."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
import yaml

from aitp_desk.egress import Egress
from aitp_desk.transports.matrix.settings import MatrixSettings
from aitp_desk.transports.matrix.transport import MatrixTransport
from tests.docs.snippets import ROOT
from tests.support.servers.synapse import PASSWORD
from tests.support.transports.collector import Collector
from tests.support.transports.matrix_platform import (
    AS_TOKEN,
    DESK_USER,
    HS_TOKEN,
    MatrixPlatform,
    matrix_platform,
)
from tests.support.transports.platforms import CarriedDesk, carrying

SECONDS = 60
PAGE = (ROOT / "docs/transports/matrix.md").read_text(encoding="utf-8")


def snippet(beginning: str) -> str:
    """The block of the page that begins so, without its indent."""
    (found,) = re.findall(rf"```text\n   ({beginning}.*?)\n   ```", PAGE, re.DOTALL)
    return "\n".join(line.removeprefix("   ") for line in str(found).splitlines())


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "matrix (appservice)") as carried:
        yield carried


def answers(text: str) -> Callable[[dict[str, Any]], bool]:
    """Whether an event is a message of the desk with a text."""
    return lambda event: (
        event["sender"] == DESK_USER and text in str(event["content"].get("body", ""))
    )


def matrix(desk: CarriedDesk) -> MatrixPlatform:
    assert isinstance(desk.platform, MatrixPlatform)
    return desk.platform


@pytest.mark.servers
async def test_what_was_written_before_the_desk_could_join_is_answered(
    desk: CarriedDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.transports.matrix.invitations.PAUSE_SECONDS", 0.5)
    platform = matrix(desk)
    platform.gate.fail_next("/join", 502, {"errcode": "M_UNKNOWN"})
    ana = await platform.person("ana")
    body = {"preset": "private_chat", "is_direct": True, "invite": [DESK_USER]}
    room = (await ana.call("POST", "client/v3/createRoom", body))["room_id"]
    await platform.put("ana", room, {"msgtype": "m.text", "body": "Is it open?"})
    await platform.see("ana", room, answers("Is it open?"))
    assert sum(path.endswith("/join") for _, path in platform.gate.requests) == 2


@pytest.mark.servers
async def test_a_homeserver_that_does_not_answer_is_asked_again_with_the_transaction(
    desk: CarriedDesk,
) -> None:
    platform = matrix(desk)
    await platform.write("ana", "Hello")
    room = await platform.room("ana")
    platform.gate.fail_next("/hierarchy", 503, {"errcode": "M_UNKNOWN"})
    event = await platform.put("ana", room, {"msgtype": "m.text", "body": "Are you there?"})
    await platform.gate.acknowledged(event)
    await platform.see("ana", room, answers("Are you there?"))
    assert [one.text for one in await platform.shown("ana")] == [
        "You asked: Hello",
        "You asked: Are you there?",
    ]


@pytest.mark.servers
async def test_a_person_who_removes_the_desk_gets_no_more_messages(desk: CarriedDesk) -> None:
    platform = matrix(desk)
    await platform.write("ana", "Hello")
    await platform.block("ana")
    async with asyncio.timeout(SECONDS):
        while desk.talker.rows("SELECT state FROM transport_conversations") != [("stopped",)]:  # noqa: ASYNC110 -- it is another server's
            await asyncio.sleep(0.02)


@pytest.mark.servers
async def test_the_check_has_the_homeserver_call_the_desk(desk: CarriedDesk) -> None:
    platform = matrix(desk)
    async with Egress(allow_loopback=True) as egress:
        host = Collector(platform.environment, egress).make_host()
        settings = MatrixSettings(homeserver=platform.gate.url, user=DESK_USER, mode="appservice")
        steps = [step async for step in MatrixTransport(settings, host).check()]
        assert [step.is_done for step in steps] == [True] * 4
        other = msgspec.structs.replace(settings, appservice="other")
        *_, last = [step async for step in MatrixTransport(other, host).check()]
    assert not last.is_done
    assert "https://desk.example/transports/matrix/app" in last.detail


def test_the_registration_of_the_page_is_the_one_that_is_tried() -> None:
    registration = yaml.safe_load(snippet("id:"))
    tried = MatrixPlatform(Path("/nowhere"), "appservice").registration
    assert registration["url"].endswith("/transports/matrix/app")
    assert registration["namespaces"]["users"][0]["regex"] == r"@desk:example\.com"
    values = {"url": tried["url"], "as_token": AS_TOKEN, "hs_token": HS_TOKEN}
    assert {**registration, **values, "namespaces": tried["namespaces"]} == tried


@pytest.mark.servers
async def test_the_requests_of_the_page_give_a_token_and_lift_the_limit() -> None:
    async with matrix_platform() as platform, aiohttp.ClientSession() as http:
        login = snippet("curl -X POST https://matrix.example.com/_matrix/client/v3/login")
        url, body = _request(platform, login)
        asked = json.loads(body.replace("the account's password", PASSWORD))
        async with http.post(url, data=json.dumps(asked)) as response:
            assert response.status == 200
            found = await response.json()
        assert found["user_id"] == DESK_USER

        admin = await platform.synapse.register("admin", is_admin=True)
        url, body = _request(platform, snippet("curl -X POST [^ ]*override_ratelimit"))
        headers = {"Authorization": f"Bearer {admin.token}"}
        async with http.post(url, data=body, headers=headers) as response:
            assert response.status == 200
            assert await response.json() == {"messages_per_second": 0, "burst_count": 0}


def _request(platform: MatrixPlatform, command: str) -> tuple[str, str]:
    """The URL and the body of a command, for the homeserver of the test."""
    url, body = command.split()[3], command.partition("-d '")[2].removesuffix("'")
    url = url.replace("https://matrix.example.com", platform.synapse.url)
    return url.replace("@desk:example.com", DESK_USER), body
