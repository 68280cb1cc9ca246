"""Runs a desk as a process: environment, signals, garbage collection."""

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
"""How many new objects trigger a collection by the garbage collector."""
_log = structlog.get_logger()


async def serve(
    config: Config, *, announce: Callable[[str], None], agent: Agent | None = None
) -> None:
    """Serve until SIGTERM or SIGINT; then finish work in progress and return.

    Parameters:
        announce: receives the start-up report, line by line, once the desk answers.
        agent: by default Claude where the environment has a key for it, else extraction from
            the content.

    Raises:
        ListenError, StoreError, KeyFileError, ContentUnreadable: it cannot start.
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
    """Open a desk with the credentials in the environment of this process.

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
    """Exempt the objects of the start from garbage collection, and collect less often.

    By default 700 new objects trigger a collection; a few dozen concurrent requests hold as many.
    """
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    gc.enable()
