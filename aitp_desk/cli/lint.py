"""What ``aitp-desk check`` tells of a file for agents, here or on a site."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import fail

if TYPE_CHECKING:
    from aitp_desk.egress import Fetched
    from aitp_desk.protocols.agents_txt import Examined

MAX_BYTES = 1024 * 1024
SECONDS = 20.0


def lint_file(path: Path) -> None:
    """Tell everything that is wrong with an agents.txt or agents.json."""
    from aitp_desk.protocols.agents_txt.examining import examine

    try:
        with path.open("rb") as file:
            body = file.read(MAX_BYTES + 1)
    except OSError as error:
        fail([f"{path}: cannot be read: {error.strerror}."])
    if len(body) > MAX_BYTES:
        fail([f"{path}: has more than {MAX_BYTES} bytes."])
    _tell(str(path), examine(body))


def lint_url(url: str) -> None:
    """The same of one that a site serves, and of how it serves it."""
    from aitp_desk.egress import EgressError
    from aitp_desk.protocols.agents_txt.examining import examine_served

    try:
        found = asyncio.run(_fetch(url))
    except EgressError as error:
        fail([str(error)])
    if found.status != 200:
        fail([f"{url}: was answered with the status {found.status}."])
    _tell(url, examine_served(found.url, found.headers, found.body))


async def _fetch(url: str) -> Fetched:
    """Get an address; one of this machine's own only where that is what was asked for."""
    from aitp_desk.config.web_address import is_loopback, web_address
    from aitp_desk.egress import Egress

    address = web_address(url)
    is_own = address is not None and is_loopback(address.hostname or "")
    async with Egress(allow_loopback=is_own) as egress:
        return await egress.fetch(url, max_bytes=MAX_BYTES, seconds=SECONDS)


def _tell(name: str, examined: Examined) -> None:
    lines = [f"{name}: {fault}" for fault in examined.faults]
    if examined.document is None or examined.errors:
        fail(lines)
    for line in lines:
        click.echo(line, err=True)
    count = len(examined.document.capabilities)
    declared = f"{count} {'capability' if count == 1 else 'capabilities'}"
    click.echo(f"{name} holds to agents.txt 1.0: {declared}.")
