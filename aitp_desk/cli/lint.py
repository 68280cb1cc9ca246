"""What ``aitp-desk check`` tells of a file for agents, here or on a site."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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
    _tell([(str(path), examine(body))])


def lint_url(url: str) -> None:
    """The same of what a site serves there, and how; at its home page, of all four files."""
    from aitp_desk.config.web_address import web_address
    from aitp_desk.egress import EgressError
    from aitp_desk.protocols.agents_txt.examining import PLACES, examine_served

    address = web_address(url)
    is_home = address is not None and address.path in {"", "/"} and not address.query
    asked = [url.rstrip("/") + place for place in PLACES] if is_home else [url]
    try:
        found = asyncio.run(_fetch(asked))
    except EgressError as error:
        fail([str(error)])
    served = [(at, one) for at, one in zip(asked, found, strict=True) if one.status == 200]
    if is_home and not served:
        fail([f"{url}: tells agents nothing: there is none of {', '.join(PLACES)}."])
    if not served:
        fail([f"{url}: was answered with the status {found[0].status}."])
    _tell([(at, examine_served(one.url, one.headers, one.body)) for at, one in served])


async def _fetch(urls: Sequence[str]) -> list[Fetched]:
    """Get addresses; those of this machine's own only where that is what was asked for."""
    from aitp_desk.config.web_address import is_loopback, web_address
    from aitp_desk.egress import Egress

    address = web_address(urls[0])
    is_own = address is not None and is_loopback(address.hostname or "")
    async with Egress(allow_loopback=is_own) as egress:
        return [await egress.fetch(url, max_bytes=MAX_BYTES, seconds=SECONDS) for url in urls]


def _tell(files: Sequence[tuple[str, Examined]]) -> None:
    """Tell of each file, by its name, what is wrong with it, or that it is sound."""
    wrong = False
    for name, examined in files:
        for fault in examined.faults:
            click.echo(f"{name}: {fault}", err=True)
        if examined.document is None or examined.errors:
            wrong = True
            continue
        count = len(examined.document.capabilities)
        declared = f"{count} {'capability' if count == 1 else 'capabilities'}"
        click.echo(f"{name} holds to agents.txt 1.0: {declared}.")
    if wrong:
        fail([])
