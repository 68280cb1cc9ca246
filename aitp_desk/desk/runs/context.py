"""Reads the agent's context of a thread: newest messages and a summary.

The context of a fork includes its parent's messages up to the fork, the parent's own context before
that, and so on. It is read again for every turn, so deleted messages disappear from it. All
messages have one order: a thread's own messages by their number, and before them those of its
parent, whose newest message has place 0. Each is either in the window or covered by the summary,
never both.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import msgspec

from aitp_desk.agent.generative.summary import cut_conversation
from aitp_desk.agent.history.message_codec import make_transcript
from aitp_desk.agent.history.window import WindowMessage, open_window, read_message
from aitp_desk.config import Threads
from aitp_desk.desk.plugins.messages.plain_text import render_plain_text
from aitp_desk.desk.plugins.registry import NO_PLUGINS, PluginRegistry
from aitp_desk.model.conversation.thread import Message
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.threads import Summary
from aitp_desk.store.units.threads.summaries import BEFORE_ALL

GENERATIONS = 8
"""How many parents back the context is read."""
PAGE = 25
"""How many messages are read at once."""

SENTENCE = 30
"""Approximate size, in tokens, of a long message that is reduced to a sentence."""


class ContextPart(msgspec.Struct, frozen=True):
    """A thread that contributes messages to a context.

    Parameters:
        upto_seq: the newest message that belongs to the context.
        offset: added to a message's number, gives its place in the context.
    """

    thread_id: str
    upto_seq: int
    offset: int


class KnownSummary(msgspec.Struct, frozen=True):
    """A summary that a context may use.

    Parameters:
        summary: as stored, perhaps for an ancestor of this thread.
        place: the newest message that it covers, in this context.
    """

    summary: Summary
    place: int


class RunContext(msgspec.Struct, frozen=True):
    """The messages that the agent receives, oldest first.

    Parameters:
        messages: the newest of the thread itself.
        before: the newest of its ancestors; empty if the thread's own fill the window.
        summary: of everything before these; empty if there is nothing.
    """

    messages: tuple[Message, ...]
    before: tuple[Message, ...] = ()
    summary: str = ""


async def read_context(
    store: Store,
    thread_id: str,
    upto_seq: int,
    bounds: Threads,
    most: int | None = None,
    capabilities: PluginRegistry = NO_PLUGINS,
) -> RunContext:
    """Read the context of a turn, within the bounds.

    If the messages since the summary exceed the window, each of the older ones is reduced to a
    sentence. Reading ends when the budget for sentences is used up.

    Parameters:
        upto_seq: the newest message of the thread itself that the turn answers.
        most: only so many messages, and no summary; None for as many as fit.
        capabilities: render their messages as text.
    """
    parts = await list_parts(store, thread_id, upto_seq)
    known = await find_summary(store, parts) if most is None else None
    above = BEFORE_ALL if known is None else known.place
    window_messages: list[WindowMessage] = []
    window, sentences = bounds.window_tokens, bounds.summary_tokens
    async with aclosing(
        read_newest_first(store, parts, above, bounds.window_tokens, capabilities)
    ) as reading:
        async for one in reading:
            window_messages.insert(0, one)
            if len(window_messages) == most or (window < 0 and sentences < 0):
                break
            if window >= 0:
                window -= one.tokens
            else:
                sentences -= min(one.tokens, SENTENCE)
    inside = open_window(window_messages, bounds.window_tokens)
    summary = "" if known is None else known.summary.text
    outside = [one.message for one in window_messages[: len(window_messages) - len(inside)]]
    if outside and most is None:
        summary = cut_conversation(summary, make_transcript(outside), bounds.summary_tokens)
    messages: list[Message] = []
    before: list[Message] = []
    for one in inside:
        (messages if one.place > 0 else before).append(one.message)
    return RunContext(tuple(messages), tuple(before), summary)


async def list_parts(store: Store, thread_id: str, upto_seq: int) -> tuple[ContextPart, ...]:
    """Return the threads that contribute to a context, the thread itself first."""
    parts = [ContextPart(thread_id, upto_seq, 0)]
    while len(parts) <= GENERATIONS:
        child = parts[-1]
        fork = await reads.forked_at(store, child.thread_id)
        if fork is None:
            break
        parent_id, parent_seq = fork
        parts.append(ContextPart(parent_id, parent_seq, child.offset - parent_seq))
    return tuple(parts)


async def find_summary(store: Store, parts: Sequence[ContextPart]) -> KnownSummary | None:
    """Return the summary that covers most, and only messages of the context; or None."""
    for part in parts:
        summary = await reads.summary(store, part.thread_id)
        if summary is not None and summary.upto_seq <= part.upto_seq:
            return KnownSummary(summary, summary.upto_seq + part.offset)
    return None


async def read_newest_first(
    store: Store,
    parts: Sequence[ContextPart],
    above: int,
    room: int,
    capabilities: PluginRegistry = NO_PLUGINS,
) -> AsyncGenerator[WindowMessage]:
    """Read a context from its end.

    Parameters:
        above: the place where reading ends; its message is left out.
        room: of the window, in tokens.
        capabilities: as in :func:`read_context`.
    """
    for part in parts:
        low, below = max(0, above - part.offset), part.upto_seq + 1
        while below - 1 > low:
            page = await reads.messages_between(
                store, part.thread_id, above=low, below=below, limit=PAGE, order="desc"
            )
            for message in page.items:
                told = render_plain_text(message, capabilities)
                yield read_message(message.seq + part.offset, told, room)
            if not page.has_more:
                break
            below = page.items[-1].seq


async def read_oldest_first(
    store: Store,
    parts: Sequence[ContextPart],
    above: int,
    upto: int,
    room: int,
    capabilities: PluginRegistry = NO_PLUGINS,
) -> AsyncGenerator[tuple[ContextPart, WindowMessage]]:
    """Read a context from a place on, each message with its part.

    Parameters:
        above: the place before the first message.
        upto: the place of the last.
        room: of the window, in tokens.
        capabilities: as in :func:`read_context`.
    """
    for part in reversed(parts):
        low = max(0, above - part.offset)
        below = min(part.upto_seq, upto - part.offset) + 1
        while below - 1 > low:
            page = await reads.messages_between(
                store, part.thread_id, above=low, below=below, limit=PAGE, order="asc"
            )
            for message in page.items:
                told = render_plain_text(message, capabilities)
                yield part, read_message(message.seq + part.offset, told, room)
            if not page.has_more:
                break
            low = page.items[-1].seq
