"""The signals that ask a process to stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

SIGNALS = (signal.SIGTERM, signal.SIGINT)


def catch_stop_signals(stop: Callable[[], object]) -> None:
    """Call `stop` on the running loop at each SIGTERM and SIGINT.

    The loop's own handlers are not used: when it closes it restores what signals do by default,
    and one that came while the process ends would kill it. Its exit status would tell of a failure.
    """
    loop = asyncio.get_running_loop()

    def on_signal(*_: object) -> None:
        loop.call_soon_threadsafe(stop)

    for signum in SIGNALS:
        signal.signal(signum, on_signal)


def ignore_stop_signals() -> None:
    """Ignore SIGTERM and SIGINT from now on, once everything has been closed."""
    for signum in SIGNALS:
        signal.signal(signum, signal.SIG_IGN)
