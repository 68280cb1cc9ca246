"""PgBouncer, which gives every transaction another session of the server."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.servers.parent_watch import ended_with_parent

PORT = 6432
SESSIONS = 3
"""How many the pooler has of each database: fewer than a desk has connections."""
SETTINGS = """
[databases]
* = host={server} user=desk

[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
auth_type = any
pool_mode = {mode}
server_round_robin = {spreads}
default_pool_size = {sessions}
max_client_conn = 200
log_connections = 0
log_disconnections = 0
log_pooler_errors = 0
log_stats = 0
"""
READY = "process up"


class Pooler:
    """A running PgBouncer in front of a PostgreSQL server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def url(self, direct: str) -> str:
        """Return the URL of a database by this pooler."""
        return f"postgresql://{urlsplit(direct).path}?host={self._folder}&port={PORT}&user=desk"


@contextmanager
def pooler(
    direct: str, *, mode: str = "transaction", sessions: int = SESSIONS, spreads: bool = False
) -> Iterator[Pooler]:
    """Run PgBouncer in front of the server of a URL, which names the folder of its socket.

    Parameters:
        spreads: whether each transaction gets the session that was idle longest.
    """
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    folder = Path(tempfile.mkdtemp(prefix="aitp-pgb-", dir="/tmp"))
    server = parse_qs(urlsplit(direct).query)["host"][0]
    file = folder / "pgbouncer.ini"
    given = {
        "server": server,
        "folder": folder,
        "mode": mode,
        "sessions": sessions,
        "spreads": int(spreads),
    }
    file.write_text(SETTINGS.format(port=PORT, **given))
    options: dict[str, Any] = {}
    if os.geteuid() == 0:  # it refuses to run as root
        entry = pwd.getpwuid(Path(server).stat().st_uid)
        shutil.chown(folder, entry.pw_name)
        shutil.chown(file, entry.pw_name)
        options = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    process = subprocess.Popen([program, file], stderr=subprocess.PIPE, text=True, **options)
    try:
        with ended_with_parent("kill", "-9", str(process.pid)):
            _wait(process)
            yield Pooler(folder)
    finally:
        process.kill()
        process.communicate()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    log = ""
    for line in process.stderr:
        log += line
        if READY in line:
            return
    raise AssertionError(log)
