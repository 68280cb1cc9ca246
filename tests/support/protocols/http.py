"""The protocols that take a call as one HTTP request: AHP, and plain JSON."""

from __future__ import annotations

import json
from typing import Any

from aitp_desk.model.calls.call import CONFIRMATION
from tests.support.clients.threads import Talker
from tests.support.protocols.cases import Case, Outcome

_AHP_KINDS = {
    "auth_required": "not_authenticated",
    "unknown_capability": "unknown_action",
    "concierge_error": "internal",
}
"""The codes of AHP that are called otherwise in the desk (``docs/protocols/errors.md``)."""


def with_consent(case: Case) -> dict[str, Any]:
    """The arguments, with what their caller agrees to as JSON has it."""
    agreed = {} if case.agreed is None else {CONFIRMATION: case.agreed}
    return {**case.arguments, **agreed}


def ended(told: Any) -> Outcome:
    """The handle of a call that runs in the background; both forms have the same members for it."""
    match told["status"]:
        case "pending":
            return Outcome("accepted")
        case "success":
            payload = told["response"].get("payload", told)
            data = payload.get("result", payload.get("data"))
            return Outcome("done", data=data, words=told["response"]["answer"])
        case _:
            assert told["status"] == "failed"
            return Outcome("refused", told["error"]["kind"], told["error"]["message"])


class Direct:
    """``POST /capabilities/NAME``: a result, or a problem (RFC 9457)."""

    async def call(self, who: Talker, case: Case) -> Outcome:
        told = await who.send("POST", f"/capabilities/{case.action}", with_consent(case))
        body = told.body
        if told.status == 202:
            assert told.headers["Location"] == body["poll"]
            return Outcome("accepted", handle=body["poll"])
        if told.status == 200:
            assert body["status"] == "success"
            return Outcome("done", data=body["result"], words=body["response"]["answer"])
        assert told.headers["Content-Type"] == "application/problem+json"
        assert body["status"] == told.status
        if body.get("param") == CONFIRMATION:
            return Outcome("asks", body["code"], data=body["price"])
        return Outcome("refused", body["code"], body["detail"])

    async def ending(self, who: Talker, handle: str) -> Outcome:
        return ended((await who.send("GET", handle)).ok)


class Ahp:
    """``POST /agent/converse`` with the arguments as the query's JSON (AHP 0.1, section 6)."""

    async def call(self, who: Talker, case: Case) -> Outcome:
        accepts = ["application/data", "application/action-result"]
        asked = {
            "capability": case.action,
            "query": json.dumps(with_consent(case)),
            "context": {"accept_types": accepts},
        }
        told = await who.send("POST", "/agent/converse", asked)
        body = told.body
        match body["status"]:
            case "accepted":
                assert told.status == 200
                return Outcome("accepted", handle=body["poll"])
            case "success":
                payload = body["response"]["payload"]
                data = payload.get("result", payload.get("data"))
                return Outcome("done", data=data, words=body["response"]["answer"])
            case "clarification_needed":
                return Outcome("asks")
            case _:
                assert body["status"] == "error"
                code = body.get("detail", body["code"])
                return Outcome("refused", _AHP_KINDS.get(code, code), body["message"])

    async def ending(self, who: Talker, handle: str) -> Outcome:
        return ended((await who.send("GET", handle)).ok)
