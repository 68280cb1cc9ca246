"""``aitp-desk lint``, and the validation of files and URLs for ``aitp-desk check``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import MOST_FAULTS, fail, list_first_faults

if TYPE_CHECKING:
    from aitp_desk.cli.declarations import LintedFile
    from aitp_desk.egress import Fetched

MAX_BYTES = 1024 * 1024
SECONDS = 20.0


@click.command()
@click.argument("target", metavar="FILE|URL")
def lint(target: str) -> None:
    """Validate a file for agents, or the response of a URL.

    Reads agents.txt, agents.json, an AHP manifest, a HAC answer and an A2A card, as `check` does.
    Prints at most 50 faults. Exit code 1 if it breaks the specification, 2 if there is no such
    file.
    """
    if not lint_target(target):
        raise click.UsageError(f"There is no file {target!r}. Give a file, or a URL with https://.")


def lint_target(target: str) -> bool:
    """Validate a file or a URL; return whether it exists."""
    if target.startswith(("http://", "https://")):
        lint_url(target)
    elif Path(target).exists() and not Path(target).is_dir():
        lint_file(Path(target))
    else:
        return False
    return True


def lint_file(path: Path) -> None:
    """Report all errors in a file for agents."""
    from aitp_desk.cli.declarations import lint_body

    try:
        with path.open("rb") as file:
            body = file.read(MAX_BYTES + 1)
    except OSError as error:
        fail([f"{path}: cannot be read: {error.strerror}."])
    if len(body) > MAX_BYTES:
        fail([f"{path}: has more than {MAX_BYTES} bytes."])
    _tell([(str(path), lint_body(body))])


def lint_url(url: str) -> None:
    """Validate what a URL serves; at the home page, all known files."""
    from aitp_desk.cli.declarations import WELL_KNOWN, ServedFile, lint_body
    from aitp_desk.egress import EgressError
    from aitp_desk.model.web_address import web_address
    from aitp_desk.protocols.hac.negotiation import MEDIA_TYPE as HAC_TYPE

    address = web_address(url)
    path = "" if address is None else address.path
    is_home = address is not None and path in {"", "/"} and not address.query
    asked: dict[str, Mapping[str, str]] = {}
    if is_home:
        asked |= {url.rstrip("/") + place: {} for place in WELL_KNOWN}
    asked[url] = {} if path in WELL_KNOWN else {"Accept": f"{HAC_TYPE}, */*;q=0.5"}
    try:
        found = asyncio.run(_fetch(asked))
    except EgressError as error:
        fail([str(error)])
    served = [(at, one) for at, one in zip(asked, found, strict=True) if one.status == 200]
    if is_home:
        served = [(at, one) for at, one in served if at != url or _is_of(one, HAC_TYPE)]
        if not served:
            fail([f"{url}: has no file for agents. Publish one of {', '.join(WELL_KNOWN)}."])
    if not served:
        fail([f"{url}: the response has status {found[0].status}."])
    _tell([(at, lint_body(one.body, ServedFile(one.url, one.headers))) for at, one in served])


def _is_of(answer: Fetched, media_type: str) -> bool:
    kind = answer.headers.get("Content-Type", "")
    return kind.partition(";")[0].strip().lower() == media_type


async def _fetch(asked: Mapping[str, Mapping[str, str]]) -> list[Fetched]:
    """Fetch addresses; loopback ones only if the first one is.

    Parameters:
        asked: the headers for each address.
    """
    from aitp_desk.egress import Egress
    from aitp_desk.model.web_address import is_loopback, web_address

    address = web_address(next(iter(asked)))
    is_own = address is not None and is_loopback(address.hostname or "")
    async with Egress(allow_loopback=is_own) as egress:
        return [
            await egress.fetch(url, max_bytes=MAX_BYTES, seconds=SECONDS, headers=headers)
            for url, headers in asked.items()
        ]


def _tell(files: Sequence[tuple[str, LintedFile]]) -> None:
    """Print the findings of each file, or that it is sound.

    Where not everything is printed, errors come before warnings.
    """
    faults = [(name, *found) for name, looked in files for found in looked.findings]
    if len(faults) > MOST_FAULTS:
        faults.sort(key=lambda fault: not fault[2])
    for line in list_first_faults([f"{name}: {told}" for name, told, _ in faults]):
        click.echo(line, err=True)
    for name, looked in files:
        if looked.is_sound:
            click.echo(f"{name} {looked.sound}.")
    if not all(looked.is_sound for _, looked in files):
        fail([])
