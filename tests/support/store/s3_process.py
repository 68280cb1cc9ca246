"""A real S3 server of its own: rclone, which keeps objects as files of a folder."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aitp_desk.config.sections.files import S3, Files
from tests.support.desk.processes import free_port
from tests.support.servers.server_process import ServerProcess

BUCKET = "desk-files"
PREFIX = "shop"
URL = f"s3://{BUCKET}/{PREFIX}"
ACCESS_KEY = {
    "AWS_ACCESS_KEY_ID": "AKTESTKEY00000000001",
    "AWS_SECRET_ACCESS_KEY": "test-secret-000000000000000000000001",
}
SECONDS = 2
"""How long a desk of a test waits for the server."""


class S3Process(ServerProcess):
    """A server that can be paused, killed, and started again with what it had."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.port = free_port()
        (folder / BUCKET).mkdir(parents=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def files(self) -> Files:
        """Settings of a desk that keeps its files here."""
        return Files(store=URL, s3=S3(endpoint=self.endpoint, seconds=SECONDS, connect_seconds=1))

    @property
    def settings(self) -> tuple[str, ...]:
        """The same, as ``--set`` takes them, with a file for the access key."""
        key = self.folder.parent / "s3.key"
        lines = ["[default]", *(f"{name.lower()} = {value}" for name, value in ACCESS_KEY.items())]
        key.write_text("\n".join(lines))
        return (
            f'files.s3.credentials_file="{key}"',
            f'files.store="{URL}"',
            f'files.s3.endpoint="{self.endpoint}"',
            f"files.s3.seconds={SECONDS}",
            "files.s3.connect_seconds=1",
        )

    @property
    def keys(self) -> set[str]:
        """The keys of the files' objects, below the prefix."""
        folder = self.folder / BUCKET / PREFIX / "files"
        try:
            names = [path.name for path in folder.iterdir()]
        except FileNotFoundError:  # the server removes an empty folder
            return set()
        return {f"files/{name}" for name in names if not name.startswith(".")}

    def path(self, key: str) -> Path:
        """The file that has an object's bytes."""
        return self.folder / BUCKET / PREFIX / key

    def start(
        self,
        *,
        most_bytes: int | None = None,
        secret: str | None = None,
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        """Return once it accepts connections.

        Parameters:
            most_bytes: the largest object that it can write, as if its disk were full.
            secret: the secret of its access key, if it is another one than the desk's.
            certificate: the files of its certificate and private key, for TLS.
        """
        id_, own = ACCESS_KEY.values()
        tls = () if certificate is None else ("--cert", certificate[0], "--key", certificate[1])
        limit = [] if most_bytes is None else ["prlimit", f"--fsize={most_bytes}"]
        command = [
            *limit,
            *(_find_program(), "serve", "s3", str(self.folder)),
            *("--addr", f"127.0.0.1:{self.port}", "--auth-key", f"{id_},{secret or own}"),
            *("--config", "/dev/null", "--no-cleanup"),
            *map(str, tls),
        ]
        self._begin(command, "Starting s3 server")


@contextmanager
def s3_process(folder: Path) -> Iterator[S3Process]:
    server = S3Process(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def _find_program() -> str:
    beside = Path(sys.executable).with_name("rclone")
    found = str(beside) if beside.exists() else shutil.which("rclone")
    assert found is not None, "the extra `browser` brings rclone"
    return found
