"""``aitp-desk doctor``: examines a running desk from outside."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import data_folder, mistakes_told, overrides

if TYPE_CHECKING:
    from aitp_desk.cli.commands.site.examination.findings import Findings
    from aitp_desk.config import Config

FAULTY, NOT_THERE = 1, 2
VISIT_SECONDS = 120.0
"""How long all requests may take together."""
BODY_BYTES = 1024 * 1024
"""The default of threads.max_body: the settings of a desk cannot be read from outside."""
LOCAL = "this is the desk's local address"


@click.command()
@click.argument("url", metavar="URL")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The site's folder, on its own machine: compares with its settings, and checks more.",
)
@click.option(
    "--backups",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of the backups, to check their age; needs --folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
@data_folder
@overrides
def doctor(
    url: str,
    folder: Path | None,
    backups: Path | None,
    data: Path | None,
    overrides: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Examine the running desk at URL from outside, and say what is wrong.

    Each line is ok, warning or error: name and address, certificate and redirect, clock, whether
    the website publishes the data folder, health, what agents discover, whether each advertised
    address is the desk's and names this origin, what is open to strangers, CORS, streams, and large
    bodies. With --folder also settings, mail, webhooks, disk, secrets, backups, keys and the audit
    log. It asks no question; the empty thread that it opens is deleted.

    \b
    Exit codes:
      0  no error
      1  an error
      2  nothing answers at URL, or wrong usage
    """  # noqa: D301 -- click keeps the lines after a backspace
    from aitp_desk.cli.commands.agents.report import complete_url
    from aitp_desk.cli.commands.site.examination.findings import Findings

    if folder is None and (backups or data or overrides):
        raise click.UsageError("--backups, --data and --set need --folder.")
    try:
        address = complete_url(url)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    config = None
    if folder is not None:
        with mistakes_told(NOT_THERE):
            from aitp_desk.config import load_config

            config = load_config(folder, overrides, data=data)
    findings = Findings()
    is_there = asyncio.run(_examine(address, config, findings))
    if config is not None:
        from aitp_desk.cli.commands.site.examination.database import check_database
        from aitp_desk.cli.commands.site.examination.site_folder import check_folder

        with mistakes_told(NOT_THERE):
            asyncio.run(check_folder(config, backups, findings))
            asyncio.run(check_database(config, findings))
    _report(findings, as_json=as_json)
    sys.exit(NOT_THERE if not is_there else FAULTY if findings.has_faults else 0)


async def _examine(url: str, config: Config | None, findings: Findings) -> bool:
    """Examine a desk from outside; return whether anything answers."""
    from yarl import URL

    from aitp_desk.cli.commands.site.examination import (
        behaviour,
        connection,
        data_folder,
        documents,
        exposure,
    )
    from aitp_desk.egress import Egress
    from aitp_desk.visitor import Identity, VisitError
    from aitp_desk.visitor.discovery.endpoints import find_endpoints
    from aitp_desk.visitor.fetcher import Fetcher
    from aitp_desk.visitor.site import LOOPBACK

    origin = str(URL(url).origin())
    identity = Identity()
    is_own = URL(url).host in LOOPBACK
    async with Egress(allow_loopback=is_own) as egress:
        if not await connection.check_connection(egress, origin, findings):
            return False
        async with Egress(allow_loopback=is_own, allow_plain=True) as plain:
            await connection.check_redirect(plain, origin, findings)
        await data_folder.check_data(egress, origin, config, findings)
        fetcher = Fetcher(
            egress, seconds=VISIT_SECONDS, headers=identity.headers, origins=(origin,)
        )
        await behaviour.check_health(fetcher, findings)
        public = await documents.find_public_origin(fetcher)
        if public:
            findings.warn("origin", LOCAL, f"examine {public} to see what visitors see")
        named = public or origin
        try:
            found = await find_endpoints(fetcher, identity.name)
        except VisitError as error:
            findings.fault("discovery", str(error), documents.SNIPPET)
        else:
            documents.report_discovery(found, public, findings)
        await documents.check_documents(fetcher, named, findings)
        await exposure.check_exposure(fetcher, findings)
        chats = () if config is None else (*config.widget.origins, *config.cors.origins)
        await behaviour.check_cors(egress, origin, named, chats, findings)
        await behaviour.check_stream(fetcher, egress, findings)
        size = BODY_BYTES if config is None else config.threads.max_body
        await behaviour.check_body(fetcher, size, findings)
        if config is not None:
            _compare(origin, named, config, findings)
    return True


def _compare(origin: str, named: str, config: Config, findings: Findings) -> None:
    """Compare the settings with the examined address.

    Parameters:
        named: the origin that the running desk names, which is another at a loopback address.
    """
    from yarl import URL

    from aitp_desk.model.web_address import is_loopback

    url = config.site.url
    what, advice = f"site.url is {url}", f'set site.url = "{origin}", or examine {url}'
    examined, configured = URL(origin), URL(url)
    is_local = is_loopback(examined.host or "")
    if url == named:
        findings.approve("settings", what)
    elif named != origin:
        advice = "start the desk again, so that it reads its settings"
        findings.fault("settings", f"{what}, and the desk names {named}", advice)
    elif is_local and configured.host and not is_loopback(configured.host):
        advice = f"start the desk with its settings, and examine {url} to see what visitors see"
        findings.warn("settings", LOCAL, advice)
    elif is_local and (examined.scheme, examined.host) == (configured.scheme, configured.host):
        findings.warn("settings", what, f"set server.port = {examined.port}, or examine {url}")
    else:
        findings.fault("settings", what, advice)


def _report(findings: Findings, *, as_json: bool) -> None:
    import msgspec

    if as_json:
        click.echo(json.dumps({"findings": msgspec.to_builtins(findings.all)}, ensure_ascii=False))
        return
    for one in findings.all:
        click.echo(one.line)
