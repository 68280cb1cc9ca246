"""The command ``aitp-desk``: a file a command, with what is heavy imported inside the functions."""

from __future__ import annotations

import click

from aitp_desk.cli.audit import audit
from aitp_desk.cli.check import check
from aitp_desk.cli.client import client
from aitp_desk.cli.erase import erase
from aitp_desk.cli.export import export
from aitp_desk.cli.init import init
from aitp_desk.cli.jobs import jobs
from aitp_desk.cli.keys import keys
from aitp_desk.cli.revoke_jwt import revoke_jwt
from aitp_desk.cli.serve import serve
from aitp_desk.cli.snippet import snippet
from aitp_desk.cli.store import store
from aitp_desk.cli.tickets import tickets
from aitp_desk.cli.token import token


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="aitp-desk")
def main() -> None:
    """A desk beside a website: it answers agents and people from the site's own content."""


_COMMANDS = (
    serve,
    init,
    check,
    snippet,
    export,
    token,
    client,
    keys,
    jobs,
    tickets,
    audit,
    erase,
    store,
)
for command in _COMMANDS:
    main.add_command(command)
token.add_command(revoke_jwt)
