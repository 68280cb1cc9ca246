"""AITP's JSON to and from the desk's own values, without a server."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, MultiDict

from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.thread import (
    Actor,
    Attachment,
    Draft,
    Message,
    Origin,
    Thread,
    ThreadDraft,
    ThreadUpdate,
)
from aitp_desk.model.errors import DeskError, InvalidRequest, MissingField
from aitp_desk.protocols.aitp import wire
from aitp_desk.protocols.aitp.runs import drafts_wire as run_drafts_wire
from aitp_desk.protocols.aitp.threads import messages_wire
from aitp_desk.protocols.aitp.threads import wire as threads_wire
from aitp_desk.protocols.aitp.wire import Dialect
from aitp_desk.store.records.pages import PageRequest

MESSAGE = Message(
    id="msg_1",
    thread_id="thread_1",
    seq=1,
    role="user",
    actor="alice",
    origin=Origin.VISITOR,
    created_at=1_800_000_000,
    content=("Hello.", '{"a": 1}'),
    attachments=(Attachment("file_1", ("file_search",)),),
    metadata={"k": "v"},
    run_id="run_1",
)
MESSAGE_BODY = {
    "id": "msg_1",
    "object": "thread.message",
    "created_at": 1_800_000_000,
    "thread_id": "thread_1",
    "status": "completed",
    "role": "user",
    "content": ["Hello.", '{"a": 1}'],
    "attachments": [{"file_id": "file_1", "tools": [{"type": "file_search"}]}],
    "metadata": {"k": "v", "actor": "alice"},
    "run_id": "run_1",
}
THREAD = Thread(
    "thread_1",
    None,
    1_800_000_000,
    {"k": "v"},
    (Actor("https://desk.example"), Actor("alice", ("https://a.example/1",))),
)
THREAD_BODY = {
    "id": "thread_1",
    "object": "thread",
    "created_at": 1_800_000_000,
    "messages": [MESSAGE_BODY],
    "metadata": {
        "k": "v",
        "parent_id": None,
        "actors": [
            {"id": "https://desk.example", "capabilities": []},
            {"id": "alice", "capabilities": [{"schema": "https://a.example/1"}]},
        ],
    },
}

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
NAMES = st.sampled_from(
    "messages metadata actors parent_id actor content role attachments tools file_id"
    " id capabilities schema $schema type text value assistant_id thread tools tool_choice function"
    " name parameters tool_outputs tool_call_id output truncation_strategy last_messages".split()
)
BODIES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(NAMES | st.text(), inner, max_size=5)
    ),
    max_leaves=25,
)


def encoded(body: Any) -> bytes:
    return json.dumps(body).encode()


def test_a_thread_is_read_from_strings_objects_actors_and_metadata() -> None:
    draft = threads_wire.decode_thread(
        encoded(
            {
                "messages": ["Hello.", {"role": "agent1", "content": "Hi.", "metadata": None}],
                "metadata": {"k": "v", "actors": [{"id": "agent1"}, "alice"], "parent_id": None},
            }
        )
    )
    assert draft == ThreadDraft(
        (Draft("user", ("Hello.",)), Draft("agent1", ("Hi.",))),
        (Actor("agent1"), Actor("alice")),
        {"k": "v"},
    )


@pytest.mark.parametrize("body", [b"", b"  \n", b"{}", b"null"])
def test_no_body_is_an_empty_thread(body: bytes) -> None:
    assert threads_wire.decode_thread(body) == ThreadDraft()


def test_a_message_is_read_in_the_forms_of_both_apis() -> None:
    parts = ["a", {"type": "text", "text": "b"}, {"type": "text", "text": {"value": "c"}}]
    draft = messages_wire.decode_message(
        encoded(
            {
                "role": "user",
                "content": parts,
                "attachments": [{"file_id": "f", "tools": [{"type": "file_search"}]}],
                "metadata": {"actor": "alice", "k": "v"},
            }
        )
    )
    assert draft == Draft(
        "user", ("a", "b", "c"), (Attachment("f", ("file_search",)),), "alice", {"k": "v"}
    )


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": "Hello."}, "messages"),
        ({"messages": [7]}, "messages[0]"),
        ({"messages": ["a", {}]}, "messages[1].content"),
        ({"messages": [{"content": "a", "role": 1}]}, "messages[0].role"),
        ({"messages": [{"content": [1]}]}, "messages[0].content"),
        ({"messages": [{"content": "a", "metadata": {"actor": 1}}]}, "messages[0].metadata.actor"),
        ({"messages": [{"content": "a", "metadata": {"k": 1}}]}, "messages[0].metadata.k"),
        ({"messages": [{"content": "a", "attachments": [1]}]}, "messages[0].attachments[0]"),
        ({"metadata": {"parent_id": 1}}, "metadata.parent_id"),
    ],
)
def test_a_refusal_names_the_member_by_its_path(body: Any, param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        threads_wire.decode_thread(encoded(body))
    assert refused.value.param == param


@pytest.mark.parametrize("kind", [{}, [], 7, None])
def test_a_run_s_tool_of_no_kind_is_refused_by_its_path(kind: Any) -> None:
    for decode in (run_drafts_wire.decode_run, run_drafts_wire.decode_thread_and_run):
        with pytest.raises(InvalidRequest) as refused:
            decode(encoded({"assistant_id": "a", "tools": [{"type": kind}]}))
        assert refused.value.param == "tools[0].type"


@given(BODIES)
def test_any_document_is_read_or_refused_and_nothing_else(body: Any) -> None:
    for decode in (
        threads_wire.decode_thread,
        messages_wire.decode_message,
        threads_wire.decode_update,
        run_drafts_wire.decode_run,
        run_drafts_wire.decode_thread_and_run,
        run_drafts_wire.decode_run_update,
        run_drafts_wire.decode_outputs,
    ):
        try:
            decode(encoded(body))
        except DeskError as refusal:
            assert refusal.message  # noqa: PT017 -- a draft that is read is as good


@pytest.mark.parametrize(
    ("body", "update"),
    [
        (b"", None),
        (b"{}", None),
        (b'{"metadata": null}', None),
        (b'{"metadata": {}}', ThreadUpdate({})),
        (b'{"metadata": {"k": "v"}, "other": 1}', ThreadUpdate({"k": "v"})),
        (b'{"metadata": {"actors": null, "parent_id": null}}', ThreadUpdate({})),
        (b'{"metadata": {"actors": [], "parent_id": "t"}}', ThreadUpdate({}, (), "t")),
        (
            b'{"metadata": {"actors": ["a", {"id": "b", "principal": "key:1"}]}}',
            ThreadUpdate({}, (Actor("a"), Actor("b", (), "key:1"))),
        ),
    ],
)
def test_a_post_to_a_thread_updates_only_with_metadata(
    body: bytes, update: ThreadUpdate | None
) -> None:
    assert threads_wire.decode_update(body) == update


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ({}, PageRequest(20, "desc")),
        ({"limit": "1"}, PageRequest(1)),
        ({"limit": "007"}, PageRequest(7)),
        ({"limit": "100", "order": "asc"}, PageRequest(100, "asc")),
        ({"after": "a"}, PageRequest(after="a")),
        ({"before": "b"}, PageRequest(before="b")),
        ({"after": "", "before": "b"}, PageRequest(before="b")),
        ({"foreign": "x"}, PageRequest()),
    ],
)
def test_a_page_is_read_from_the_query(query: dict[str, str], page: PageRequest) -> None:
    assert wire.decode_page(MultiDict(query)) == page


@given(st.text(max_size=30))
def test_a_limit_is_from_1_to_100_or_refused(text: str) -> None:
    allowed = {str(n).zfill(width) for n in range(1, 101) for width in (1, 2, 3)}
    if text in allowed:
        assert wire.decode_page({"limit": text}).limit == int(text)
    else:
        with pytest.raises(InvalidRequest, match="from 1 to 100"):
            wire.decode_page({"limit": text})


def test_a_thread_and_a_message_come_in_the_form_of_the_specification() -> None:
    reply = threads_wire.encode_thread(THREAD, [MESSAGE], None, None, Dialect.AITP, SITE_AGENT)
    assert (reply.status, reply.content_type) == (200, "application/json")
    assert json.loads(reply.body) == THREAD_BODY
    assert reply.headers == ()
    reply = messages_wire.encode_message(MESSAGE, None, None, Dialect.AITP, SITE_AGENT)
    assert json.loads(reply.body) == MESSAGE_BODY


def test_a_client_of_the_openai_api_gets_the_forms_of_that_api() -> None:
    reply = threads_wire.encode_thread(THREAD, [MESSAGE], None, None, Dialect.OPENAI, SITE_AGENT)
    assert json.loads(reply.body) == {
        "id": "thread_1",
        "object": "thread",
        "created_at": 1_800_000_000,
        "metadata": {"k": "v"},
        "tool_resources": {},
    }
    message = msgspec.structs.replace(
        MESSAGE, attachments=(Attachment("file_1", ("file_search", "teapot")),)
    )
    reply = messages_wire.encode_message(message, None, None, Dialect.OPENAI, SITE_AGENT)
    assert json.loads(reply.body) == {
        **MESSAGE_BODY,
        "content": [
            {"type": "text", "text": {"value": "Hello.", "annotations": []}},
            {"type": "text", "text": {"value": '{"a": 1}', "annotations": []}},
        ],
        "run_id": None,
        "assistant_id": None,
        "completed_at": 1_800_000_000,
        "incomplete_at": None,
        "incomplete_details": None,
    }


def test_to_the_openai_api_a_run_and_an_assistant_stand_on_what_the_desk_said() -> None:
    said = msgspec.structs.replace(MESSAGE, role="assistant", origin=Origin.DESK)
    body = messages_wire.write_message(said, Dialect.OPENAI, SITE_AGENT)
    assert (body.run_id, body.assistant_id) == ("run_1", "desk")
    fork = msgspec.structs.replace(THREAD, parent_id="thread_0")
    assert threads_wire.write_thread(fork, [], Dialect.OPENAI, SITE_AGENT).metadata == {
        "k": "v",
        "parent_id": "thread_0",
    }


@pytest.mark.parametrize(
    ("headers", "dialect"),
    [
        ({}, Dialect.AITP),
        ({"openai-beta": "assistants=v2"}, Dialect.OPENAI),
        ({"OpenAI-Beta": ""}, Dialect.OPENAI),
        ({"User-Agent": "OpenAI-Beta"}, Dialect.AITP),
    ],
)
def test_one_header_decides_the_dialect(headers: dict[str, str], dialect: Dialect) -> None:
    assert wire.read_dialect(CIMultiDict(headers)) is dialect


@pytest.mark.parametrize(
    ("run", "body"),
    [
        (None, None),
        (
            Run("run_1", "thread_1", RunState.QUEUED, 1_800_000_000),
            {"status": "queued", "last_error": None},
        ),
        (
            Run("run_1", "thread_1", RunState.FAILED, 1_800_000_000, 1, "Broken."),
            {
                "status": "failed",
                "last_error": {"code": "server_error", "message": "Broken."},
            },
        ),
    ],
)
def test_a_waiting_caller_gets_run_and_replies_next_to_the_object(
    run: Run | None, body: dict[str, Any] | None
) -> None:
    reply = messages_wire.encode_message(MESSAGE, run, [MESSAGE], Dialect.AITP, SITE_AGENT)
    if body is not None:
        body |= {
            "id": "run_1",
            "object": "thread.run",
            "thread_id": "thread_1",
            "created_at": 1_800_000_000,
        }
    assert json.loads(reply.body) == {**MESSAGE_BODY, "run": body, "replies": [MESSAGE_BODY]}
    assert reply.headers == (("Preference-Applied", "wait"),)


def test_metadata_never_hides_what_the_desk_says() -> None:
    metadata = {"actor": "mallory", "actors": "nobody", "parent_id": "thread_2"}
    message = msgspec.structs.replace(MESSAGE, metadata=metadata)
    thread = msgspec.structs.replace(THREAD, metadata=metadata)
    assert (
        messages_wire.write_message(message, Dialect.AITP, SITE_AGENT).metadata["actor"] == "alice"
    )
    shown = threads_wire.write_thread(thread, [], Dialect.AITP, SITE_AGENT).metadata
    assert shown["parent_id"] is None
    assert len(shown["actors"]) == 2


def test_a_list_names_its_ends() -> None:
    other = msgspec.structs.replace(MESSAGE, id="msg_2")
    reply = messages_wire.encode_messages([MESSAGE, other], True, Dialect.AITP, SITE_AGENT)
    body = json.loads(reply.body)
    assert [message["id"] for message in body.pop("data")] == ["msg_1", "msg_2"]
    assert body == {
        "object": "list",
        "first_id": "msg_1",
        "last_id": "msg_2",
        "has_more": True,
    }


def test_a_refusal_has_the_form_of_the_openai_api() -> None:
    reply = wire.render_error(MissingField("There is no content.", param="content"), {})
    assert reply.status == 400
    assert json.loads(reply.body) == {
        "error": {
            "message": "There is no content.",
            "type": "invalid_request_error",
            "param": "content",
            "code": "missing_field",
        }
    }
