"""A site's functions are called each in its way, and none can bring the desk down."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from contextvars import ContextVar
from functools import wraps
from typing import NoReturn

import pytest

from aitp_desk.actions.base import Caller, Context
from aitp_desk.actions.declaration.invocation import MOST_IDLE, call_function
from aitp_desk.model.errors import InvalidRequest, StoreBusy

WHO: ContextVar[str] = ContextVar("who", default="nobody")


async def test_an_async_function_runs_where_it_is_awaited() -> None:
    async def where() -> threading.Thread:
        return threading.current_thread()

    assert await call_function(where, {}) is threading.current_thread()


async def test_a_plain_function_runs_in_a_thread_that_no_exit_waits_for() -> None:
    WHO.set("somebody")

    def where(name: str) -> tuple[str, str, bool, bool]:
        thread = threading.current_thread()
        return name, WHO.get(), thread is threading.main_thread(), thread.daemon

    assert await call_function(where, {"name": "x"}) == ("x", "somebody", False, True)


async def test_plain_functions_run_at_once_however_many() -> None:
    together = threading.Barrier(40, timeout=10)
    assert sorted(
        await asyncio.gather(*(call_function(together.wait, {}) for _ in range(40)))
    ) == list(range(40))


async def test_threads_stay_for_the_calls_that_follow_and_keep_nothing_of_the_last() -> None:
    def where() -> tuple[threading.Thread, str]:
        return threading.current_thread(), WHO.get()

    threads: set[threading.Thread] = set()
    for turn in range(30):
        WHO.set(f"caller {turn}")
        thread, who = await call_function(where, {})
        assert who == f"caller {turn}"
        threads.add(thread)
    assert len(threads) <= MOST_IDLE + 1


async def test_a_call_past_its_deadline_keeps_no_other_waiting() -> None:
    goes_on = threading.Event()
    late = asyncio.create_task(call_function(goes_on.wait, {}))
    await asyncio.sleep(0)
    late.cancel()
    assert [await call_function(str, {}) for _ in range(20)] == [""] * 20
    goes_on.set()


async def test_what_a_function_raises_is_raised() -> None:
    def refuse() -> NoReturn:
        raise InvalidRequest("Not this.")

    async def refuse_too() -> NoReturn:
        refuse()

    for function in (refuse, refuse_too):
        with pytest.raises(InvalidRequest, match="Not this"):
            await call_function(function, {})


async def test_a_plain_function_around_an_async_one_is_awaited() -> None:
    async def work(name: str) -> str:
        return name

    @wraps(work)
    def around(**arguments: str) -> Awaitable[str]:
        return work(**arguments)

    assert await call_function(around, {"name": "x"}) == "x"


async def test_progress_is_reported_in_the_loop_from_any_thread() -> None:
    told: list[tuple[str, bool]] = []
    main = threading.current_thread()
    context = Context(
        "call_1", Caller(), lambda text: told.append((text, threading.current_thread() is main))
    )

    def work() -> None:
        context.progress("Half of it.")

    async def work_too() -> None:
        context.progress("All of it.")

    await call_function(work, {})
    await call_function(work_too, {})
    assert told == [("Half of it.", True), ("All of it.", True)]


async def test_work_goes_on_where_its_progress_cannot_be_kept() -> None:
    def refuse(_text: str) -> NoReturn:
        raise StoreBusy("Too many writes are waiting.", retry_after=1)

    context = Context("call_1", Caller(), refuse)

    def work() -> str:
        context.progress("Half of it.")
        return "done"

    async def work_too() -> str:
        return work()

    assert await call_function(work, {}) == "done"
    assert await call_function(work_too, {}) == "done"


@pytest.mark.parametrize("error", [SystemExit(1), StopIteration(1)])
async def test_a_function_cannot_end_the_process_nor_leave_its_caller_waiting(
    error: BaseException,
) -> None:
    def leave() -> NoReturn:
        raise error

    async def leave_too() -> NoReturn:
        raise error

    async with asyncio.timeout(60):
        for function in (leave, leave_too):
            with pytest.raises(RuntimeError):
                await call_function(function, {})


async def test_the_result_of_a_plain_function_that_is_past_its_deadline_is_dropped() -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(10)
        ended.set()

    task = asyncio.create_task(call_function(work, {}))
    assert await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert await asyncio.to_thread(ended.wait, 10)
