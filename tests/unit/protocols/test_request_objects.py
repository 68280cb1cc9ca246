"""The Structs that describe requests say what the decoders accept, member by member."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import msgspec
import pytest

from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.ahp.objects import AHPRequest
from aitp_desk.protocols.ahp.wire import decode_converse
from aitp_desk.protocols.aitp import transcript_wire
from aitp_desk.protocols.aitp.objects import HeadSignatureDraft
from aitp_desk.protocols.aitp.runs import drafts_wire
from aitp_desk.protocols.aitp.runs import objects as runs
from aitp_desk.protocols.aitp.threads import actors_wire, grants_wire, messages_wire
from aitp_desk.protocols.aitp.threads import objects as threads
from aitp_desk.protocols.aitp.threads import wire as threads_wire
from aitp_desk.protocols.oauth.objects import ClientDraft
from aitp_desk.protocols.oauth.wire import decode_registration
from aitp_desk.protocols.openapi.objects import Question
from aitp_desk.protocols.openapi.wire import decode_question

Decode = Callable[[bytes], object]


def decode_run(body: bytes) -> None:
    """A run and its stream, which are read apart."""
    drafts_wire.decode_run(body)
    drafts_wire.decode_stream(body)


def decode_thread_and_run(body: bytes) -> None:
    """The same with a thread."""
    drafts_wire.decode_thread_and_run(body)
    drafts_wire.decode_stream(body)


def decode_outputs(body: bytes) -> None:
    """Outputs and their stream."""
    drafts_wire.decode_outputs(body)
    drafts_wire.decode_stream(body)


REQUESTS: list[tuple[type[msgspec.Struct], dict[str, Any], Decode]] = [
    (threads.MessageDraft, {"content": "Hello"}, messages_wire.decode_message),
    (threads.ThreadDraft, {}, threads_wire.decode_thread),
    (threads.Update, {}, threads_wire.decode_update),
    (threads.Update, {}, messages_wire.decode_message_update),
    (threads.Update, {}, drafts_wire.decode_run_update),
    (threads.ActorDraft, {"id": "anna"}, actors_wire.decode_actor),
    (threads.GrantDraft, {"may": "read", "principal": "key:1"}, grants_wire.decode_grant),
    (runs.RunDraft, {"assistant_id": "desk"}, decode_run),
    (runs.ThreadRunDraft, {"assistant_id": "desk"}, decode_thread_and_run),
    (runs.ToolOutputs, {"tool_outputs": []}, decode_outputs),
    (HeadSignatureDraft, {"seq": 1, "jws": ""}, transcript_wire.decode_countersignature),
    (AHPRequest, {"capability": "content_search", "query": "Boots?"}, decode_converse),
    (Question, {"query": "Boots?"}, lambda body: decode_question("content_search", body)),
    (ClientDraft, {}, decode_registration),
]
VALUES: list[Any] = [None, True, 5, 2.5, "", [], {}, [5], [None]]
UNBOUNDED: list[Any] = [None, {}]
"""Values that have no further bounds: where the type allows them, the decoder takes them."""


@pytest.mark.parametrize(
    ("described", "least", "decode"),
    REQUESTS,
    ids=[f"{one.__name__}-{decode.__name__}" for one, _, decode in REQUESTS],
)
def test_a_decoder_accepts_what_its_struct_describes(
    described: type[msgspec.Struct], least: dict[str, Any], decode: Decode
) -> None:
    schema = msgspec.json.schema(described)
    valid = jsonschema.Draft202012Validator(schema).is_valid
    assert valid(least)
    decode(json.dumps(least).encode())
    for member in described.__struct_fields__:
        for value in VALUES:
            body = {**least, member: value}
            if valid(body):
                if value in UNBOUNDED and not (member == "principal" and value is None):
                    decode(json.dumps(body).encode())
                continue
            if (member, value) == ("tool_outputs", None):
                continue  # refused later, with the calls of the run
            with pytest.raises(DeskError) as refused:
                decode(json.dumps(body).encode())
            assert (refused.value.param or "").startswith(member), (member, value)
    for member in least:
        rest = {name: value for name, value in least.items() if name != member}
        if not valid(rest) and member != "tool_outputs":
            with pytest.raises(DeskError) as refused:
                decode(json.dumps(rest).encode())
            assert refused.value.param == member
