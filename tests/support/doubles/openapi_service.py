"""Services that an OpenAPI file describes, for tests: the file, and a real server behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

from aitp_desk.actions.base import Caller, Context, OfferedAction
from aitp_desk.actions.faults import ActionsError
from aitp_desk.actions.registry import load_sources, open_sources
from aitp_desk.config import Config, OpenApi
from aitp_desk.desk.calls.registry import OWN_NAMES
from tests.support.doubles.website import Handler

FILE = "service.yaml"
CALL = "call_0001"


def document(operation: Mapping[str, Any], path: str = "/things", **more: Any) -> dict[str, Any]:
    """A file with one operation, of 3.1 unless it says otherwise.

    Parameters:
        operation: with its method as ``method``, GET by default; what it leaves out is made up.
        more: other parts of the file, such as components.
    """
    said = {
        "operationId": "doIt",
        "summary": "Does it.",
        "responses": {"204": {"description": "Done."}},
        **operation,
    }
    method = said.pop("method", "get")
    info = {"title": "A service", "version": "1"}
    return {"openapi": "3.1.0", "info": info, "paths": {path: {method: said}}, **more}


def answering(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Responses of one answer in JSON."""
    content = {"application/json": {"schema": schema}}
    return {"200": {"description": "It.", "content": content}}


def parameter(name: str, place: str = "query", **more: Any) -> dict[str, Any]:
    """A parameter; of what type it is can be said by ``schema``."""
    return {"name": name, "in": place, "schema": {"type": "string"}, **more} | (
        {"required": True} if place == "path" else {}
    )


def taking(schema: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A body in JSON, which is required."""
    return {"content": {"application/json": {"schema": schema}}, "required": True, **more}


def configured(folder: Path, file: Any, url: str = "http://127.0.0.1:9", **settings: Any) -> Config:
    """The settings of a site that offers what a file describes; all of it by default."""
    if isinstance(file, str):
        (folder / FILE).write_text(file, "utf-8")
    else:
        (folder / FILE).write_bytes(msgspec.json.encode(file))
    given = {"operations": ("*",), "base_url": url, **settings}
    return Config(folder=folder, data=folder / ".desk", openapi=(OpenApi(file=FILE, **given),))


def load(config: Config, environment: Mapping[str, str] | None = None) -> tuple[OfferedAction, ...]:
    """What a site offers, without its service."""
    return load_sources(config, environment=environment or {}, taken=OWN_NAMES).actions.offered


def only(folder: Path, file: Any, **settings: Any) -> OfferedAction:
    """The one action that a file comes to."""
    (offered,) = load(configured(folder, file, **settings))
    return offered


def problems(config: Config, environment: Mapping[str, str] | None = None) -> list[str]:
    """What is wrong with what a site offers."""
    with pytest.raises(ActionsError) as refused:
        load(config, environment)
    return [str(problem) for problem in refused.value.problems]


class Got(msgspec.Struct, frozen=True):
    """What a service was sent."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Service:
    """A server that answers every request as a test says, with an empty object by default.

    Attributes:
        url: its address.
        got: what it was sent, in order.
    """

    def __init__(self) -> None:
        self.url = ""
        self.got: list[Got] = []
        self.handler: Handler = self.empty

    async def empty(self, _request: web.Request) -> web.StreamResponse:
        """An empty object."""
        return web.json_response({})

    def answers(self, body: Any, status: int = 200, **headers: str) -> None:
        """Answer with this: bytes as they are, all else as JSON."""
        plain = body if isinstance(body, bytes) else msgspec.json.encode(body)
        sent = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }

        async def answer(_request: web.Request) -> web.Response:
            return web.Response(status=status, body=plain, headers=sent)

        self.handler = answer

    async def take(self, request: web.BaseRequest) -> web.StreamResponse:
        """Take a request."""
        body = await request.read()
        self.got.append(Got(request.method, request.raw_path, request.headers, body))
        return await self.handler(request)  # type: ignore[arg-type]


@asynccontextmanager
async def serving_api() -> AsyncIterator[Service]:
    """A service on a free port of the loopback."""
    service = Service()
    runner = web.ServerRunner(web.Server(service.take), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield service
    finally:
        await runner.cleanup()


@asynccontextmanager
async def offered_by(
    folder: Path,
    service: Service,
    file: Any,
    *,
    environment: Mapping[str, str] | None = None,
    **settings: Any,
) -> AsyncIterator[OfferedAction]:
    """The one action that a file comes to, with a service behind it."""
    config = configured(folder, file, service.url, **settings)
    async with open_sources(config, environment or {}, OWN_NAMES) as offers:
        (offered,) = offers.offered
        yield offered


async def call(offered: OfferedAction, **arguments: Any) -> Any:
    """Call an action as the desk does, and return its result."""
    done = await offered.perform(offered.read(arguments), Context(CALL, Caller("someone")))
    return done.result
