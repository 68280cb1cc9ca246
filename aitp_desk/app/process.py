"""Runs a desk as a process: environment, signals, garbage collection."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from functools import partial

import structlog

from aitp_desk.agent.base import Agent
from aitp_desk.app.server import RunningServer, open_server
from aitp_desk.app.workers.identity import WorkerIdentity, inherited_sockets
from aitp_desk.app.workers.stop_signals import catch_stop_signals, ignore_stop_signals
from aitp_desk.config import Config
from aitp_desk.http.acceptor import Listener
from aitp_desk.http.limits.connections import max_connections
from aitp_desk.http.server import raise_file_limit
from aitp_desk.observability.logs import set_up_logs

NEW_OBJECTS = 5_000
"""How many new objects trigger a collection by the garbage collector."""
_log = structlog.get_logger()


async def serve(
    config: Config,
    *,
    announce: Callable[[str], None],
    agent: Agent | None = None,
    worker: WorkerIdentity | None = None,
    explains: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT; then finish work in progress and return.

    Parameters:
        announce: receives the start-up report, line by line, once the desk answers.
        agent: by default a model that can be called, else extraction from the content.
        worker: this process, if it is one of several; its supervisor gets the report, and the
            process stops when the supervisor has ended.
        explains: whether the home page shows how each answer was found.

    Raises:
        ListenError, StoreError, KeyFileError, ContentUnreadable: it cannot start.
    """
    label = None if worker is None else worker.label
    set_up_logs(config.log, worker=label)
    stop = asyncio.Event()
    catch_stop_signals(stop.set)
    most = max_connections(config)
    if not raise_file_limit(most):
        _log.warning("open_files_limited", connections=most)
    with ExitStack() as stack:
        listeners: Sequence[Listener] = ()
        report: Callable[[Sequence[str]], None] = partial(_announce_lines, announce)
        if worker is not None:
            inherited = stack.enter_context(inherited_sockets(worker, stop.set))
            listeners, report = inherited.listeners, inherited.report_ready
        opened = open_in_environment(
            config, agent, listeners=listeners, worker_label=label, explains=explains
        )
        async with opened as serving:
            report(serving.report)
            _calm_collector()
            await stop.wait()
            _log.info("stopping")
    _log.info("stopped")
    ignore_stop_signals()


def open_in_environment(
    config: Config,
    agent: Agent | None = None,
    *,
    listeners: Sequence[Listener] = (),
    worker_label: str | None = None,
    explains: bool = False,
) -> AbstractAsyncContextManager[RunningServer]:
    """Open a desk with the credentials in the environment of this process.

    Parameters:
        agent: as :func:`serve` takes it.
        listeners, worker_label, explains: as :func:`open_server` takes them.
    """
    return open_server(
        config,
        agent=agent,
        environment=os.environ,
        listeners=listeners,
        worker_label=worker_label,
        explains=explains,
    )


def _announce_lines(announce: Callable[[str], None], lines: Sequence[str]) -> None:
    for line in lines:
        announce(line)


def _calm_collector() -> None:
    """Exempt the objects of the start from garbage collection, and collect less often.

    By default 700 new objects trigger a collection; a few dozen concurrent requests hold as many.
    """
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    gc.enable()
