"""A message with a data part over A2A, by the SDK's own client."""

from __future__ import annotations

from typing import Any

from a2a.types import a2a_pb2
from a2a.utils.errors import InvalidParamsError
from google.protobuf.json_format import MessageToDict

from aitp_desk.protocols.a2a.parts_wire import with_whole_numbers
from tests.support.clients.a2a import Binding, calling, send, state, tasking
from tests.support.clients.threads import Talker
from tests.support.protocols.cases import Case, Outcome
from tests.support.protocols.http import with_consent


class ByTasks:
    """A client of one binding, which waits for what does not go on by itself."""

    def __init__(self, binding: Binding) -> None:
        self._binding = binding

    async def call(self, who: Talker, case: Case) -> Outcome:
        asked = calling(case.action, **with_consent(case))
        at_once = {"returnImmediately": case.kind == "accepted"}
        async with tasking(who.desk, self._binding, key=who.key) as client:
            try:
                task = await send(client, asked, configuration=at_once)
            except InvalidParamsError as error:
                return Outcome("refused", "invalid_request", error.message)
        return _told(task)

    async def ending(self, who: Talker, handle: str) -> Outcome:
        async with tasking(who.desk, self._binding, key=who.key) as client:
            return _told(await client.get_task(a2a_pb2.GetTaskRequest(id=handle)))


def _told(task: a2a_pb2.Task) -> Outcome:
    match state(task):
        case "submitted" | "working":
            return Outcome("accepted", handle=task.id)
        case "completed":
            (artifact,) = task.artifacts
            words, data = _parts(artifact)
            return Outcome("done", data=data, words=words)
        case _:
            words, data = _parts(task.status.message)
    if "price" in data:
        assert state(task) == "input_required"
        return Outcome("asks", data=data["price"])
    return Outcome("refused", data["code"], words)


def _parts(held: Any) -> tuple[str, Any]:
    """What the two parts say: the words, and the data."""
    text, data = held.parts
    return text.text, with_whole_numbers(MessageToDict(data.data))
