"""Lets all processes of a desk take up changed content at the same moment.

Each process looks at its content by itself, a large folder seldom. One that has taken up a change
raises an epoch in the database; the others then look at once, so that no visitor meets old and new
answers in turn for long. A look that finds nothing new raises nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import structlog

from aitp_desk.desk.jobs.background_task import keep_running
from aitp_desk.desk.jobs.epoch_watcher import watch_epoch
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.units.content import CONTENT_EPOCH, raise_content_epoch

_log = structlog.get_logger()


@asynccontextmanager
async def share_content_changes(store: Store, contents: Sequence[Knowledge]) -> AsyncIterator[None]:
    """Tell other processes of changed content, and follow theirs, while the context lasts.

    Parameters:
        contents: of all site agents.
    """
    is_wanted = asyncio.Event()

    async def tell(knowledge: Knowledge) -> None:
        while True:
            await knowledge.replaced()
            try:
                await store.run(raise_content_epoch)
            except (StoreBusy, StoreError) as error:  # the others look by themselves
                _log.warning("content.change_not_told", reason=str(error))

    async def follow() -> None:
        while True:
            await is_wanted.wait()
            is_wanted.clear()
            for knowledge in contents:
                try:
                    await knowledge.refresh()
                except Exception as error:  # noqa: BLE001 -- its own look reports why, and retries
                    _log.info("content.not_taken_up_yet", reason=type(error).__name__)

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(watch_epoch(store, CONTENT_EPOCH, is_wanted.set))
        await stack.enter_async_context(keep_running(follow))
        for knowledge in contents:
            await stack.enter_async_context(keep_running(partial(tell, knowledge)))
        yield
