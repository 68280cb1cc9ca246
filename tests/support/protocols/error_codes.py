"""The codes of all errors that desks of this process send, each looked up in the catalogue."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from aitp_desk.http.dispatcher import Dispatcher, Response
from aitp_desk.http.request import Request
from aitp_desk.http.stream_response import StreamWriter
from tests.docs.tables.errors import promised_codes

_SIGNS = (b'"error"', b'"last_error":{', b'"isError":true')


def codes_in(told: Any) -> Iterator[str]:
    """The codes of an error in any protocol's form; none in what is no error."""
    if not isinstance(told, dict):
        return
    match told:
        case {"status": "error", "code": code}:  # AHP
            yield from (code, *([told["detail"]] if "detail" in told else []))
        case {"type": "about:blank", "code": code}:  # a problem
            yield code
        case {"error": str(code), "error_description": _}:  # OAuth
            yield code
        case {"error": {"kind": code, "message": _}}:  # a call that ended
            yield code
        case {"error": {"code": str() | int() as code, "message": _} as error}:
            # over plain HTTP, A2A's is the status and the reason says which
            if "status" not in error:
                yield str(code)
            yield from _details(error.get("data", error.get("details")))
        case {"last_error": {"code": code}}:
            yield code
        case {"result": {"isError": True, "structuredContent": said}}:
            yield from codes_in({"error": said.get("error", said)})
        case _:
            pass


def _details(details: Any) -> Iterator[str]:
    """What a JSON-RPC error says further."""
    for one in details if isinstance(details, list) else [details]:
        if isinstance(one, dict):
            yield from (one[name] for name in ("code", "reason") if name in one)


class SentErrors:
    """What was found.

    Attributes:
        codes: each that was sent.
    """

    def __init__(self) -> None:
        self.codes: set[str] = set()

    def look(self, data: bytes, *, refused: bool = False) -> None:
        """Look at what is sent: a reply, or lines of a stream."""
        if not refused and not any(sign in data for sign in _SIGNS):
            return
        for line in data.splitlines():
            text = line.removeprefix(b"data:").strip()
            if text.startswith(b"{"):
                try:
                    self.codes.update(codes_in(json.loads(text)))
                except ValueError:  # a document over several lines is no error
                    return

    def unknown(self) -> set[str]:
        """The codes that the catalogue lacks; afterwards there are none."""
        codes, self.codes = self.codes, set()
        return codes - promised_codes()


def listen(patch: pytest.MonkeyPatch) -> SentErrors:
    """Look at all that desks answer from now on, until the patch is undone."""
    sent = SentErrors()
    answer, write = Dispatcher.handle_request, StreamWriter.write

    async def answers(front: Dispatcher, request: Request) -> Response:
        outgoing = await answer(front, request)
        sent.look(outgoing.reply.body, refused=outgoing.reply.status >= 400)
        return outgoing

    def writes(outlet: StreamWriter, data: bytes) -> bool:
        sent.look(data)
        return write(outlet, data)

    patch.setattr(Dispatcher, "handle_request", answers)
    patch.setattr(StreamWriter, "write", writes)
    return sent
