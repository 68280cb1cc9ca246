"""Asking a peer: what it answers, in whatever form, and what that says of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.capability import Health, Request, Response, Unanswered
from aitp_operations import Operations
from aitp_operations.capability import OperationsSettings
from aitp_operations.peers import PUBLISHED, Peer, ask, ask_all

PEER = Peer("other", "https://other.example/")
ACTOR = "https://desk.example"
THREADS = "https://other.example/v1/threads"
OPENED = b'{"id": "thread_1", "object": "thread"}'

Answer = Callable[[Request], Response]


class Other:
    """A peer that answers as a test says.

    Parameters:
        opened: to the thread; None for no answer at all.
        messages: to the look at what was said there.
    """

    def __init__(self, opened: Response | None, messages: Response | None = None) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self._answers = {"POST": opened, "GET": messages, "DELETE": Response(status=200)}

    async def send(self, request: Request) -> Response:
        body = json.loads(request.body) if request.body else None
        self.asked.append((request.method, request.url, body))
        answer = self._answers[request.method]
        if answer is None:
            raise Unanswered("other.example could not be reached: the connection failed.")
        return answer


def said(*contents: Any, role: str = "assistant") -> Response:
    """What stands on the thread, the newest first."""
    data = [{"role": role, "content": content} for content in contents]
    data.append({"role": "user", "content": ["asked"]})
    return Response(status=200, body=json.dumps({"object": "list", "data": data}).encode())


def health(status: str, **more: Any) -> str:
    told = {"status": status, "checked_at": "2027-01-15T08:00:00Z", **more}
    return json.dumps({"$schema": "https://other.example/s.json", "health": told})


async def test_a_peer_is_asked_by_plain_aitp_calls_and_nothing_is_left_there() -> None:
    other = Other(Response(status=200, body=OPENED), said([health("up")]))
    told: dict[str, Health | None] = {}
    await ask_all([PEER], ACTOR, other.send, told.__setitem__)
    assert told == {"other": None}
    (post, opening, thread), (get, reading, _), (delete, deleted, _) = other.asked
    assert (post, opening) == ("POST", THREADS)
    assert (get, reading.partition("?")[0]) == ("GET", f"{THREADS}/thread_1/messages")
    assert (delete, deleted) == ("DELETE", f"{THREADS}/thread_1")
    assert thread["metadata"]["actors"] == [{"id": ACTOR, "capabilities": [{"schema": PUBLISHED}]}]
    ((message),) = thread["messages"]
    assert [json.loads(part) for part in message["content"]] == [
        {"$schema": PUBLISHED, "healthcheck": {}}
    ]


DEGRADED = Health("degraded", "It reports that it is degraded.")
DOWN = Health("down", "It reports that it is down.")
UNFIT = Health("down", "Its response does not conform to AITP's Threads API.")


async def test_what_a_peer_replies_says_how_it_is(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Response | None, Health | None]] = [
        (said([health("up")]), None),
        (said([health("degraded")]), DEGRADED),
        (said([health("down", components=[])]), DOWN),
        (said(["Let me see.", health("degraded", new="field")]), DEGRADED),
        (said(["I am fine, thank you."]), None),
        (said("I am fine, thank you."), None),
        (said([health("fine")]), None),
        (said([7], [health("degraded")]), DEGRADED),
        (said([health("down")], role="user"), Health("degraded", "It has not replied.")),
        (said(), Health("degraded", "It has not replied.")),
        (Response(status=404), Health("down", "It responds with status 404.")),
        (Response(status=429), Health("degraded", "It rejects callers (status 429).")),
        (Response(status=503), Health("degraded", "It rejects callers (status 503).")),
        (Response(status=200, body=b"<html>"), UNFIT),
        (Response(status=200, body=b'{"data": [' + b"[" * 30_000), UNFIT),
        (Response(status=200, body=b'{"data": 7}'), UNFIT),
        (None, Health("down", "other.example could not be reached: the connection failed.")),
    ]
    for messages, expected in cases:
        with subtests.test(messages=messages, expected=expected):
            other = Other(Response(status=200, body=OPENED), messages)
            assert await ask(PEER, ACTOR, other.send) == expected
            assert other.asked[-1][0] == "DELETE"


@pytest.mark.parametrize(
    ("opened", "expected"),
    [
        (None, Health("down", "other.example could not be reached: the connection failed.")),
        (Response(status=429), Health("degraded", "It rejects callers (status 429).")),
        (Response(status=503), Health("degraded", "It rejects callers (status 503).")),
        (Response(status=302), Health("down", "It responds with status 302.")),
        (Response(status=500), Health("down", "It responds with status 500.")),
        (Response(status=200, body=b"{}"), UNFIT),
        (Response(status=200, body=b'{"id": "../../admin"}'), UNFIT),
        (Response(status=200, body=b'{"id": ""}'), UNFIT),
    ],
)
async def test_a_peer_that_opens_no_thread_is_not_asked_further(
    opened: Response | None, expected: Health
) -> None:
    other = Other(opened)
    assert await ask(PEER, ACTOR, other.send) == expected
    assert [method for method, *_ in other.asked] == ["POST"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(health("down")),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["data", "role", "content", "id"]), inner)
    ),
    max_leaves=10,
)
BODIES = st.binary() | JSON.map(lambda value: json.dumps(value).encode())
RESPONSES = st.none() | st.builds(Response, status=st.integers(100, 599), body=BODIES)


@given(RESPONSES, RESPONSES)
async def test_any_answer_of_a_peer_is_reported_in_a_sentence(
    opened: Response | None, messages: Response | None
) -> None:
    told = await ask(PEER, ACTOR, Other(opened, messages).send)
    assert told is None or told.reason.endswith(".")


async def test_a_peer_that_takes_its_time_keeps_nobody_from_knowing_of_the_others() -> None:
    others = Other(Response(status=200, body=OPENED), said([health("degraded")]))
    slow, asked = asyncio.Event(), asyncio.Event()

    async def send(request: Request) -> Response:
        if "slow" in request.url:
            await slow.wait()
        if request.method == "DELETE":
            asked.set()
        return await others.send(request)

    peers = (Peer("slow", "https://slow.example"), Peer("other", "https://other.example"))
    operations = Operations(OperationsSettings(peers))
    assert operations.watched() == {}
    async with asyncio.timeout(60):
        asking = asyncio.ensure_future(operations.rounds()["peers"].do(send))
        await asked.wait()
        assert operations.watched() == {"other": DEGRADED}
        slow.set()
        await asking
    assert list(operations.watched().items()) == [("slow", DEGRADED), ("other", DEGRADED)]
