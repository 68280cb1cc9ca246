"""Verifies the hash chains of all threads (``model/conversation/chain.py``)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

import msgspec

from aitp_desk.model.conversation.chain import FIRST_LINK, canonical, digest_message, next_link
from aitp_desk.model.conversation.thread import Attachment
from aitp_desk.store.base import Reader
from aitp_desk.store.units.threads.folded_threads import read_turn

PAGE_ROWS = 500
MOST_TOLD = 10
"""How many changed threads are named; one is enough to act upon."""

_texts = msgspec.json.Decoder(tuple[str, ...]).decode
_attachments = msgspec.json.Decoder(tuple[Attachment, ...]).decode


class Chains(msgspec.Struct, frozen=True):
    """The result of a check of all chains.

    Parameters:
        threads: how many have messages.
        messages: how many these have, including deleted ones.
        folded: how many first turns are stored in one row; they get their links when they are
            unfolded.
        broken: what was changed, at most ``MOST_TOLD`` entries.
    """

    threads: int
    messages: int
    folded: int
    broken: tuple[str, ...]


class _Message(NamedTuple):
    """A row of ``chained_messages``."""

    id: str
    thread_id: str
    seq: int
    role: str
    actor: str
    created_at: int
    content: str | None
    attachments: str | None
    salt: bytes | None
    digest: bytes
    link: bytes
    last_seq: int
    last_link: bytes


async def check_chains(
    reader: Reader, *, name: Callable[[str], str], told: Callable[[int], None]
) -> Chains:
    """Recompute every digest and link, a page of messages at a time.

    Parameters:
        name: what is shown instead of a thread's id, which may grant access.
        told: called from time to time with the number of messages checked.
    """
    threads = messages = 0
    broken: list[str] = []
    before: _Message | None = None
    is_broken = False
    at = {"thread_id": "", "seq": 0}
    while rows := await reader.read("chained_messages", {**at, "limit": PAGE_ROWS}):
        for message in map(_Message._make, rows):
            if before is None or message.thread_id != before.thread_id:
                if before is not None and not is_broken and (why := _wrong_end(before)):
                    broken.append(f"{name(before.thread_id)}: {why}")
                threads += 1
                is_broken, before = False, None
            if not is_broken and (why := _wrong(before, message)):
                place = f"message {message.seq} ({message.id})"
                broken.append(f"{name(message.thread_id)}, {place}: {why}")
                is_broken = True  # later links depend on it
            before = message
        messages += len(rows)
        told(messages)
        at = {"thread_id": rows[-1][1], "seq": rows[-1][2]}
    if before is not None and not is_broken and (why := _wrong_end(before)):
        broken.append(f"{name(before.thread_id)}: {why}")
    broken += [f"{name(id_)}: all of its messages are missing" async for id_ in _emptied(reader)]
    folded, undone = await _check_folded(reader, name)
    return Chains(threads, messages, folded, tuple([*broken, *undone][:MOST_TOLD]))


async def _emptied(reader: Reader) -> AsyncIterator[str]:
    """Return the threads with a message that is no longer stored."""
    after = ""
    while rows := await reader.read("emptied_threads", {"thread_id": after, "limit": PAGE_ROWS}):
        for thread_id, is_emptied in rows:
            if is_emptied:
                yield thread_id
        after = rows[-1][0]


async def _check_folded(reader: Reader, name: Callable[[str], str]) -> tuple[int, list[str]]:
    """Count the first turns that are stored in one row; report those that cannot be read."""
    folded, broken, after = 0, [], ""
    while rows := await reader.read("folded_turns_after", {"thread_id": after, "limit": PAGE_ROWS}):
        folded += len(rows)
        broken += [f"{name(id_)}: its turn cannot be read" for id_, packed in rows if _bad(packed)]
        after = rows[-1][0]
    return folded, broken


def _bad(packed: bytes) -> bool:
    try:
        read_turn(packed)
    except msgspec.MsgspecError:
        return True
    return False


def _wrong(before: _Message | None, message: _Message) -> str:
    """Describe what is wrong with a message, given the one before it; empty for nothing."""
    seq, link = (before.seq, before.link) if before is not None else (0, FIRST_LINK)
    if message.seq != seq + 1:
        return "the message before it is missing"
    if not _is_as_digested(message):
        return "it was changed"
    if message.link != next_link(link, message.digest):
        return "it is not linked to the message before it"
    return ""


def _wrong_end(last: _Message) -> str:
    """Describe what is wrong with the end of a thread's chain; empty for nothing."""
    if last.seq != last.last_seq:
        return f"its messages after {last.seq} are missing"
    return "" if last.link == last.last_link else "its last message is a different one"


def _is_as_digested(message: _Message) -> bool:
    if message.content is None or message.salt is None:  # deleted: its digest reveals nothing
        return message.content is None and message.salt is None
    try:
        said = canonical(
            thread=message.thread_id,
            seq=message.seq,
            role=message.role,
            actor=message.actor,
            created_at=message.created_at,
            content=_texts(message.content),
            attachments=_attachments(message.attachments or "[]"),
        )
    except msgspec.MsgspecError:
        return False
    return message.digest == digest_message(message.salt, said)
