"""What A2A's callers send, in each form: whatever it is, it is read or refused in words."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.calls.task import Result
from aitp_desk.model.errors import DeskError, InvalidRequest
from aitp_desk.protocols.a2a.dialect import Dialect
from aitp_desk.protocols.a2a.members import ObjectReader
from aitp_desk.protocols.a2a.parts_wire import read_parts, write_parts
from aitp_desk.protocols.a2a.requests_wire import read_list, read_send, write_token

MEMBERS = (
    "message request parts content kind text data file raw url messageId message_id role"
    " configuration historyLength bytes"
).split()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(MEMBERS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from(Dialect))
def test_whatever_is_sent_is_read_or_refused_in_words(body: Any, dialect: Dialect) -> None:
    for read in (read_send, lambda given, form: read_parts(given, form, "parts")):
        with suppress(DeskError):  # anything else that is raised fails the test
            assert read(body, dialect) is not None


@given(st.text(min_size=1), st.sampled_from(Dialect))
def test_a_text_is_read_as_it_was_written(text: str, dialect: Dialect) -> None:
    part = {"kind": "text", "text": text} if dialect is Dialect.V03 else {"text": text}
    assert read_parts([part], dialect, "parts").texts == (text,)


@given(st.integers(0, 2**40), st.from_regex(r"\Atask_[0-9a-v]{36}\Z"))
def test_the_name_of_a_page_is_read_back(changed_at: int, id_: str) -> None:
    token = write_token((changed_at, id_))
    assert read_list(ObjectReader({"pageToken": token})).after == (changed_at, id_)


@pytest.mark.parametrize(
    ("dialect", "member"),
    [
        (Dialect.V1, "taskPushNotificationConfig"),
        (Dialect.V03, "pushNotificationConfig"),
        (Dialect.V03_HTTP, "pushNotificationConfig"),
        (Dialect.V03_HTTP, "pushNotification"),
    ],
)
def test_where_a_sender_is_notified_is_read_by_each_name(dialect: Dialect, member: str) -> None:
    parts = "content" if dialect is Dialect.V03_HTTP else "parts"
    part = {"kind": "text", "text": "A lamp?"} if dialect is Dialect.V03 else {"text": "A lamp?"}
    message = {"messageId": "1", "role": "ROLE_USER", parts: [part]}
    receiver = {"url": "https://caller.example/notify", "token": "t"}
    body = {"message": message, "configuration": {member: receiver}}
    push = read_send(body, dialect).push
    assert push is not None
    assert push.url == receiver["url"]


def test_a_part_with_two_kinds_is_refused_by_its_path() -> None:
    with pytest.raises(InvalidRequest) as refused:
        read_parts([{"text": "A lamp?", "url": "https://a.example"}], Dialect.V1, "message.parts")
    assert refused.value.param == "message.parts[0]"


def test_an_answer_of_words_alone_has_no_empty_data_and_one_of_nothing_has() -> None:
    told = write_parts(Result(("Gladly.",)), Dialect.V1)
    assert [part.get("text") for part in told] == ["Gladly."]
    assert [part["data"] for part in write_parts(Result(()), Dialect.V1)] == [{}]
