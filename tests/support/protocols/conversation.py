"""A question over each protocol with conversations, in a new one or in one begun elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from a2a.utils.errors import A2AError

from tests.support.clients.a2a import send, tasking
from tests.support.clients.hac import ACCEPT, face
from tests.support.clients.mcp import failure, tool_user
from tests.support.clients.threads import THREADS, Talker

ASKS = "content_search"
"""The name that questions are sent to, where a protocol has several."""


class Heard(NamedTuple):
    """An answer.

    Parameters:
        name: the protocol's name of the conversation.
        sources: the addresses of what the answer was taken from.
    """

    answer: str
    name: str
    sources: tuple[str, ...]


class Refused(Exception):
    """A protocol does not continue a conversation; the message is its code, or its words."""


class Speaker(Protocol):
    """A client of a protocol with conversations."""

    async def ask(self, who: Talker, question: str, name: str | None = None) -> Heard:
        """Put a question.

        Parameters:
            name: of the conversation to continue, over any protocol; None begins one.

        Raises:
            Refused: there is no such conversation for this caller.
        """


class OverThreads:
    """AITP: a message on a thread, and the reply to it."""

    async def ask(self, who: Talker, question: str, name: str | None = None) -> Heard:
        if name is None:
            name = (await who.open(question, wait=10)).id
        else:
            posted = await who.post(name, question, wait=10)
            if posted.status != 200:
                raise Refused(posted.refusal[1])
        listed = (await who.send("GET", f"{THREADS}/{name}/messages?limit=1")).ok
        answer, *sources = listed["data"][0]["content"]
        return Heard(answer, name, tuple(line.rpartition(" ")[2] for line in _lines(sources)))


class OverHac:
    """AITP by an agent that asks for HAC, and follows its links."""

    async def ask(self, who: Talker, question: str, name: str | None = None) -> Heard:
        said: dict[str, Any] = {"role": "user", "content": question}
        path, body = f"{THREADS}/{name}/messages", said
        if name is None:
            path, body = THREADS, {"messages": [said]}
        waits = (ACCEPT, ("Prefer", "wait=10"))
        told = await face(who, "POST", path, body, headers=waits)
        if told.status != 200:
            raise Refused(told.error["code"])
        name = name or str(told.data["id"])
        listed = await face(who, "GET", f"{THREADS}/{name}/messages?limit=1")
        answer, *sources = listed.data["data"][0]["content"]
        return Heard(answer, name, tuple(line.rpartition(" ")[2] for line in _lines(sources)))


class OverHttp:
    """``POST /capabilities/NAME``: a question as the OpenAPI document has it."""

    async def ask(self, who: Talker, question: str, name: str | None = None) -> Heard:
        given = {"query": question, **({} if name is None else {"session_id": name})}
        told = await who.send("POST", f"/capabilities/{ASKS}", given)
        if told.status != 200:
            raise Refused(str(told.body))
        response = told.body["response"]
        urls = tuple(source["url"] for source in response["sources"])
        return Heard(response["answer"], told.body["session_id"], urls)


class OverAhp:
    """AHP: a query in a session (AHP 0.1, section 6.1)."""

    async def ask(self, who: Talker, question: str, name: str | None = None) -> Heard:
        body = {"ahp": "0.1", "capability": ASKS, "query": question}
        asked = body if name is None else {**body, "session_id": name}
        told = (await who.send("POST", "/agent/converse", asked)).body
        if told["status"] == "error":
            raise Refused(told["detail"])
        response = told["response"]
        urls = tuple(source["url"] for source in response["sources"])
        return Heard(response["answer"], told["session_id"], urls)


class OverMcp:
    """MCP: a tool that answers questions."""

    async def ask(self, who: Talker, question: str, name: str | None = None) -> Heard:
        given = {"query": question, **({} if name is None else {"session_id": name})}
        async with tool_user(who.desk.url, "auto", who.key) as client:
            result = await client.call_tool(ASKS, given)
        if result.is_error:
            raise Refused(failure(result)["code"])
        told = result.structured_content
        urls = tuple(source["url"] for source in told["sources"])
        return Heard(told["answer"], told["session_id"], urls)


class OverTasks:
    """A2A: a message in a context, and the task that answers it."""

    async def ask(self, who: Talker, question: str, name: str | None = None) -> Heard:
        context = {} if name is None else {"contextId": name}
        async with tasking(who.desk, key=who.key) as client:
            try:
                task = await send(client, question, **context)
            except A2AError as error:
                raise Refused(error.message) from None
        (artifact,) = task.artifacts
        answer, *sources = (part.text for part in artifact.parts)
        urls = tuple(line.rpartition(" ")[2] for line in _lines(sources))
        return Heard(answer, task.context_id, urls)


DOORS: Mapping[str, Speaker] = {
    "aitp": OverThreads(),
    "hac": OverHac(),
    "ahp": OverAhp(),
    "http": OverHttp(),
    "mcp": OverMcp(),
    "a2a": OverTasks(),
}


def _lines(parts: list[str]) -> list[str]:
    """Return the lines of the separate part that names the sources."""
    return [line for part in parts for line in part.splitlines() if line.startswith("- ")]
