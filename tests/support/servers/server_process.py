"""A server in a process of its own that can be paused, killed, and started again."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence


class ServerProcess:
    """What such servers have in common; a subclass has their command line."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def _begin(self, command: Sequence[str], ready: str) -> None:
        """Run it; return once it says that it is ready.

        Parameters:
            ready: a part of the line by which it does.
        """
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if ready in line:
                return
        raise AssertionError("the server did not start")

    def pause(self) -> None:
        """Leave connections open, and requests without an answer."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Have it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
