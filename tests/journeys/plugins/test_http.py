"""Jobs of capabilities ask other servers, under the rules of every outgoing request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec
import pytest
import pytest_asyncio
from aiohttp import web

from aitp_desk.capability import (
    Capability,
    Context,
    Effect,
    Job,
    Part,
    Request,
    Response,
    Say,
    Schema,
    Start,
    Take,
    Unanswered,
    Verdict,
    Work,
    document_of,
)
from aitp_desk.capability.http import MOST_BYTES
from aitp_desk.testing import Guest, open_desk
from tests.support.doubles.website import Website, website

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOOPBACK = "egress.allow_loopback=true"


class Ask(msgspec.Struct, frozen=True):
    url: str
    method: str = "GET"
    max_bytes: int = 100
    catches: bool = True
    wants_reasons: bool = False


class Asker(Capability):
    """Says what a server has answered."""

    slug = "asker"

    def schemas(self) -> Sequence[Schema]:
        messages = {"ask": Ask}
        return (Schema(version=1, messages=messages, document=document_of(messages, "Asking")),)

    def judge(self, part: Part, context: Context) -> Verdict:
        return Take((Start("ask", ref=context.message_id, payload=part.content),))

    def jobs(self) -> Mapping[str, Work]:
        return {"ask": Work(self.ask, delays=(0,))}

    async def ask(self, job: Job) -> Sequence[Effect]:
        ask = msgspec.convert(job.payload, Ask)
        request = msgspec.convert(
            {
                "url": ask.url,
                "method": ask.method,
                "body": b"{}" if ask.method == "POST" else b"",
                "headers": {"X-Own": "1"},
                "max_bytes": ask.max_bytes,
                "wants_reasons": ask.wants_reasons,
            },
            Request,
        )
        try:
            answer = await job.send(request)
        except Unanswered as failure:
            if not ask.catches:
                raise
            return (Say(f"{failure.reason} Refused: {failure.is_refused}"),)
        told = f"{answer.status} {answer.headers.get('content-type')} {answer.body.decode()[:40]}"
        return (Say(told if job.attempt == 1 else f"{told}, at attempt {job.attempt}"),)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Website]:
    async with website() as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guest() -> AsyncIterator[Guest]:
    async with open_desk("capabilities.asker={}", LOOPBACK, capabilities={"asker": Asker}) as one:
        yield one


async def told(guest: Guest, ask: Ask) -> str:
    thread_id = await guest.open()
    url = f"{guest.url}/capabilities/asker/v1/schema.json"
    await guest.say(thread_id, {"$schema": url, "ask": msgspec.to_builtins(ask)})
    *_, (said,) = await guest.wait(thread_id, 2)
    return said


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_a_job_asks_and_reads_the_answer(guest: Guest, site: Website, method: str) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        body = (await request.read()).decode()
        return web.json_response([request.method, request.headers["X-Own"], body])

    site.handle(f"/{method}", answer)
    body = "{}" if method == "POST" else ""
    expected = f'200 application/json; charset=utf-8 ["{method}", "1", "{body}"]'
    assert await told(guest, Ask(f"{site.url}/{method}", method)) == expected


async def test_a_status_is_an_answer_and_its_body_is_not_read(guest: Guest, site: Website) -> None:
    site.put("/gone", "what there was", status=410, type="text/plain")
    assert await told(guest, Ask(f"{site.url}/gone")) == "410 text/plain "


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_why_something_is_refused_is_read_where_that_is_wanted(
    guest: Guest, site: Website, method: str
) -> None:
    site.put("/refused", "too little", status=402, type="text/plain")
    ask = Ask(f"{site.url}/refused", method, wants_reasons=True)
    assert await told(guest, ask) == "402 text/plain too little"
    bounded = Ask(f"{site.url}/refused", method, max_bytes=5, wants_reasons=True)
    assert await told(guest, bounded) == "127.0.0.1 sent more than 5 bytes. Refused: False"


async def test_a_redirect_is_followed_where_nothing_is_sent(guest: Guest, site: Website) -> None:
    site.put("/new", "here", type="text/plain")
    site.put("/old", "", status=302, headers={"Location": f"{site.url}/new"}, type="text/plain")
    assert await told(guest, Ask(f"{site.url}/old")) == "200 text/plain here"
    assert await told(guest, Ask(f"{site.url}/old", "POST")) == "302 text/plain "


@pytest.mark.parametrize("asked_for", [100, 50 * MOST_BYTES])
async def test_an_answer_is_read_no_further_than_it_is_bounded(
    guest: Guest, site: Website, asked_for: int
) -> None:
    most = min(asked_for, MOST_BYTES)
    site.put("/long", b"x" * (most + 1), type="text/plain")
    ask = Ask(f"{site.url}/long", max_bytes=asked_for)
    assert await told(guest, ask) == f"127.0.0.1 sent more than {most} bytes. Refused: False"


async def test_an_internal_address_is_refused() -> None:
    settings = ("capabilities.asker={}", "egress.allow_loopback=false")
    async with open_desk(*settings, capabilities={"asker": Asker}) as outside, website() as within:
        for url in ("http://shop.example/", within.url, "https://10.0.0.1/x", "https://[::1]/"):
            assert (await told(outside, Ask(url))).endswith("Refused: True")
        assert within.asked == []


async def test_what_has_no_answer_is_tried_again_where_the_job_does_not_mind(
    guest: Guest, site: Website
) -> None:
    came = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        if not came.is_set():
            came.set()
            assert request.transport is not None
            request.transport.abort()
        return web.Response(text="at last")

    site.handle("/late", answer)
    ask = Ask(f"{site.url}/late", "POST", catches=False)
    assert await told(guest, ask) == "200 text/plain; charset=utf-8 at last, at attempt 2"


async def test_a_job_is_tested_with_a_plain_function() -> None:
    async def send(request: Request) -> Response:
        return Response(status=200, body=request.url.encode())

    async def read(_key: str) -> None:
        return None

    asker = Asker(None)
    job = Job(ref="r", payload={"url": "https://x.example/"}, now=0, thread_id="t", read=read)
    (said,) = await asker.ask(msgspec.structs.replace(job, send=send))
    assert said == Say("200 None https://x.example/")
    (alone,) = await asker.ask(job)
    assert alone == Say("No requests can be sent here: GET was not sent. Refused: False")
