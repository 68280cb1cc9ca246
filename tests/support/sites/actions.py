"""Actions of a site, for tests: a function under a declaration."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aitp_desk.actions.base import ActionResult, Context, OfferedAction
from aitp_desk.auth.keys.data_keys import FIRST, DataKeys
from aitp_desk.auth.keys.encryption import TextSealer
from aitp_desk.config import Threads
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.sealed_values import Sealer
from aitp_desk.desk.access.site_agents import OwnNames
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.plugins.desk_messages import DeskMessages
from aitp_desk.desk.plugins.judge import Judge
from aitp_desk.desk.plugins.registry import NO_PLUGINS
from aitp_desk.model.calls.action import Action
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.store.base import Store
from aitp_desk.store.engine.sqlite import SqliteStore
from tests.support.access.audit_log import KEYS
from tests.support.desk.first_start import begin_database

Perform = Callable[[str, Mapping[str, Any]], Awaitable[str]]
"""Given the id of who calls and the arguments; returns the result in words."""


def offering(action: Action, perform: Perform) -> OfferedAction:
    """An action that takes whatever it is given and answers in words."""

    async def carry_out(arguments: Mapping[str, Any], context: Context) -> ActionResult:
        return ActionResult(None, await perform(context.caller.id or "anonymous", arguments))

    return OfferedAction(action, read=dict, perform=carry_out)


def context_of(store: Any, clock: Callable[[], float], process: str = "") -> DeskContext:
    """The context of a desk that is the only one of its site."""
    actor = Actor("https://lamps.example")
    return DeskContext("", actor, OwnNames((actor,)), Threads(), store, KEYS, clock, process)


def wordless() -> DeskMessages:
    """What has a desk's speech judged that has enabled no capability: nobody is asked."""
    nothing: Any = None
    context = context_of(nothing, time.time)
    judge = Judge(
        NO_PLUGINS,
        context,
        sealer=nothing,
        guesses=None,
        health_checks=nothing,
        wake=lambda: None,
        asks_for_person=lambda _text: False,
        asks_for_action=lambda _text: False,
    )
    return DeskMessages(context, judge)


@asynccontextmanager
async def calling(
    folder: Path, *offered: OfferedAction, clock: Callable[[], float] = time.time, **more: Any
) -> AsyncIterator[ActionInvoker]:
    """Calls these actions, with a separate database in the folder."""
    database = folder / "calls.db"
    begin_database(database)
    async with SqliteStore.open(database) as store:
        yield invoker_on(store, *offered, clock=clock, **more)


def invoker_on(
    store: Store,
    *offered: OfferedAction,
    clock: Callable[[], float] = time.time,
    process: str = "",
    **more: Any,
) -> ActionInvoker:
    """What calls these actions, with calls in a store."""
    return ActionInvoker(
        context_of(store, clock, process),
        offered,
        sealer=Sealer(TextSealer(DataKeys({FIRST: bytes(32)})), clock),
        expires_seconds=3600,
        **more,
    )
