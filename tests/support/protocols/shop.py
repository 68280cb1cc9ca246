"""The example shop: new for every call, and one whose database never answers."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

from aitp_desk.agent.base import Agent
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import NOON, Clock
from tests.support.sites.shop import make_shop

DEADLINE_SECONDS = 0.05
_STUCK = """

import threading

FREE = threading.Event()
_opened_at_once = _opened


def _opened(now):
    FREE.wait()
    return _opened_at_once(now)
"""


class Shop:
    """A desk with the shop's actions, and those who call them.

    Parameters:
        customer: may call every action.
        other: has a key that is for threads only.
    """

    def __init__(self, site: Path, customer: Talker, other: Talker) -> None:
        self._site = site
        self.customer = customer
        self.other = other

    def renew(self) -> None:
        """Reset the shop: the next call fills its database."""
        for file in self._site.glob("shop.db*"):
            file.unlink()


@asynccontextmanager
async def open_shop(
    folder: Path, *settings: str, agent: Agent | None = None
) -> AsyncIterator[Shop]:
    """The shop as it is."""
    async with _serving(folder, make_shop(folder), *settings, agent=agent) as shop:
        yield shop


@asynccontextmanager
async def stuck_shop(
    folder: Path, *settings: str, agent: Agent | None = None
) -> AsyncIterator[Shop]:
    """A shop whose actions have a short deadline, and whose database answers none of them."""
    site = make_shop(folder)
    for file in (site / "actions").glob("*.py"):
        text = file.read_text("utf-8")
        file.write_text(text.replace("@action(", f"@action(deadline={DEADLINE_SECONDS}, "), "utf-8")
    database = site / "actions" / "database.py"
    database.write_text(database.read_text("utf-8") + _STUCK, "utf-8")
    try:
        async with _serving(folder, site, *settings, agent=agent) as shop:
            yield shop
    finally:
        _freed(database).set()


@asynccontextmanager
async def _serving(
    folder: Path, site: Path, *settings: str, agent: Agent | None
) -> AsyncIterator[Shop]:
    async with talking(folder, *settings, site=site, clock=Clock(NOON), agent=agent) as talker:
        customer = await talker.with_key("actions", "threads")
        yield Shop(site, customer, await talker.with_key("threads"))


def _freed(database: Path) -> Event:
    """What the threads of a stuck shop wait for."""
    modules = [one for one in sys.modules.values() if getattr(one, "__file__", "") == str(database)]
    (module,) = modules
    free: Event = module.FREE
    return free
