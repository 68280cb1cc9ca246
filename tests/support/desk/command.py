"""The command `aitp-desk`: in separate processes, and within this one, which is quick."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from click.testing import CliRunner

from aitp_desk.cli import main
from tests.support.store.chosen import name_store

COMMAND = Path(sys.executable).with_name("aitp-desk")
SECONDS = 120


class Done(msgspec.Struct):
    """A command that came to its end.

    Parameters:
        out: what it wrote to stdout.
        err: what it wrote to stderr.
    """

    code: int | None
    out: str
    err: str


class Served(msgspec.Struct):
    """A desk in a separate process.

    Parameters:
        data: its data folder.
        url: where it listens.
        report: what it said at its start.
    """

    process: asyncio.subprocess.Process
    data: Path
    url: str
    report: list[str]

    async def stop(self) -> list[str]:
        """Ask it to stop as a service manager does; its log."""
        if self.process.returncode is None:
            self.process.terminate()
        async with asyncio.timeout(SECONDS):
            _, log = await self.process.communicate()
        return log.decode().splitlines()


@asynccontextmanager
async def serving_command(
    folder: Path, data: Path, *options: object, command: Path = COMMAND
) -> AsyncIterator[Served]:
    """Run `aitp-desk serve` on a free port until the context ends.

    Parameters:
        options: more of its command line, such as `--set`, `limits.enabled=false`.
        command: the command; that of another installation runs in the folder of the data.
    """
    process = await start(
        *("serve", folder, "--port", 0, "--data", data, *options),
        command=command,
        folder=None if command == COMMAND else data.parent,
    )
    assert process.stdout is not None
    report: list[str] = []
    try:
        async with asyncio.timeout(SECONDS):
            while not report or "/ready" not in report[-1]:
                line = await process.stdout.readline()
                assert line, (await process.communicate())[1].decode()
                report.append(line.decode().rstrip())
        found = re.search(r"http://127\.0\.0\.1:\d+", report[0])
        assert found, report
        yield Served(process, data, found[0], report)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def run_here(*arguments: object) -> Done:
    """Run the command to its end, without a process for it."""
    done = CliRunner().invoke(main, name_store(arguments), prog_name=COMMAND.name)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


async def run(*arguments: object) -> tuple[int | None, list[str], list[str]]:
    """Run the command to its end: exit code, lines of stdout, lines of stderr."""
    async with asyncio.timeout(SECONDS):
        done = await asyncio.to_thread(run_here, *arguments)
    return done.code, done.out.splitlines(), done.err.splitlines()


async def run_apart(*arguments: object) -> tuple[int | None, list[str], list[str]]:
    """As :func:`run`, in a separate process, for commands that listen for signals."""
    async with asyncio.timeout(SECONDS):
        process = await start(*arguments)
        out, err = await process.communicate()
    return process.returncode, out.decode().splitlines(), err.decode().splitlines()


async def start(
    *arguments: object, command: Path = COMMAND, folder: Path | None = None
) -> asyncio.subprocess.Process:
    """Begin the command, in a folder."""
    return await asyncio.create_subprocess_exec(
        command,
        *name_store(arguments),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
