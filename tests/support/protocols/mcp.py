"""``tools/call`` over MCP, by the official client."""

from __future__ import annotations

import json

from tests.support.clients.mcp import Mode, failure, tool_user, words
from tests.support.clients.threads import Talker
from tests.support.protocols.cases import Case, Outcome
from tests.support.protocols.http import with_consent


class ByMcp:
    """A client of one era, whose user agrees to whatever a case is to come to."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode

    async def call(self, who: Talker, case: Case) -> Outcome:
        from mcp import MCPError

        given = with_consent(case)
        async with tool_user(who.desk.url, self._mode, who.key) as client:
            await client.list_tools()  # from now on results are held against their schemas
            try:
                told = await client.call_tool(case.action, given)
                if told.is_error and case.situation == "ok":
                    told = await client.call_tool(case.action, given | failure(told)["send"])
            except MCPError as error:
                return Outcome("refused", error.data["code"], error.message)
        if told.is_error:
            refusal = failure(told)
            if "send" in refusal:
                return Outcome("asks", refusal["code"], data=refusal["price"])
            return Outcome("refused", refusal["code"], refusal["message"])
        data = told.structured_content
        if data.get("status") == "pending":
            named = {"capability": data["capability"], "call_id": data["call_id"]}
            return Outcome("accepted", handle=json.dumps(named))
        return Outcome("done", data=data, words=words(told))

    async def ending(self, who: Talker, handle: str) -> Outcome:
        async with tool_user(who.desk.url, self._mode, who.key) as client:
            result = await client.call_tool("call_status", json.loads(handle))
        told = result.structured_content
        match told["status"]:
            case "pending":
                return Outcome("accepted")
            case "success":
                return Outcome("done", data=told["result"], words=words(result))
            case _:
                assert result.is_error
                return Outcome("refused", told["error"]["code"], words(result))
