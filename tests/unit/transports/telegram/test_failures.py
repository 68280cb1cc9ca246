"""What Telegram's errors mean."""

from __future__ import annotations

import pytest

from aitp_desk.transports.base import Failed, Refused, TryLater, Unreachable
from aitp_desk.transports.telegram.failures import judge_error, read_error
from aitp_desk.transports.wire.payload import Payload

TABLE: list[tuple[int, str, type[Failed]]] = [
    (429, "Too Many Requests: retry after 7", TryLater),
    (500, "Internal Server Error", TryLater),
    (502, "", TryLater),
    (401, "Unauthorized", TryLater),
    (404, "Not Found", TryLater),
    (409, "Conflict: terminated by other getUpdates request", TryLater),
    (403, "Forbidden: bot was blocked by the user", Unreachable),
    (403, "Forbidden: user is deactivated", Unreachable),
    (403, "Forbidden: bot was kicked from the supergroup chat", Unreachable),
    (403, "Forbidden: bot can't initiate conversation with a user", Unreachable),
    (400, "Bad Request: chat not found", Unreachable),
    (400, "Bad Request: PEER_ID_INVALID", Unreachable),
    (400, "Bad Request: message thread not found", Unreachable),
    (400, "Bad Request: TOPIC_CLOSED", Unreachable),
    (400, "Bad Request: not enough rights to send text messages to the chat", Unreachable),
    (400, "Bad Request: message is too long", Refused),
    (400, "Bad Request: file is too big", Refused),
]


@pytest.mark.parametrize(("code", "description", "kind"), TABLE)
def test_the_kind_of_an_error(code: int, description: str, kind: type[Failed]) -> None:
    error = read_error(code, Payload({"error_code": code, "description": description}))
    failed = judge_error(error)
    assert type(failed) is kind
    assert failed.reason


def test_a_limit_says_when_it_ends() -> None:
    parameters = {"retry_after": 7}
    failed = judge_error(read_error(429, Payload({"parameters": parameters})))
    assert isinstance(failed, TryLater)
    assert failed.after == 7


def test_a_reason_repeats_nothing_of_the_message() -> None:
    description = "Bad Request: button URL 'https://a.example/secret' of chat 5000001234 is invalid"
    reason = judge_error(read_error(400, Payload({"description": description}))).reason
    assert "secret" not in reason
    assert "5000001234" not in reason
    assert "button url" in reason
