"""What the Cloud API's errors mean."""

from __future__ import annotations

import pytest

from aitp_desk.transports.base import Failed, Refused, TryLater, Unreachable, WindowClosed
from aitp_desk.transports.whatsapp.failures import read_failure
from aitp_desk.transports.wire.payload import Payload

TABLE: list[tuple[int, int, type[Failed]]] = [
    (400, 131047, WindowClosed),
    (400, 131026, Unreachable),
    (400, 131030, Unreachable),
    (429, 130429, TryLater),
    (400, 80007, TryLater),
    (400, 131056, TryLater),
    (400, 131048, TryLater),
    (500, 131000, TryLater),
    (500, 131016, TryLater),
    (401, 190, TryLater),
    (403, 10, TryLater),
    (403, 200, TryLater),
    (400, 368, TryLater),
    (400, 100, Refused),
    (400, 132000, Refused),
    (404, 132001, Refused),
    (400, 131053, Refused),
    (400, 999999, Refused),
]


@pytest.mark.parametrize(("status", "code", "kind"), TABLE)
def test_the_kind_of_an_error(status: int, code: int, kind: type[Failed]) -> None:
    failed = read_failure(status, Payload({"error": {"code": code, "message": "to +4915"}}))
    assert type(failed) is kind
    assert str(code) in failed.reason
    assert "4915" not in failed.reason


@pytest.mark.parametrize(("status", "kind"), [(502, TryLater), (429, TryLater), (401, TryLater)])
def test_an_error_without_a_code_is_judged_by_its_status(status: int, kind: type[Failed]) -> None:
    assert type(read_failure(status, Payload())) is kind


def test_limits_say_how_long_they_last() -> None:
    failed = read_failure(400, Payload({"error": {"code": 131056}}))
    assert isinstance(failed, TryLater)
    assert failed.after == 10
