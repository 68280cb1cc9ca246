"""`aitp-desk check` on AHP manifests and HAC answers: a file, or what a site serves."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.support.desk.command import run_here
from tests.support.desk.server import serving
from tests.support.sites.shop import make_shop

MANIFEST: dict[str, Any] = {
    "ahp": "0.1",
    "modes": ["MODE1"],
    "endpoints": {"content": "/llms.txt"},
    "content_signals": {"ai_input": True},
}
PLACE = "/.well-known/agent.json"
HAC = "application/vnd.hac+json"
ANSWER: dict[str, Any] = {
    "data": {"id": "order-1"},
    "_hac": {"version": "1.0", "actions": []},
}


def check(*args: object) -> tuple[int | None, list[str], list[str]]:
    done = run_here("check", *args)
    return done.code, done.out.splitlines(), done.err.splitlines()


def test_a_manifest_in_a_file_is_reported_as_valid(tmp_path: Path) -> None:
    file = tmp_path / "agent.json"
    file.write_text(json.dumps(MANIFEST), "utf-8")
    assert check(file) == (0, [f"{file} conforms to AHP 0.1: 0 capabilities."], [])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"modes": ["MODE9"]}, "modes[0]: is 'MODE9'; it must be one of MODE1, MODE2, MODE3."),
        ({"integrations": {}}, "integrations: is unknown to the schema"),
        ({"modes": ["MODE2"]}, "capabilities: has no capability of MODE2"),
        ({"capabilities": 7}, "capabilities: is a number; it must be a list."),
    ],
)
def test_errors_of_a_manifest_are_reported(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    file = tmp_path / "agent.json"
    file.write_text(json.dumps(MANIFEST | changes), "utf-8")
    code, out, err = check(file)
    assert (code, out) == (1, [])
    assert any(line.startswith(f"{file}: {told}") for line in err), err


def test_an_answer_of_hac_in_a_file_is_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(ANSWER), "utf-8")
    code, out, err = check(file)
    assert (code, out) == (0, [f"{file} conforms to HAC 1.0."]), err
    file.write_text(json.dumps({**ANSWER, "more": 1}), "utf-8")
    code, out, err = check(file)
    assert (code, out) == (1, [])
    assert any(line.startswith(f"{file}: more: is not allowed") for line in err), err


CARD: dict[str, Any] = {
    "name": "Lamps",
    "description": "Sells lamps.",
    "version": "1.0.0",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "supportedInterfaces": [
        {"url": "https://a.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    ],
    "skills": [{"id": "ask", "name": "Ask", "description": "Answers.", "tags": []}],
}
OLD = {"url": "https://a.example/a2a", "protocolVersion": "0.3.0"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ""),
        ({"supportedInterfaces": ..., **OLD}, ""),
        ({"supportedInterfaces": ...}, "supportedInterfaces: is missing; it must be a list."),
        (
            {"supportedInterfaces": []},
            "supportedInterfaces: is empty; it must have at least one entry.",
        ),
        ({"supportedInterfaces": ..., **OLD, "url": 7}, "url: must be text."),
        ({"name": ...}, "name: is missing; it must be text."),
        ({"skills": 7}, "skills: must be a list."),
        ({"skills": [7]}, "skills[0]: is not an object."),
        ({"skills": [{"id": "ask"}]}, "skills[0].name: is missing; it must be text."),
        (
            {"skills": CARD["skills"] * 2},
            "skills: has the id 'ask' more than once; ids must be unique.",
        ),
    ],
)
def test_a_card_is_looked_at(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    file = tmp_path / "agent-card.json"
    card = {name: value for name, value in (CARD | changes).items() if value is not ...}
    file.write_text(json.dumps(card), "utf-8")
    code, out, err = check(file)
    if told:
        assert code == 1
        assert f"{file}: {told}" in err
    else:
        assert (code, out, err) == (0, [f"{file} is a valid A2A card."], [])


@pytest.mark.asyncio
async def test_what_the_shop_serves_is_sound(tmp_path: Path) -> None:
    async with serving(
        tmp_path / "data", "limits.enabled=true", folder=make_shop(tmp_path)
    ) as desk:
        told = await asyncio.to_thread(check, desk.url + PLACE)
        home = await asyncio.to_thread(check, desk.url)
        integrations = await asyncio.to_thread(check, f"{desk.url}/agents.json")
    assert told[0] == 0, told
    assert told[1][0].startswith(f"{desk.url}{PLACE} conforms to AHP 0.1: ")
    assert told[2] == []
    assert home[0] == 0, home
    assert integrations[0] == 0


@pytest.mark.asyncio
async def test_how_a_site_serves_it_is_reported_too() -> None:
    async def manifest(_request: web.Request) -> web.Response:
        return web.Response(text=json.dumps(MANIFEST), content_type="text/html")

    async def negotiated(request: web.Request) -> web.Response:
        kind = HAC if HAC in request.headers.get("Accept", "") else "application/json"
        return web.Response(text=json.dumps(ANSWER), content_type=kind)

    async def mistyped(_request: web.Request) -> web.Response:
        return web.json_response(ANSWER)

    app = web.Application()
    app.router.add_get(PLACE, manifest)
    app.router.add_get("/", negotiated)
    app.router.add_get("/orders/1", negotiated)
    app.router.add_get("/orders/2", mistyped)
    app.router.add_get("/agent.json", manifest)
    async with TestServer(app) as server:
        told = [
            await asyncio.to_thread(check, server.make_url(path))
            for path in (PLACE, "/agent.json", "/orders/1", "/orders/2", "/")
        ]
        url = str(server.make_url("/")).rstrip("/")
    wrong = "Content-Type: is 'text/html; charset=utf-8'; it takes application/json"
    assert told[0][2] == [f"{url}{PLACE}: {wrong} (section 3.1)."]
    assert told[1][2][1].startswith(f"{url}/agent.json: warning: is at the wrong address")
    assert told[2] == (0, [f"{url}/orders/1 conforms to HAC 1.0."], [])
    assert told[3][2] == [
        f"{url}/orders/2: Content-Type: is 'application/json; charset=utf-8'; it takes {HAC}."
    ]
    assert told[4][0] == 1
    assert told[4][1] == [f"{url}/ conforms to HAC 1.0."]
