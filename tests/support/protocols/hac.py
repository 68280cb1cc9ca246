"""``POST /capabilities/NAME`` by an agent that asks for HAC."""

from __future__ import annotations

from aitp_desk.model.calls.call import CONFIRMATION
from tests.support.clients.hac import face
from tests.support.clients.threads import Talker
from tests.support.protocols.cases import Case, Outcome
from tests.support.protocols.http import ended, with_consent


class ByHac:
    """The same address as plain HTTP, with the other face."""

    async def call(self, who: Talker, case: Case) -> Outcome:
        faced = await face(who, "POST", f"/capabilities/{case.action}", with_consent(case))
        if faced.status == 202:
            return Outcome("accepted", handle=faced.data["poll"])
        if faced.status == 200:
            told = faced.data
            return Outcome("done", data=told["result"], words=told["response"]["answer"])
        error = faced.error
        if error.get("x-param") == CONFIRMATION:
            (again,) = error["recovery"]["actions"]
            fields = {field["name"]: field for field in again["fields"]}
            (price,) = fields[CONFIRMATION]["enum"]
            return Outcome("asks", error["code"], data=price)
        return Outcome("refused", error["code"], error["message"])

    async def ending(self, who: Talker, handle: str) -> Outcome:
        return ended((await face(who, "GET", handle)).data)
