"""Calling a function of the site's own, whichever kind it is.

A plain function runs in a thread that does nothing else meanwhile, so that no call ever waits for
another. The thread is one that the end of the process does not wait for: a call that is past its
deadline cannot be stopped, and must not keep the desk from stopping. A few threads stay for the
calls that follow: to begin one takes longer than many a function.
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
"""Threads that stay when they have nothing to do; one more may where two end at once."""
_Work = Callable[[], object]
_idle: list[SimpleQueue[_Work]] = []
"""What those wait at that have nothing to do."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # none of them is there in a child


async def call_function(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function and return what it gives.

    Raises:
        Exception: what the function raises. Its asking the process to exit is a RuntimeError.
    """
    try:
        if inspect.iscoroutinefunction(function):
            return await function(**arguments)
        value = await _in_thread(partial(function, **arguments))
        # a plain function around an async one gives what that one has yet to do
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
        with suppress(RuntimeError):  # the desk has stopped meanwhile
            loop.call_soon_threadsafe(settle, settle_, value)

    def run() -> None:
        try:
            value = work()
        except StopIteration as error:  # a future cannot hold one
            raised = RuntimeError("the function raised StopIteration")
            raised.__cause__ = error
            tell(done.set_exception, raised)
        except BaseException as error:  # noqa: BLE001 -- whoever awaits the call decides
            tell(done.set_exception, error)
        else:
            tell(done.set_result, value)

    context = contextvars.copy_context()
    _begin(partial(context.run, run))
    return await done


def _begin(work: _Work) -> None:
    """Have a thread do some work that has none to do, or a new one."""
    try:
        waiting = _idle.pop()
    except IndexError:
        threading.Thread(target=_stay, args=(work,), name="action", daemon=True).start()
    else:
        waiting.put(work)


def _stay(work: _Work) -> None:
    """Do work in this thread, and what follows unless enough others wait for that."""
    waiting: SimpleQueue[_Work] = SimpleQueue()
    work()
    del work  # what it holds is not to stay as well
    while len(_idle) < MOST_IDLE:
        _idle.append(waiting)
        waiting.get()()
