"""Reads runs and their steps."""

from __future__ import annotations

from aitp_desk.model.conversation.run import Run, RunUsage
from aitp_desk.model.conversation.run_step import Step
from aitp_desk.model.conversation.thread import Message
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.pages import Page, PageRequest
from aitp_desk.store.rows.threads import read_run, read_step

_FIRST = (-1, "")
_BEYOND = (2**62, "")
"""Positions before and after every run."""


async def runs(
    store: Store,
    thread_id: str,
    part: PageRequest,
) -> Page[Run]:
    """Read a page of a thread's runs.

    Raises:
        InvalidRequest: ``after`` or ``before`` is not a run of this thread.
    """
    low, high = part.sort_ends(
        await _place(store, thread_id, part.after, "after"),
        await _place(store, thread_id, part.before, "before"),
    )
    above_at, above_id = low or _FIRST
    below_at, below_id = high or _BEYOND
    found = await store.read_page(
        "runs_upwards" if part.is_upwards else "runs_downwards",
        {
            "thread_id": thread_id,
            "above_at": above_at,
            "above_id": above_id,
            "below_at": below_at,
            "below_id": below_id,
        },
        limit=part.limit,
    )
    rows = found.rows[::-1] if part.is_turned else found.rows
    return Page(tuple(map(read_run, rows)), found.has_more)


async def is_withdrawn(store: Store, run: Run) -> bool:
    """Return whether the question of a run was deleted."""
    named = {"thread_id": run.thread_id, "run_id": run.id}
    return bool(await reads.read_rows(store, "withdrawn_input_of_run", named))


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
