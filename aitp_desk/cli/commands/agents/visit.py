"""``aitp-desk visit``: ask any site, or call what it offers."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import fail

if TYPE_CHECKING:
    from aitp_desk.cli.commands.agents.session import VisitSession
    from aitp_desk.model.money import Money
    from aitp_desk.visitor import Identity, Policy, VisitError

CREDENTIAL = "AITP_DESK_VISIT_CREDENTIAL"
"""The variable with an access key or bearer token for the site."""
FAILED, NOT_THERE, NO_CREDENTIAL, NOT_ALLOWED = 1, 3, 4, 5
"""The exit codes of errors; 2 is click's, for wrong usage."""
PROTOCOLS = ("ahp", "aitp", "mcp", "a2a", "nlweb", "hac", "agents_txt", "openapi", "llms_txt")
"""Those of the visitor's clients; its catalogue is not imported for the help."""
_BUDGET = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,4})?)\s?([A-Z]{3})", re.ASCII)


def _read_budget(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> Money | None:
    from aitp_desk.model.money import Money

    if text is None:
        return None
    found = _BUDGET.fullmatch(text.strip())
    try:
        if found is not None:
            return Money(Decimal(found[1]), found[2])
    except InvalidOperation:
        pass
    raise click.BadParameter(f"{text!r} is not an amount; write it like 20EUR or 4.90USD.")


@click.command()
@click.argument("url", metavar="URL")
@click.argument("words", nargs=-1, metavar="[QUESTION | KEY=VALUE... | URL...]")
@click.option("--actions", "lists_actions", is_flag=True, help="List what the site offers to do.")
@click.option(
    "--call",
    "name",
    metavar="NAME",
    help="Call an action; its arguments follow as KEY=VALUE, JSON where the action takes no text.",
)
@click.option(
    "--once",
    metavar="KEY",
    help="Make the call once: run again with this KEY, it prints how the call went.",
)
@click.option(
    "--endpoints",
    "lists_endpoints",
    is_flag=True,
    help="List the protocols of the site, each with why.",
)
@click.option(
    "--trust", "shows_trust", is_flag=True, help="Show figures to judge the site by, with reasons."
)
@click.option(
    "--mcp",
    "serves_mcp",
    is_flag=True,
    help="Serve the sites at all URLs as one MCP server, over standard input and output.",
)
@click.option(
    "--protocol",
    type=click.Choice(PROTOCOLS, case_sensitive=False),
    metavar="KIND",
    help=f"Use only this one: {', '.join(PROTOCOLS[:-1])} or {PROTOCOLS[-1]}.",
)
@click.option(
    "--budget",
    callback=_read_budget,
    metavar="20EUR",
    help="The most that may be spent; without it nothing. Each price is confirmed.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(1, 3600),
    default=120.0,
    show_default=True,
    help="The longest that the visit waits for the site, over all requests.",
)
@click.option("--tokens", type=click.IntRange(1), help="The most tokens that answers may take.")
@click.option(
    "--yes",
    "confirms_all",
    is_flag=True,
    help="Confirm without asking what the site wants confirmed, prices within --budget included.",
)
@click.option(
    "--context",
    "facts",
    multiple=True,
    metavar="TEXT",
    help="A fact to send with the question, shown and confirmed before; repeatable.",
)
@click.option(
    "--credential-file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help=f"A file with an access key for the site; or the variable {CREDENTIAL}.",
)
@click.option(
    "--key",
    "key_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="A private key of --agent (Ed25519, PEM): signs requests without a credential, and more.",
)
@click.option(
    "--agent",
    metavar="ORIGIN",
    help="The agent's own origin, which publishes the public half of --key.",
)
@click.option("--account", metavar="NAME", help="Pay from this account at the site, with --key.")
@click.option("--channel", metavar="ID", help="Pay from this payment channel, with --key.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the record of the visit there, signed with --key.",
)
@click.option(
    "--allow",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="A further origin that requests may go to, without the credential; repeatable.",
)
@click.option("--no-cache", is_flag=True, help="Read everything from the site, and keep nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
def visit(
    url: str,
    words: tuple[str, ...],
    name: str | None,
    once: str | None,
    protocol: str | None,
    budget: Money | None,
    seconds: float,
    tokens: int | None,
    facts: tuple[str, ...],
    credential_file: Path | None,
    key_file: Path | None,
    agent: str | None,
    account: str | None,
    channel: str | None,
    record: Path | None,
    origins: tuple[str, ...],
    *,
    lists_actions: bool,
    lists_endpoints: bool,
    shows_trust: bool,
    serves_mcp: bool,
    confirms_all: bool,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Ask the site at URL a QUESTION, over whatever it speaks; print the answer.

    Without a QUESTION it prompts for questions; an empty line or the end of the input ends it.
    What would change something is done only once you confirm it, with the site's reasons and the
    price. The site's texts are printed as data; nothing in them is followed.

    \b
    Examples:
      aitp-desk visit https://shop.example "Do you ship to Norway?"
      aitp-desk visit https://shop.example
      aitp-desk visit https://shop.example --endpoints
      aitp-desk visit https://shop.example --actions
      aitp-desk visit https://shop.example --call buy_map trail="Cinder Rim" --budget 20EUR
      aitp-desk visit --mcp https://shop.example https://museum.example --budget 20EUR
      aitp-desk visit https://shop.example "Norway?" --key agent.pem \\
        --agent https://agent.example --record visit.json

    \b
    Exit codes:
      0  done
      1  the site did not answer, or refused
      2  wrong usage
      3  the site has no such protocol or action, or answers no questions
      4  the site wants a credential, or another one
      5  not confirmed, not allowed, or beyond a limit: nothing was done
      6  the site asks something, or has not finished yet
    """  # noqa: D301 -- click keeps the lines after a backspace
    from aitp_desk.cli.commands.agents.session import (
        VisitChoices,
        agree,
        ask_person,
        run_visit,
    )
    from aitp_desk.visitor import Policy, VisitError

    shows = lists_actions or lists_endpoints or shows_trust
    alone = name is not None or once or protocol or facts or confirms_all or as_json or record
    if serves_mcp and (shows or alone):
        raise click.UsageError("--mcp takes URLs, limits, --allow, a credential and a key alone.")
    if not serves_mcp:
        _check_usage(words, name, once, shows=shows, as_json=as_json)
    identity = _make_identity(key_file, agent, account, channel, records=record is not None)
    policy = Policy(
        confirm=agree if confirms_all else ask_person,
        budget=budget,
        seconds=seconds,
        tokens=tokens,
        origins=frozenset(origins),
    )
    if serves_mcp:
        _serve_mcp((url, *words), policy, _read_credential(credential_file), identity)
        return
    choices = VisitChoices(
        url,
        policy,
        credential=_read_credential(credential_file),
        identity=identity,
        record=record,
        protocol=protocol,
        facts=facts,
        once=once,
        keeps_documents=not no_cache,
        confirms_all=confirms_all,
    )

    async def act(session: VisitSession) -> int:
        if lists_endpoints:
            return session.show_endpoints()
        if lists_actions:
            return await session.show_actions()
        if shows_trust:
            return await session.show_trust()
        if name is not None:
            return await session.call(name, words)
        return await (session.ask(words[0]) if words else session.converse())

    try:
        code = asyncio.run(run_visit(choices, act, as_json=as_json))
    except VisitError as error:
        _report(error, as_json=as_json)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    else:
        sys.exit(code)


def _check_usage(
    words: tuple[str, ...], name: str | None, once: str | None, *, shows: bool, as_json: bool
) -> None:
    """Refuse options that contradict each other."""
    if once is not None and name is None:
        raise click.UsageError("--once goes with --call.")
    if not shows and name is None and len(words) > 1:
        raise click.UsageError("Write the QUESTION in quotes, as one argument.")
    if as_json and not shows and name is None and not words:
        raise click.UsageError(
            "--json needs a QUESTION, --call, --actions, --endpoints or --trust."
        )
    if shows and (words or name is not None):
        raise click.UsageError("--actions, --endpoints and --trust take no QUESTION and no --call.")


def _make_identity(
    file: Path | None,
    agent: str | None,
    account: str | None,
    channel: str | None,
    *,
    records: bool,
) -> Identity | None:
    """Return who visits, with its key; None without one."""
    if (file is None) is not (agent is None):
        raise click.UsageError("--key and --agent go together.")
    if file is None or agent is None:
        if account or channel or records:
            raise click.UsageError("--account, --channel and --record need --key and --agent.")
        return None
    from yarl import URL

    from aitp_desk.visitor import Identity, KeyUnusable, Payer, Signer, load_key

    try:
        origin, key = str(URL(agent).origin()), load_key(file)
    except KeyUnusable as error:
        fail([f"--key: {error}"], 2)
    except ValueError:
        raise click.UsageError(
            f"--agent: {agent!r} is no address such as https://agent.example."
        ) from None
    pays = account or channel
    payer = Payer(key, origin, account=account or "", channel=channel or "") if pays else None
    return Identity(signer=Signer(origin, key), payer=payer)


def _serve_mcp(
    urls: tuple[str, ...], policy: Policy, credential: str | None, identity: Identity | None
) -> None:
    """Serve sites to an assistant, until its client ends; its person confirms."""
    from aitp_desk.cli.commands.agents.report import complete_url
    from aitp_desk.visitor.bridge import serve

    if credential is not None and len(urls) > 1:
        raise click.UsageError("A credential is for one site: give --mcp one URL with it.")
    try:
        addresses = [complete_url(one) for one in urls]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    credentials = {} if credential is None else {addresses[0]: credential}
    asyncio.run(serve(addresses, policy=policy, identity=identity, credentials=credentials))


def _read_credential(file: Path | None) -> str | None:
    """Return the credential of a file, else that of the environment; never an argument's."""
    if file is None:
        return os.environ.get(CREDENTIAL) or None
    try:
        text = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        fail([f"--credential-file: {file} cannot be read."], 2)
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        fail([f"--credential-file: {file} must have one line with the credential alone."], 2)
    return text


def _report(error: VisitError, *, as_json: bool) -> None:
    """Print an error with the advice of the site, and exit with its code."""
    from aitp_desk.cli.commands.agents.report import write_error, write_json
    from aitp_desk.visitor import (
        CredentialNeeded,
        NoEndpoint,
        NotConfirmed,
        NotOffered,
        PolicyRefused,
    )

    codes: tuple[tuple[type[VisitError], int], ...] = (
        (CredentialNeeded, NO_CREDENTIAL),
        (NoEndpoint, NOT_THERE),
        (NotOffered, NOT_THERE),
        (NotConfirmed, NOT_ALLOWED),
        (PolicyRefused, NOT_ALLOWED),
    )
    code = next((code for kind, code in codes if isinstance(error, kind)), FAILED)
    if as_json:
        click.echo(write_json({"error": type(error).__name__, "message": str(error)}))
        sys.exit(code)
    fail(write_error(error), code)
