"""Summarizes threads that have grown too long for the agent's window.

Summaries are made in the background, one after another. No request waits for one: until it exists
the agent receives old messages as one sentence each, and one that is lost with the process is made
after the thread's next reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import structlog

from aitp_desk.agent.base import Agent, Summariser, Utterance
from aitp_desk.agent.generative.summary import cut_conversation, cut_to_tokens
from aitp_desk.agent.history.message_codec import make_transcript
from aitp_desk.agent.history.window import WindowMessage, open_window, read_first_part
from aitp_desk.config import Threads
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.desk.runs.context import (
    ContextPart,
    find_summary,
    list_parts,
    read_newest_first,
    read_oldest_first,
)
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.records.threads import MessageRange, Summary
from aitp_desk.store.units.threads.summaries import BEFORE_ALL, keep_summary

EXTRACTIVE = "extractive"
MAX_WAITING = 1000
"""How many threads may wait for a summary; others get theirs after a later reply."""
MAX_STEPS = 4
"""How many windows of messages go into a summary after one reply."""

_log = structlog.get_logger()


class ThreadSummarizer:
    """Maintains summaries of the messages that do not fit the window.

    A summary is made when the messages it does not cover outgrow the window. It covers all but the
    newest half of them, so it is not remade with every reply.

    Parameters:
        agent: makes them, if it is a :class:`~aitp_desk.agent.base.Summariser`.
        bounds: the lengths of the window and the summary.
        capabilities: render their messages as text.
    """

    def __init__(
        self, *, store: Store, agent: Agent, bounds: Threads, capabilities: PluginRegistry
    ) -> None:
        self._capabilities = capabilities
        self._store = store
        self._agent = agent
        self._bounds = bounds
        self._waiting: dict[str, int] = {}
        self._wanted = asyncio.Event()

    def request_summary(self, thread_id: str, upto_seq: int) -> None:
        """Queue a thread for a summary, made if the thread is too long.

        Parameters:
            upto_seq: its newest message that has been answered.
        """
        if thread_id in self._waiting or len(self._waiting) < MAX_WAITING:
            self._waiting[thread_id] = upto_seq
            self._wanted.set()

    async def run(self) -> None:
        """Make summaries until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            while self._waiting:
                thread_id = next(iter(self._waiting))
                upto_seq = self._waiting.pop(thread_id)
                try:
                    await self._bring_up(thread_id, upto_seq)
                except (StoreBusy, StoreError) as error:
                    _log.warning("thread_not_summarised", reason=str(error))
                except Exception:  # noqa: BLE001 -- the other threads' summaries go on
                    _log.exception("thread_not_summarised")

    async def _bring_up(self, thread_id: str, upto_seq: int) -> None:
        for _ in range(MAX_STEPS):
            if not await self._take_step(thread_id, upto_seq):
                return

    async def _take_step(self, thread_id: str, upto_seq: int) -> bool:
        """Summarize the oldest messages that no summary covers, if needed.

        Returns:
            Whether another step may be needed.
        """
        parts = await list_parts(self._store, thread_id, upto_seq)
        known = await find_summary(self._store, parts)
        above = BEFORE_ALL if known is None else known.place
        last = await self._outgrown(parts, above)
        if last is None:
            return False
        taken, made_of = await self._oldest(parts, above, last)
        if not taken:
            return False
        previous = None if known is None else known.summary
        said = make_transcript([one.message for one in taken])
        text, made_by = await self._shorten("" if previous is None else previous.text, said)
        return await self._store.run(
            keep_summary,
            summary=Summary(thread_id, taken[-1].place, text, made_by),
            made_of=made_of,
            previous=previous,
        )

    async def _outgrown(self, parts: Sequence[ContextPart], above: int) -> int | None:
        """Return the last place that a summary must cover, or None.

        It is None while all fits the window.
        """
        room = self._bounds.window_tokens
        window_messages: list[WindowMessage] = []
        async with aclosing(
            read_newest_first(self._store, parts, above, room, self._capabilities)
        ) as reading:
            async for one in reading:
                window_messages.insert(0, one)
                room -= one.tokens
                if room < 0:
                    return (
                        open_window(window_messages, self._bounds.window_tokens // 2)[0].place - 1
                    )
        return None

    async def _oldest(
        self, parts: Sequence[ContextPart], above: int, upto: int
    ) -> tuple[tuple[WindowMessage, ...], list[MessageRange]]:
        """Return a window of the oldest messages between two places, and their ranges."""
        room = self._bounds.window_tokens
        window_messages: list[WindowMessage] = []
        part_at: dict[int, ContextPart] = {}
        async with aclosing(
            read_oldest_first(self._store, parts, above, upto, room, self._capabilities)
        ) as reading:
            async for part, one in reading:
                window_messages.append(one)
                part_at[one.place] = part
                room -= one.tokens
                if room < 0:
                    break
        taken = read_first_part(window_messages, self._bounds.window_tokens)
        stretches: dict[str, MessageRange] = {}
        for one in taken:
            part, seq = part_at[one.place], one.place - part_at[one.place].offset
            begun = stretches.get(part.thread_id, MessageRange(part.thread_id, seq - 1, seq, 0))
            stretches[part.thread_id] = MessageRange(
                part.thread_id, begun.above, seq, begun.count + 1
            )
        return taken, list(stretches.values())

    async def _shorten(self, previous: str, said: Sequence[Utterance]) -> tuple[str, str]:
        """Return a summary, and the name of its maker."""
        most = self._bounds.summary_tokens
        if isinstance(self._agent, Summariser):
            try:
                text = (await self._agent.summarise(previous, said, most)).strip()
            except Exception:  # noqa: BLE001 -- the extractive summary is the fallback
                _log.exception("summariser_failed", agent=self._agent.name)
            else:
                if text:
                    return cut_to_tokens(text, most), self._agent.name
        return cut_conversation(previous, said, most), EXTRACTIVE
