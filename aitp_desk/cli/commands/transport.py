"""``aitp-desk transport``: the platforms on which people write to the desk."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import data_folder, fail, mistakes_told, overrides, site_folder
from aitp_desk.cli.commands.access.operators import bind, operators, unbind
from aitp_desk.cli.data import open_store, require_master_key

if TYPE_CHECKING:
    from aitp_desk.config import Config
    from aitp_desk.store.base import Store
    from aitp_desk.transports.host.people import HashPerson
    from aitp_desk.transports.host.registry import EnabledTransport

Work = Callable[["EnabledTransport", "Store", "HashPerson"], Awaitable[None]]
transport_name = click.argument("name", metavar="NAME")


@click.group()
def transport() -> None:
    """List and try transports, send messages by one, and say who operators are there."""


for command in (bind, unbind, operators):
    transport.add_command(command)


@transport.command(name="list")
@site_folder
@overrides
def list_(folder: Path, overrides: tuple[str, ...]) -> None:
    """List the transports of the site in FOLDER, and the addresses to register.

    Each line has a transport's name and the address at which its platform calls the desk, if it
    does. Installed transports that the site has not enabled are listed as such.
    """
    with mistakes_told():
        from aitp_desk.app.transports import load_for_check
        from aitp_desk.config import load_config
        from aitp_desk.transports.host.registry import installed_transports
        from aitp_desk.transports.routes import TRANSPORTS_PATH

        config = load_config(folder, overrides)
        enabled = load_for_check(config, os.environ)
        for one in enabled:
            addresses = [
                f"{config.site.url}{TRANSPORTS_PATH}{one.name}/{hook}"
                for hook in one.transport.endpoints()
            ]
            click.echo("\t".join([one.name, "enabled", *addresses]))
        for name in installed_transports():
            if name not in config.transports:
                click.echo(f"{name}\tnot enabled: add [transports.{name}] to desk.toml")


@transport.command()
@transport_name
@site_folder
@data_folder
@overrides
def test(name: str, folder: Path, data: Path | None, overrides: tuple[str, ...]) -> None:
    """Try the credentials of a transport and the way back, step by step.

    Where the site names a conversation of operators, a message is sent there, and deleted where the
    platform deletes messages. The site must have been served once, so that its keys exist. The
    first step that fails ends the command with code 1, and says what to do.
    """
    with mistakes_told():
        from aitp_desk.transports.operators.probe import check_operators
        from aitp_desk.transports.routes import check_hooks

        async def check(enabled: EnabledTransport, _store: Store, _hash_person: HashPerson) -> None:
            hooks = check_hooks(enabled.name, enabled.transport)
            for steps in (enabled.transport.check(), hooks, check_operators(enabled)):
                async for step in steps:
                    mark = "ok  " if step.is_done else "FAIL"
                    click.echo(f"{mark} {step.what}" + (f" {step.detail}" if step.detail else ""))
                    if not step.is_done:
                        raise click.exceptions.Exit(1)

        _run(name, folder, data, overrides, check)


@transport.command()
@transport_name
@click.argument("text")
@site_folder
@click.option("--to", "person", required=True, help="The platform's id of the person, or a chat.")
@data_folder
@overrides
def send(
    name: str, text: str, folder: Path, person: str, data: Path | None, overrides: tuple[str, ...]
) -> None:
    """Send TEXT to a person by a transport; the message is on no thread.

    Who has opted out, and has not written since, gets nothing.
    """
    with mistakes_told():
        from aitp_desk.model.access.principal import name_contact
        from aitp_desk.model.ids import new_id
        from aitp_desk.store.reads.transports import conversation_at, wants_no_messages
        from aitp_desk.transports.base import Failed
        from aitp_desk.transports.messages import Outgoing

        async def write(enabled: EnabledTransport, store: Store, hash_person: HashPerson) -> None:
            callers = {
                name_contact(enabled.name, one, is_proven=is_proven)
                for one in (person, person.lower())  # addresses of mails are known in lower case
                for is_proven in (True, False)
            }
            if known := await conversation_at(store, enabled.name, person):
                callers.add(known.principal)
            for caller in callers:
                if await wants_no_messages(store, hash_person(caller)):
                    fail(["It was not sent: this person has opted out, and has not written since."])
            outgoing = Outgoing(
                id=new_id("msg", time.time()),
                conversation=person,
                recipient=person,
                text=text,
                is_reply=False,
            )
            try:
                sent = await enabled.transport.send(outgoing)
            except Failed as failure:
                fail([f"It was not sent: {failure.reason}"])
            click.echo(f"Sent as {sent.message_ref}.")

        _run(name, folder, data, overrides, write)


@transport.command()
@transport_name
@site_folder
@click.option("--to", "people", multiple=True, help="The address that the message was sent to.")
@data_folder
@overrides
def deliver(
    name: str, folder: Path, people: tuple[str, ...], data: Path | None, overrides: tuple[str, ...]
) -> None:
    """Take a message from standard input, as a mail server's pipe writes it.

    The exit status is one of sysexits.h: 0 stored, 67 no such address, 65 unreadable; 75 for
    whatever may work later, a mistake in desk.toml included.
    """
    status = os.EX_TEMPFAIL

    async def take(enabled: EnabledTransport, _store: Store, _hash_person: HashPerson) -> None:
        nonlocal status
        status = await enabled.transport.deliver(sys.stdin.buffer, people)

    try:
        with mistakes_told(os.EX_TEMPFAIL):
            _run(name, folder, data, overrides, take)
    except SystemExit:
        sys.exit(os.EX_TEMPFAIL)
    sys.exit(status)


def _run(
    name: str, folder: Path, data: Path | None, overrides: tuple[str, ...], work: Work
) -> None:
    """Run work with one transport of a site, also while the desk serves."""
    from aitp_desk.config import load_config

    config = load_config(folder, overrides, data=data)
    if name not in config.transports:
        fail([f"There is no section [transports.{name}] in the site's desk.toml."])
    require_master_key(config.data)
    asyncio.run(_with_transport(config, name, work))


async def _with_transport(config: Config, name: str, work: Work) -> None:
    from aitp_desk.app.transports import make_host
    from aitp_desk.auth.keys.data_keys import open_data_keys
    from aitp_desk.egress import Egress
    from aitp_desk.transports.base import Host
    from aitp_desk.transports.host.intake import EventIntake
    from aitp_desk.transports.host.people import make_person_hash
    from aitp_desk.transports.host.registry import load_transports

    async with (
        open_store(config.data, config.store) as store,
        Egress(allow_loopback=config.egress.allow_loopback) as egress,
    ):
        keys = await open_data_keys(store, config.data, os.environ)
        loaded: dict[str, EnabledTransport] = {}
        intake = EventIntake(store, loaded, time.time)

        def make_one(of: str) -> Host:
            return make_host(
                config,
                of,
                store=store,
                receive=lambda incoming: intake.receive(of, (incoming,)),
                derive=keys.derive,
                egress=egress,
                environment=os.environ,
                clock=time.time,
            )

        (enabled,) = load_transports(config, make_one, only=name)
        loaded[name] = enabled
        await work(enabled, store, make_person_hash(keys.derive))
