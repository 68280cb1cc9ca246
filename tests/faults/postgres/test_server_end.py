"""The servers of tests whose process is killed."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 30
PROGRAM = """
from tests.support.store.postgres import postgres_server
with postgres_server() as server:
    print(server.url(), flush=True)
    input()
"""


@pytest.mark.servers
@pytest.mark.skipif("AITP_DESK_TEST_POSTGRES" in os.environ, reason="the server is a given one")
def test_a_server_ends_with_the_process_that_began_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline()
        folder = Path(url.partition("host=")[2].partition("&")[0]).parent
        pid = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        server = os.pidfd_open(pid)
        try:
            os.killpg(process.pid, 9)
            ended, _, _ = select.select([server], [], [], SECONDS)
            assert ended == [server]
        finally:
            os.close(server)
            shutil.rmtree(folder, ignore_errors=True)
