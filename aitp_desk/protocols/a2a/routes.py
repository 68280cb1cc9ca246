"""Serves A2A: the card, JSON-RPC, and plain HTTP."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from aitp_desk.desk.desk import Desk
from aitp_desk.model.access.principal import Principal
from aitp_desk.protocols.a2a import rpc
from aitp_desk.protocols.a2a.card import CARD_PATH, DOOR_PATH, AgentCards
from aitp_desk.protocols.a2a.dialect import Dialect
from aitp_desk.protocols.a2a.errors_wire import (
    render_http_error,
    render_http_error_03,
    render_rpc_error,
)
from aitp_desk.protocols.a2a.payments import with_active_extensions
from aitp_desk.protocols.a2a.rest import make_rest_routes
from aitp_desk.protocols.base.json_rpc import OBJECTS
from aitp_desk.protocols.base.protocol import Call, ProtocolRoutes, Reply, Route

MOST_FILE_BYTES = 4 * 1024 * 1024
"""The most bytes of all files in one message, whatever one file's limit."""
_OWN = ("message:", "tasks", "extendedAgentCard")


def make_routes(
    desk: Desk,
    *,
    max_body: int,
    max_file: int,
    token_path: str,
    docs_path: str,
    is_union: bool,
    clock: Callable[[], float],
) -> tuple[ProtocolRoutes, ...]:
    """Return the protocols of one desk, one for each error form.

    Parameters:
        max_body: the most bytes of a message without its files.
        max_file: the most bytes of a file.
        token_path: where clients get access tokens; empty without such an address.
        docs_path: the page about what the desk answers; empty where it is not served.
        is_union: whether the public card is also for callers of version 0.3.
        clock: Unix seconds.
    """
    root = desk.base_path
    below, path = f"{desk.site.url}{root}", f"{root}{DOOR_PATH}"
    token_url = f"{desk.site.url}{token_path}" if token_path else ""
    docs_url = f"{desk.site.url}{docs_path}" if docs_path else ""
    cards = AgentCards(
        below, token_url=token_url, docs_url=docs_url, is_union=is_union, clock=clock
    )
    most = max_body + min(max_file, MOST_FILE_BYTES) * 4 // 3
    answer = with_active_extensions(partial(_answer, cards, below))

    def most_of(desk: Desk, principal: Principal) -> int:
        return most if desk.files.may_upload(principal) else max_body

    own = desk if desk.name else None
    called = f" of {desk.name}" if desk.name else ""
    return (
        ProtocolRoutes(
            f"a2a{called}",
            (
                Route("GET", f"{root}{CARD_PATH}", cards.get, "static", is_open=True),
                *(
                    Route("POST", one, answer, "converse", most, max_body_for=most_of)
                    for one in (path, f"{path}/")
                ),
            ),
            (path, f"{root}{CARD_PATH}"),
            render_rpc_error,
            own,
            objects=OBJECTS,
        ),
        ProtocolRoutes(
            f"a2a over HTTP{called}",
            make_rest_routes(Dialect.V1, cards, below, path, most, most_of),
            tuple(f"{path}/{own_path}" for own_path in _OWN),
            render_http_error,
            own,
        ),
        ProtocolRoutes(
            f"a2a 0.3 over HTTP{called}",
            make_rest_routes(Dialect.V03_HTTP, cards, below, f"{path}/v1", most, most_of),
            (f"{path}/v1/",),
            render_http_error_03,
            own,
        ),
    )


async def _answer(cards: AgentCards, below: str, desk: Desk, call: Call) -> Reply:
    return await rpc.answer(desk, call, cards, below)
