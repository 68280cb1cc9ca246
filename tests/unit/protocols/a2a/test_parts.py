"""Data that a client of A2A holds in Protobuf is read as it was meant."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.conversation.thread import MAX_ATTACHMENTS
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.a2a.dialect import Dialect
from aitp_desk.protocols.a2a.parts_wire import read_parts

NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
DATA = st.recursive(
    st.none() | st.booleans() | st.text() | NUMBERS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def read(data: Any) -> Any:
    (told,) = read_parts([{"data": data}], Dialect.V1, "message.parts").data
    return told


@given(st.dictionaries(st.text(), DATA, max_size=4))
def test_what_was_in_protobuf_is_read_like_what_was_in_json(data: dict[str, Any]) -> None:
    through = MessageToDict(ParseDict(data, Value()))
    assert read(through) == read(data) == data


def test_whole_numbers_are_whole_and_others_are_left_alone() -> None:
    given = {"items": [{"quantity": 2.0}], "weight": 0.5, "far": 1e300, "is": True}
    told = read(given)
    assert told == given
    assert [type(one) for one in (told["items"][0]["quantity"], told["weight"], told["far"])] == [
        int,
        float,
        float,
    ]
    assert told["is"] is True


def test_a_message_has_as_many_files_as_one_may_have_and_no_more() -> None:
    files = [{"raw": "YQ==", "filename": f"{n}.txt"} for n in range(MAX_ATTACHMENTS)]
    told = read_parts(files, Dialect.V1, "message.parts").files
    assert [one.name for one in told] == [one["filename"] for one in files]
    with pytest.raises(InvalidRequest, match=f"at most {MAX_ATTACHMENTS} files"):
        read_parts([*files, files[0]], Dialect.V1, "message.parts")
