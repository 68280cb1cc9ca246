"""Puts questions to the desk's own actions, and answers to its open requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.turn import AskReply, AskRequest
from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.model.calls.secret_places import is_secret
from aitp_desk.protocols.base.open_requests_wire import is_asked_by_plugin
from aitp_desk.protocols.mcp.caller import Caller
from aitp_desk.protocols.mcp.elicitation import ElicitationReplies, ask_answer, read_replies
from aitp_desk.protocols.mcp.results import make_answer, make_left_open
from aitp_desk.protocols.mcp.tools import Item


async def ask_desk(desk: Desk, caller: Caller, ask: AskRequest, params: Mapping[str, Any]) -> Item:
    """Ask a question; ask the client's user where the answer leaves a request open.

    A client that asks its user calls again with the user's input. That input answers the request,
    and the question is not asked again.

    Raises:
        RpcError: the client's state is not the issued one.
        DeskError: as of ``desk.conversations.ask``; the answer does not fit, or comes too late.
    """
    replied = read_replies(params) if caller.elicits else ElicitationReplies()
    if replied.request is not None:
        if replied.is_declined:
            waiting = await desk.open_requests.list_for_session(caller.principal, replied.session)
            return make_left_open(replied.session, waiting)
        thread_id = await desk.sessions.find_thread(caller.principal, replied.session)
        draft = await desk.open_requests.draft_answer(
            caller.principal, thread_id, replied.request, replied.answer
        )
        ask = replace(ask, query=draft.content[0], session_id=replied.session)
    ask = replace(ask, step_aside=caller.step_aside)
    asked = await desk.conversations.ask(caller.principal, ask, caller.allowance)
    if not is_asked_by_plugin(asked.outcome):
        return make_answer(asked, desk.site.url)
    waiting = await desk.open_requests.list_for_session(caller.principal, asked.session_id)
    if caller.elicits and (meant := find_asked_request(asked, waiting)) is not None:
        return ask_answer(meant, asked.session_id)
    return make_answer(asked, desk.site.url, waiting)


def find_asked_request(asked: AskReply, waiting: tuple[OpenRequest, ...]) -> OpenRequest | None:
    """Return the request to put to the user; None without one.

    It is one that the caller may answer. No form asks for sensitive input (MCP 2025-11-25,
    elicitation): the text says what to do.
    """
    own = [one for one in waiting if one.answers_as is not None and not _is_sensitive(one)]
    said = {part.text for part in asked.outcome.spoken}
    return next((one for one in own if one.words in said), next(iter(own), None))


def _is_sensitive(request: OpenRequest) -> bool:
    members = request.form.get("properties", {}).values()
    return any(map(is_secret, members))
