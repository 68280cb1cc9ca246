"""Calls a function of the site, plain or async.

A plain function has a thread to itself, so that no call waits for another. The process does not
wait for these threads at its end: a call past its deadline cannot be stopped, and must not keep the
desk from stopping. A few idle threads are kept, because starting one takes longer than many a
function.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, Final

MOST_IDLE: Final = 8
"""Maximum number of idle threads; one more if two end at once."""
_Work = Callable[[], object]
_idle: list[SimpleQueue[_Work]] = []
"""The queues of idle threads."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a child process has none of the threads


async def call_function(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function and return its result.

    Raises:
        Exception: raised by the function. A SystemExit becomes a RuntimeError.
    """
    try:
        if inspect.iscoroutinefunction(function):
            return await function(**arguments)
        value = await _in_thread(partial(function, **arguments))
        # a plain function around an async one returns an awaitable
        return await value if inspect.isawaitable(value) else value
    except SystemExit as error:
        raise RuntimeError(f"{function.__name__} asked the process to exit") from error


async def _in_thread(work: Callable[[], Any]) -> Any:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(settle_: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            settle_(value)

    def tell(settle_: Callable[[Any], None], value: Any) -> None:
        with suppress(RuntimeError):  # the desk has stopped
            loop.call_soon_threadsafe(settle, settle_, value)

    def run() -> None:
        try:
            value = work()
        except StopIteration as error:  # a future cannot hold one
            raised = RuntimeError("the function raised StopIteration")
            raised.__cause__ = error
            tell(done.set_exception, raised)
        except BaseException as error:  # noqa: BLE001 -- the awaiting call decides
            tell(done.set_exception, error)
        else:
            tell(done.set_result, value)

    context = contextvars.copy_context()
    _begin(partial(context.run, run))
    return await done


def _begin(work: _Work) -> None:
    """Run work in an idle thread, or in a new one."""
    try:
        waiting = _idle.pop()
    except IndexError:
        threading.Thread(target=_stay, args=(work,), name="action", daemon=True).start()
    else:
        waiting.put(work)


def _stay(work: _Work) -> None:
    """Run work in this thread, then wait for more unless enough threads are idle."""
    waiting: SimpleQueue[_Work] = SimpleQueue()
    work()
    del work  # do not keep its references
    while len(_idle) < MOST_IDLE:
        _idle.append(waiting)
        waiting.get()()
