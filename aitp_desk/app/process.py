"""A desk as a process: what it takes from its environment, and how it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import structlog

from aitp_desk.agent.base import Agent
from aitp_desk.app.server import RunningServer, open_server
from aitp_desk.config import Config
from aitp_desk.config.sections.content.claude import API_KEY, API_URL
from aitp_desk.http.limits.connections import max_connections
from aitp_desk.http.server import raise_file_limit
from aitp_desk.observability.logs import set_up_logs

NEW_OBJECTS = 5_000
"""How many new objects there may be before the garbage collector looks at them."""
_log = structlog.get_logger()


async def serve(
    config: Config, *, announce: Callable[[str], None], agent: Agent | None = None
) -> None:
    """Serve until SIGTERM or SIGINT; then finish what is under way and return.

    Parameters:
        announce: told the start-up report, line by line, once the desk answers.
        agent: who answers; by default Claude where the environment has a key for it, else
            extraction from the content.

    Raises:
        CannotListen, StoreError, KeyFileError, ContentUnreadable: it cannot start.
    """
    set_up_logs(config.log)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    most = max_connections(config)
    if not raise_file_limit(most):
        _log.warning("open_files_limited", connections=most)
    async with open_in_environment(config, agent) as serving:
        for line in serving.report:
            announce(line)
        _calm_collector()
        await stop.wait()
        _log.info("stopping")
    _log.info("stopped")


def open_in_environment(
    config: Config, agent: Agent | None = None
) -> AbstractAsyncContextManager[RunningServer]:
    """A desk with the credentials that the environment of this process holds.

    Parameters:
        agent: as :func:`serve` takes it.
    """
    return open_server(
        config,
        agent=agent,
        claude_key=os.environ.get(API_KEY, "").strip() or None,
        claude_url=os.environ.get(API_URL) or None,
        environment=os.environ,
    )


def _calm_collector() -> None:
    """Have the garbage collector leave alone what the start has made, and look less often.

    By default it looks whenever 700 objects are new; a few dozen requests at once hold as many.
    """
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    gc.enable()
