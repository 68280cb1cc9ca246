"""Actions that enter something, and may be held up: for desks that something befalls meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aitp_desk.model.calls.action import Action, Safety
from tests.support.clients.threads import Talker, Told
from tests.support.sites.actions import offering

SECONDS = 60
LONG = "x" * 3_900
"""Takes a page of the database, wherever it is written."""


class Entering:
    """Actions that enter something: at once, and when they may, also while the caller waits.

    Attributes:
        entered: what was entered, in order.
        begun: set once something waits to be entered.
        may_enter: what waits is entered once this is set.
    """

    def __init__(self) -> None:
        self.entered: list[str] = []
        self.begun = asyncio.Event()
        self.may_enter = asyncio.Event()
        safety = Safety("reversible", "self")
        now = Action("enter", "Enters.", "action", open_to="actions", safety=safety)
        later = Action("enter_later", "Enters.", "async", open_to="actions", safety=safety)
        held = Action("enter_held", "Enters.", "action", open_to="actions", safety=safety)
        self.offered = (
            offering(now, self._enter),
            offering(later, self._enter_later),
            offering(held, self._enter_later),
        )

    def hold(self) -> None:
        """Have what comes now wait."""
        self.begun.clear()
        self.may_enter.clear()

    async def _enter(self, _who: str, arguments: Mapping[str, Any]) -> str:
        self.entered.append(arguments["note"][:9])
        return LONG

    async def _enter_later(self, who: str, arguments: Mapping[str, Any]) -> str:
        self.begun.set()
        await self.may_enter.wait()
        return await self._enter(who, arguments)


async def enter(talker: Talker, action: str, note: str, **context: str) -> Told:
    """Call an action."""
    query = json.dumps({"note": note})
    asked = {"ahp": "0.1", "capability": action, "query": query, "context": context}
    return await talker.send("POST", "/agent/converse", asked)


async def status_of(talker: Talker, accepted: Told) -> str:
    """How a call stands that was accepted."""
    told = await talker.send("GET", accepted.body["poll"])
    status: str = told.body["status"]
    return status


async def until_ended(talker: Talker, accepted: Told) -> str:
    """How a call ended that was accepted."""
    async with asyncio.timeout(SECONDS):
        while (status := await status_of(talker, accepted)) == "pending":
            await talker.desk.store.settled()
    return status
