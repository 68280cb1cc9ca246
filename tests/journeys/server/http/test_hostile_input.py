"""Whatever is sent to whichever address: an answer in the protocol's form, and nothing kept."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.clients.threads import Talker
from tests.support.http.raw_client import send
from tests.support.sites.canaries import attempt, check, hostile_ground

pytestmark = pytest.mark.asyncio(loop_scope="module")

MIB = 1024 * 1024
POSTED: dict[str, Any] = {
    "/v1/thread": {
        "messages": ["Hello.", {"role": "user", "content": ["a"], "metadata": {"k": "v"}}],
        "metadata": {"k": "v", "parent_id": None, "actors": [{"id": "a", "capabilities": []}]},
    },
    "/v1/threads": {"messages": [], "actors": [{"id": "a", "capabilities": [{"schema": "s"}]}]},
    "/v1/threads/THREAD": {"metadata": {"k": "v"}},
    "/v1/threads/THREAD/messages": {
        "role": "user",
        "content": [{"type": "text", "text": "a"}],
        "attachments": [{"file_id": "f", "tools": [{"type": "t"}]}],
        "metadata": {"actor": "visitor"},
    },
    "/agent/converse": {
        "ahp": "0.1",
        "capability": "content_search",
        "query": "Hello?",
        "context": {"accept_types": ["text/answer"], "max_tokens": 9, "locale": "en"},
    },
}
"""Addresses that take a body, each with one that it takes."""
READ = (
    "/",
    "/about",
    "/assets/desk/nothing",
    "/health",
    "/ready",
    "/llms.txt",
    "/.well-known/agent.json",
    "/v1/threads/THREAD",
    "/v1/threads/THREAD/messages",
    "/v1/assistants",
    "/v1/models",
    "/v1/files/file_x",
    "/v1/files/file_x/content",
)
"""Addresses that are read."""
DELETED = {"/v1/threads/THREAD", "/v1/files/file_x"}
"""Those of them that take DELETE."""

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.sampled_from(["", "thread_x", "x" * 600, "\x00", "assistant", "content_search"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
LATIN = st.binary(max_size=40).map(
    lambda value: value.translate(None, bytes([*range(32), 127]))  # these end a header
)
HEADERS: dict[bytes, list[bytes]] = {
    b"Prefer": [b"wait=0", b"wait=99999999999", b"wait=\xff", b"wait", b";,;wait = 0;"],
    b"Accept": [b"application/agent+json", b"text/html", b"*/*;q=nan", b"a/b;q=9e999, ;;,", b","],
    b"If-None-Match": [b"*", b'W/"x"', b'"', b"x" * 4000],
    b"Content-Type": [b"application/json", b"text/html", b"\xff/json", b"application/x+json;;;"],
    b"Content-Encoding": [b"gzip", b"identity", b"\xff"],
    b"Host": [b"", b"evil.example", b"127.0.0.1:99999", b"[::1", b"localhost", b"\xff", b"a b"],
    b"Idempotency-Key": [b"", b"k", b"k" * 30, b"k" * 300, b"\xff" * 30],
    b"OpenAI-Beta": [b"assistants=v2", b""],
    b"Desk-Hops": [b"0", b"99", b"-1", b"\xb2"],
    b"Authorization": [b"Bearer", b"Bearer desk_", b"Basic YTpi", b"\xff"],
    b"X-AHP-Key": [b"", b"desk_0", b"\xff"],
    b"X-Forwarded-For": [b"1.2.3.4", b"\xff,,"],
    b"Range": [b"bytes=0-1", b"bytes=9-"],
}
ANY_HEADER = st.sampled_from(sorted(HEADERS)).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(HEADERS[name]) | LATIN)
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """One desk for all of this."""
    async with hostile_ground(tmp_path_factory.mktemp("hostile")) as talker:
        yield talker


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def thread(desk: Talker) -> str:
    """A thread that exists."""
    return (await desk.open("Hello.", wait=5)).id


def mutated(body: Any, data: st.DataObject) -> Any:
    """A body with one of its parts replaced, dropped or doubled."""
    if isinstance(body, dict) and body and data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(body)))
        if data.draw(st.integers(0, 5)) == 0:
            return {key: value for key, value in body.items() if key != name}
        return body | {name: mutated(body[name], data)}
    if isinstance(body, list) and body and data.draw(st.booleans()):
        return [*body[:-1], mutated(body[-1], data)]
    return data.draw(VALUES)


@pytest.mark.slow
@given(st.sampled_from(sorted(POSTED)), st.data())
async def test_members_of_wrong_types_are_refused_in_words(
    desk: Talker, thread: str, template: str, data: st.DataObject
) -> None:
    body = json.dumps(mutated(POSTED[template], data)).encode()
    headers = {b"Content-Type": b"application/json"}
    await attempt(desk, "POST", template.replace("THREAD", thread), body, headers)


@pytest.mark.slow
@given(st.sampled_from(sorted(POSTED)), st.data())
async def test_broken_json_is_refused_in_words(
    desk: Talker, thread: str, template: str, data: st.DataObject
) -> None:
    whole = json.dumps(POSTED[template]).encode()
    cut = data.draw(st.integers(1, len(whole) - 1))
    thrown = data.draw(
        st.sampled_from([b"", b"\xff", b"\x00", b"{", b'"', b"\\ud800", b"\xed\xa0"])
    )
    rest = data.draw(st.sampled_from([b"", whole[cut:]]))
    answer = await attempt(
        desk,
        "POST",
        template.replace("THREAD", thread),
        whole[:cut] + thrown + rest,
        {b"Content-Type": b"application/json"},
        chunks=data.draw(st.integers(0, 3)),
    )
    assert answer.status == 400 or (thrown in {b"", b"{"} and rest)


@pytest.mark.parametrize("template", sorted(POSTED))
@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        (b" " * (MIB + 1), {413}),
        (b'{"content":"' + b"a" * (MIB - 14) + b'"}', {200, 413}),
        (b'{"content":' + b"[" * (MIB - 20), {400, 413}),
        (b'{"a":' * 40 + b"1" + b"}" * 40, {400}),
        (b'{"a":1,"a":1}', {400}),
        (b'{"query":"a","query":"b","content":"a","content":"b"}', {400}),
        (b'{"a":"\xff"}', {400}),
        (b'{"a":"\\ud800"}', {400}),
        (b"[" * 30 + b'"' + b'\\"' * 3000, {400}),
    ],
    ids=[
        "too long",
        "long",
        "deep and long",
        "deep",
        "twice",
        "twice more",
        "latin",
        "half",
        "slow",
    ],
)
async def test_bodies_meant_to_hurt_are_refused(
    desk: Talker, thread: str, template: str, body: bytes, statuses: set[int]
) -> None:
    headers = {b"Content-Type": b"application/json"}
    answer = await attempt(desk, "POST", template.replace("THREAD", thread), body, headers)
    assert answer.status in statuses


@pytest.mark.slow
@given(
    st.sampled_from(["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"]),
    st.sampled_from([*READ, *POSTED]),
    st.binary(max_size=20),
)
async def test_other_methods_change_nothing(
    desk: Talker, thread: str, method: str, template: str, body: bytes
) -> None:
    assume(method != "DELETE" or template not in DELETED)
    answer = await attempt(desk, method, template.replace("THREAD", thread), body)
    if method not in {"GET", "HEAD"} and template != "/about":  # a page is there to GET only
        assert answer.status == 405
        assert answer.headers["Allow"]


@pytest.mark.slow
@given(
    st.sampled_from([("GET", path) for path in READ] + [("POST", path) for path in POSTED]),
    st.lists(ANY_HEADER, max_size=4),
)
async def test_headers_are_understood_left_aside_or_refused(
    desk: Talker, thread: str, address: tuple[str, str], headers: list[tuple[bytes, bytes]]
) -> None:
    method, template = address
    body = json.dumps(POSTED[template]).encode() if method == "POST" else b""
    path = template.replace("THREAD", thread)
    await attempt(desk, method, path, body, dict(headers))


@pytest.mark.parametrize(
    "headers",
    [
        [(b"Host", b"a"), (b"Host", b"b")],
        [(b"Authorization", b"Bearer a"), (b"Authorization", b"Bearer b")],
        [(b"Content-Length", b"-1")],
        [(b"Content-Length", b"1"), (b"Content-Length", b"2")],
        [(b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"2")],
        [(b"X-Long", b"a" * 9000)],
        [(b"bad name", b"a")],
        [(b"X-Folded", b"a\r\n b")],
    ],
    ids=lambda headers: headers[0][0].decode(),
)
async def test_headers_that_two_readers_could_read_differently_are_refused(
    desk: Talker, headers: list[tuple[bytes, bytes]]
) -> None:
    before = desk.counts()
    answer = await send(desk.desk.url, b"POST", b"/v1/threads", headers, b"")
    assert answer.status in {400, 421}
    check("/v1/threads", b"", answer)
    assert desk.counts() == before


@pytest.mark.slow
async def test_unknown_ids_are_refused_the_same_way_over_every_protocol(desk: Talker) -> None:
    for id_ in ("x", "thread_" + "0" * 36, "%00", "%F0%9F%99%82", "a" * 6000):
        for method, path in (
            ("GET", f"/v1/threads/{id_}"),
            ("GET", f"/v1/threads/{id_}/messages"),
            ("POST", f"/v1/threads/{id_}"),
            ("POST", f"/v1/threads/{id_}/messages"),
        ):
            body = b'{"content":"Hello."}' if method == "POST" else b""
            answer = await attempt(desk, method, path, body)
            assert answer.status == 404
    for id_ in ("x", "session_" + "0" * 36, "\x01", "🙂"):
        question = POSTED["/agent/converse"] | {"session_id": id_}
        answer = await attempt(desk, "POST", "/agent/converse", json.dumps(question).encode())
        assert json.loads(answer.body)["detail"] == "unknown_session"


async def test_after_all_this_the_desk_still_answers(desk: Talker) -> None:
    assert (await desk.open("Hello.", wait=5)).ok["replies"]
    assert (await desk.send("GET", "/ready")).ok["ready"] is True
