"""The site's agent, which calls for a visitor on a thread; what a model would do a script does."""

from __future__ import annotations

import json

from aitp_desk.agent.base import Answer, Clarification, Turn
from aitp_desk.agent.base import Outcome as Said
from aitp_desk.agent.tools import ToolResult
from aitp_desk.model.conversation.run import ToolCall
from tests.support.clients.threads import Talker
from tests.support.doubles.agent import ScriptedAgent
from tests.support.protocols.cases import Case, Outcome

APPROVED = "The call was approved and is running now."
"""What a person of the site says on the thread before the end comes there."""


class CallingAgent(ScriptedAgent):
    """An agent that calls what the visitor's words name, as JSON.

    Attributes:
        calls_tools: that it does: what a visitor agrees to is done for it.
        result: what the last call gave it.
    """

    calls_tools = True

    def __init__(self) -> None:
        super().__init__(self._call)
        self.result = ToolResult("")

    async def _call(self, turn: Turn) -> Said:
        if turn.rounds:  # the visitor has said yes, and the desk has done it
            (called,) = turn.rounds[-1].called
            assert called.result is not None
            self.result = called.result
        else:
            name, arguments = json.loads(turn.question)
            self.result = await turn.invoke(ToolCall("call_1", name, json.dumps(arguments)))
        asks = self.result.asks
        if asks is not None:
            return Clarification(asks.question, asks.options, free_form=False, waits=asks.call_id)
        return Answer(self.result.output)


class ByAgent:
    """A message on a thread; its agent calls, and asks the visitor first where it has to."""

    def __init__(self, agent: CallingAgent) -> None:
        self._agent = agent

    async def call(self, who: Talker, case: Case) -> Outcome:
        words = json.dumps([case.action, case.arguments])
        thread = (await who.open({"role": "user", "content": words}, wait=10)).ok
        result = self._agent.result
        if result.asks is not None:
            assert (await who.texts(thread["id"]))[-1].startswith(result.asks.question)
            if case.situation != "ok":
                return Outcome("asks")
            await who.post(thread["id"], "yes", wait=10)
            result = self._agent.result
        if result.failed:
            return Outcome("refused", message=result.output)
        if result.output.startswith("{"):
            told = json.loads(result.output)
            return Outcome(
                "done",
                data=told["result"],
                words="\n".join([told["in_words"], *told.get("effects", [])]),
            )
        return Outcome("accepted", handle=thread["id"])

    async def ending(self, who: Talker, handle: str) -> Outcome:
        said = (await who.texts(handle))[2:]
        if not said or said[-1] == APPROVED:
            return Outcome("accepted")
        return Outcome("done", words=said[-1])
