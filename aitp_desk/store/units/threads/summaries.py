"""Summaries of threads: kept as long as all that they were made of is there.

Deleted words must not live on in few words. So what deletes a message drops the summaries that
cover it, in the same unit; and a summary is kept only if nothing that it was made of has been
deleted while it was made.
"""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.store.base import Work
from aitp_desk.store.records.threads import MessageRange, Summary

BEFORE_ALL = -(2**62)
"""A place before every message, also those that a thread was forked off."""


def keep_summary(
    *, summary: Summary, made_of: Sequence[MessageRange], previous: Summary | None
) -> Work[bool]:
    """Keep what was said on a thread in few words, in the place of what was kept before.

    It names no thread, as it may read several: its own and those that it was forked off.

    Parameters:
        made_of: the messages that it was made of.
        previous: the summary that it goes on from, perhaps that of a thread it was forked off.

    Returns:
        Whether it was kept: nothing was, where something it was made of is there no more.
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
    """Drop the summaries that cover a message, its thread's and those of what was forked off it.

    Parameters:
        seq: the message; :data:`BEFORE_ALL` for all of the thread.
    """
    covering = {"thread_id": thread_id, "seq": seq}
    yield "forget_summary", covering
    yield "forget_summaries_of_forks", covering
