"""Reads runs and their steps."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.model.conversation.run import Run, RunUsage
from aitp_desk.model.conversation.run_step import Step
from aitp_desk.model.conversation.thread import Message
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.runs import RunPage, StepPage
from aitp_desk.store.records.threads import Order
from aitp_desk.store.rows.threads import read_run, read_step

_FIRST = (-1, "")
_BEYOND = (2**62, "")
"""Positions before and after every run."""


async def runs(
    store: Store,
    thread_id: str,
    *,
    order: Order,
    limit: int,
    after: str | None = None,
    before: str | None = None,
) -> RunPage:
    """Read a page of a thread's runs, paged as messages are (:func:`threads.messages`).

    Raises:
        InvalidRequest: ``after`` or ``before`` is not a run of this thread.
    """
    ends = [await _place(store, thread_id, after, "after")]
    ends.append(await _place(store, thread_id, before, "before"))
    low, high = ends if order == "asc" else reversed(ends)
    from_the_end = before is not None and after is None
    upwards = (order == "asc") is not from_the_end
    above_at, above_id = low or _FIRST
    below_at, below_id = high or _BEYOND
    found = await store.read_page(
        "runs_upwards" if upwards else "runs_downwards",
        {
            "thread_id": thread_id,
            "above_at": above_at,
            "above_id": above_id,
            "below_at": below_at,
            "below_id": below_id,
        },
        limit=limit,
    )
    page = [read_run(row) for row in found.rows]
    if from_the_end:
        page.reverse()
    return RunPage(tuple(page), found.has_more)


async def called_steps(store: Store, run_id: str) -> tuple[Step, ...]:
    """Read the steps in which a run called tools, in order."""
    return tuple(map(read_step, await store.read("steps_of_run", {"run_id": run_id})))


async def steps(store: Store, run: Run) -> tuple[Step, ...]:
    """Read all steps of a run, in order.

    Steps with tool calls come first, then those with messages. A step with a message is derived
    from it, as is its id.
    """
    called = await called_steps(store, run.id)
    replies = await reads.replies(store, run.id)
    spent = sum((step.usage for step in called if step.usage is not None), RunUsage())
    rest = None
    if run.usage is not None:
        rest = RunUsage(run.usage.prompt - spent.prompt, run.usage.completion - spent.completion)
    last = len(replies) - 1
    return called + tuple(
        _spoken(run, reply, len(called) + place + 1, rest if place == last else None)
        for place, reply in enumerate(replies)
    )


def page_of_steps(
    whole: Sequence[Step],
    *,
    order: Order,
    limit: int,
    after: str | None = None,
    before: str | None = None,
) -> StepPage:
    """Cut a page out of a run's steps, paged as messages are (:func:`threads.messages`).

    Raises:
        InvalidRequest: ``after`` or ``before`` is not a step of this run.
    """
    listed = list(whole) if order == "asc" else list(reversed(whole))
    ids = [step.id for step in listed]
    for name, given in (("after", after), ("before", before)):
        if given is not None and given not in ids:
            raise InvalidRequest(f"`{name}` must be the id of a step of this run.", param=name)
    low = 0 if after is None else ids.index(after) + 1
    high = len(ids) if before is None else ids.index(before)
    within = listed[low:high]
    from_the_end = before is not None and after is None
    page = within[-limit:] if from_the_end else within[:limit]
    return StepPage(tuple(page), has_more=len(within) > limit)


def _spoken(run: Run, reply: Message, position: int, usage: RunUsage | None) -> Step:
    return Step(
        id=f"step_{reply.id.partition('_')[2]}",
        run_id=run.id,
        position=position,
        created_at=reply.created_at,
        message_id=reply.id,
        completed_at=reply.created_at,
        usage=usage,
    )


async def _place(
    store: Store, thread_id: str, run_id: str | None, param: str
) -> tuple[int, str] | None:
    if run_id is None:
        return None
    run = await reads.run(store, run_id)
    if run is None or run.thread_id != thread_id:
        raise InvalidRequest(f"`{param}` must be the id of a run of this thread.", param=param)
    return run.created_at, run.id


async def runs_not_over(store: Store, limit: int) -> dict[str, tuple[int, int]]:
    """Count unfinished runs, up to a bound of each state.

    Returns:
        By state how many, and Unix seconds when the first of them was due.
    """
    rows = await store.read("runs_not_over", {"limit": limit})
    return {state: (count, since) for state, count, since in rows}
