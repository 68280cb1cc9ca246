"""Stores summaries of threads while all messages that they cover exist.

Deleted text must not live on in a summary. So deleting a message deletes the summaries that cover
it, in the same unit; and a summary is stored only if no message that it covers was deleted while it
was made.
"""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.store.base import Work
from aitp_desk.store.records.threads import MessageRange, Summary

BEFORE_ALL = -(2**62)
"""A position before every message, including those before a fork."""


def keep_summary(
    *, summary: Summary, made_of: Sequence[MessageRange], previous: Summary | None
) -> Work[bool]:
    """Store the summary of a thread, replacing the previous one.

    It names no thread, as it may read several: its own and those that it was forked from.

    Parameters:
        made_of: the messages that it covers.
        previous: the summary that it extends, perhaps of a thread it was forked from.

    Returns:
        Whether it was stored: not if something that it covers no longer exists.
    """
    for stretch in made_of:
        rows = yield (
            "count_said",
            {"thread_id": stretch.thread_id, "above": stretch.above, "upto": stretch.upto},
        )
        if rows[0][0] != stretch.count:
            return False
    if previous is not None:
        rows = yield "summary", {"thread_id": previous.thread_id}
        if not rows or Summary(*rows[0]) != previous:
            return False
    yield (
        "keep_summary",
        {
            "thread_id": summary.thread_id,
            "upto_seq": summary.upto_seq,
            "text": summary.text,
            "made_by": summary.made_by,
        },
    )
    return True


def forget_summaries(thread_id: str, seq: int) -> Work[None]:
    """Delete the summaries that cover a message, of its thread and of its forks.

    Parameters:
        seq: the message; :data:`BEFORE_ALL` for all of the thread.
    """
    covering = {"thread_id": thread_id, "seq": seq}
    yield "forget_summary", covering
    yield "forget_summaries_of_forks", covering
