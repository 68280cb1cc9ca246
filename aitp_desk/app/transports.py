"""Assembles the transports of a site."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from aitp_desk.app.services import Services
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.config import MAIL, Config
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.jobs.background_task import BackgroundTasks
from aitp_desk.desk.jobs.scheduler import Schedule
from aitp_desk.desk.plugins.judge import Judge
from aitp_desk.desk.plugins.outside.requests import make_sender
from aitp_desk.desk.tickets.bindings import OperatorBindings
from aitp_desk.desk.tickets.inbox import OperatorInbox
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.egress import Egress
from aitp_desk.model.access.principal import name_contact
from aitp_desk.protocols.aitp.wire import render_error
from aitp_desk.protocols.base.protocol import ProtocolRoutes
from aitp_desk.store.base import Store
from aitp_desk.store.reads import transports as transport_reads
from aitp_desk.store.units.tickets.platforms import drop_old
from aitp_desk.store.units.transport_bytes import claim_bytes, drop_expired, keep_bytes
from aitp_desk.transports.base import MOST_FILE_BYTES, Host, Transport
from aitp_desk.transports.contacts.contact_mail import ContactMail
from aitp_desk.transports.contacts.continuation import Continuations
from aitp_desk.transports.events import Incoming
from aitp_desk.transports.host.answer_limits import AnswerLimits
from aitp_desk.transports.host.intake import EventIntake
from aitp_desk.transports.host.operator_notes import OperatorNotes
from aitp_desk.transports.host.outbox import Outbox
from aitp_desk.transports.host.people import make_person_hash
from aitp_desk.transports.host.registry import EnabledTransport, load_transports
from aitp_desk.transports.host.retraction import Retractions
from aitp_desk.transports.operators.feed import TicketFeed
from aitp_desk.transports.operators.handler import OperatorHandler
from aitp_desk.transports.pages.form_links import FormLinks
from aitp_desk.transports.pages.form_pages import FormPages
from aitp_desk.transports.pages.html import render_action_page
from aitp_desk.transports.routes import TransportHooks
from aitp_desk.transports.visitors.handler import EventHandler
from aitp_desk.transports.visitors.plain_messages import PlainMessages
from aitp_desk.transports.visitors.services import VisitorServices

LISTEN_SECONDS = 5
"""Delay before a transport that has stopped to listen is started again."""
CLEANUP_SECONDS = 60 * 60
KEPT_DAYS = 7
"""How long bytes of an event are kept that was never handled."""
TOLD_DAYS = 30
"""How long after its end a ticket is known to operators on platforms."""
_STATE = "state:"
"""Begins the keys of what transports keep for themselves."""


class Transports(msgspec.Struct, frozen=True, eq=False):
    """The transports of a site, and what carries their messages.

    Parameters:
        outbox: None where no transport is enabled.
        feed: tells operators on platforms of tickets; None where there are none.
        routes: at which platforms call.
        background: what follows their requests.
    """

    enabled: tuple[EnabledTransport, ...]
    outbox: Outbox | None
    feed: TicketFeed | None
    routes: tuple[ProtocolRoutes, ...]
    background: BackgroundTasks

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Send messages while the context lasts."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.background.run())
            if self.outbox is not None:
                await stack.enter_async_context(self.outbox.run())
            if self.feed is not None:
                await stack.enter_async_context(self.feed.run())
            yield


def build_transports(
    config: Config,
    services: Services,
    desks: Sequence[Desk],
    *,
    keys: DataKeys,
    egress: Egress,
    environment: Mapping[str, str],
    extra: Mapping[str, type[Transport]],
) -> Transports:
    """Build the transports that ``desk.toml`` enables.

    Parameters:
        desks: of all site agents.
        keys: the desk's data keys.
        egress: the one client for outside addresses.
        environment: with the credentials that settings name.
        extra: further transports by name, in no package.

    Raises:
        ConfigError: as :func:`.registry.load_transports`.
    """
    services.jobs.register_kinds(Retractions({}).make_kind())  # those of transports of before
    clock = services.clock
    if config.transports or config.peers:
        cleanup = partial(_clean_up, services.store, clock)
        services.schedules.add(Schedule("transports", CLEANUP_SECONDS, cleanup))
    if not config.transports:
        return Transports((), None, None, (), BackgroundTasks())
    background = BackgroundTasks()
    by_name: dict[str, EnabledTransport] = {}
    by_agent = {desk.name: desk for desk in desks}
    notes = OperatorNotes(services.audit, clock)
    hash_person = make_person_hash(keys.derive)
    limits = AnswerLimits(services.shared.counts, clock)
    messages = PlainMessages(
        by_name,
        by_agent,
        store=services.store,
        notes=notes,
        limits=limits,
        clock=clock,
        start=background.start,
    )
    intake = EventIntake(services.store, by_name, clock, services.jobs.wake, messages.post)

    def make_one(name: str) -> Host:
        return make_host(
            config,
            name,
            store=services.store,
            receive=lambda incoming: intake.receive(name, (incoming,)),
            derive=keys.derive,
            egress=egress,
            environment=environment,
            clock=clock,
        )

    enabled = load_transports(config, make_one, extra)
    by_name |= {one.name: one for one in enabled}
    judges: dict[str, Judge] = {desk.name: desk.judge for desk in desks}
    takeover = Takeover(services.store, clock, judges)
    links = FormLinks(keys.derive("transport forms"), config.site.url)
    pages = FormPages(
        by_name,
        by_agent,
        store=services.store,
        links=links,
        render=partial(render_action_page, site=config.site.name, colour=config.widget.accent),
        hash_person=hash_person,
        limits=limits,
        clock=clock,
    )
    outbox = Outbox(
        by_name,
        by_agent,
        store=services.store,
        jobs=services.jobs,
        notes=notes,
        zone=ZoneInfo(config.site.timezone),
        link_form=links.link_to,
        clock=clock,
    )
    inbox = OperatorInbox(
        services.store,
        {desk.name: desk.registry for desk in desks},
        clock,
        services.capabilities,
    )
    feed = TicketFeed(
        by_name,
        inbox=inbox,
        store=services.store,
        jobs=services.jobs,
        console=f"{config.site.url}/console" if config.console.enabled else "",
        clock=clock,
    )
    operators = OperatorHandler(
        feed,
        OperatorBindings(services.store, services.audit, clock),
        escalation=EscalationService(services.store, clock),
        takeover=takeover,
        desks=desks,
        changed=services.events.notify_change,
    )
    visitors = VisitorServices(
        desks=by_agent,
        store=services.store,
        notes=notes,
        continuations=Continuations(
            services.store, enabled, hash_person, services.shared.counts, clock
        ),
        on_change=outbox.on_change,
        limits=limits,
        hash_person=hash_person,
        clock=clock,
    )
    handler = EventHandler(by_name, visitors)
    if feed.transports:
        services.notices.add_channel(feed.announce)
    services.jobs.register_kinds(
        *handler.make_kinds(operators.handle), outbox.make_kind(), feed.make_kind()
    )
    services.jobs.register_kinds(Retractions(by_name).make_kind())
    if MAIL in by_name:
        contact_mail = ContactMail(
            by_name[MAIL],
            store=services.store,
            site=config.site,
            secret=keys.derive("transport contacts"),
            hash_person=hash_person,
            clock=clock,
        )
        services.jobs.register_kinds(contact_mail.make_kind())
    services.events.on_change(outbox.on_change)
    for one in enabled:
        if type(one.transport).listen is not Transport.listen:
            work = partial(_listen, one.transport)
            services.schedules.add(
                Schedule(f"transport:{one.name}", LISTEN_SECONDS, work, at_start=True)
            )
    hooks = TransportHooks(
        intake,
        keep=partial(_keep, services.store, clock, expires=True),
        start=background.start,
        clock=clock,
    )
    routes = hooks.make_routes(enabled, pages.make_routes(), render_error)
    return Transports(enabled, outbox, feed if feed.transports else None, routes, background)


def make_host(
    config: Config,
    name: str,
    *,
    store: Store,
    receive: Callable[[Incoming], Awaitable[None]],
    derive: Callable[[str], bytes],
    egress: Egress,
    environment: Mapping[str, str],
    clock: Callable[[], float],
) -> Host:
    """Make what the desk gives to a transport.

    Parameters:
        name: of the transport.
        receive: stores an event.
        derive: derives 32 bytes of the site's key for one purpose.
        environment: with the credentials that settings name.
        clock: Unix seconds.
    """

    async def read(prefix: str, key: str) -> bytes | None:
        return await transport_reads.stored_bytes(store, name, f"{prefix}{key}")

    async def claim(key: str, data: bytes) -> bytes:
        return await store.run(claim_bytes, transport=name, key=key, data=data, now=int(clock()))

    async def keep_state(key: str, data: bytes, person: str = "") -> None:
        whose = name_contact(name, person, is_proven=True) if person else ""
        await _keep(store, clock, name, f"{_STATE}{key}", data, whose, expires=False)

    return Host(
        receive=receive,
        send=make_sender(egress, most_bytes=MOST_FILE_BYTES),
        url=config.site.url,
        site_name=config.site.name,
        colour=config.widget.accent,
        languages=(config.site.language, *config.site.languages),
        secret=lambda purpose: derive(f"transport {name} {purpose}"),
        keep_bytes=partial(_keep, store, clock, name, expires=True),
        read_bytes=partial(read, ""),
        claim_bytes=claim,
        keep_state=keep_state,
        read_state=partial(read, _STATE),
        clock=clock,
        environment=environment,
    )


def load_for_check(config: Config, environment: Mapping[str, str]) -> tuple[EnabledTransport, ...]:
    """Create the transports of a site only to check their settings.

    Parameters:
        environment: with the credentials that settings name.

    Raises:
        ConfigError: as :func:`.registry.load_transports`.
    """

    async def refuse(*_: Any, **_named: Any) -> Any:
        raise RuntimeError("A transport that is only looked at does nothing.")

    host = Host(
        receive=refuse,
        send=refuse,
        url=config.site.url,
        site_name=config.site.name,
        colour=config.widget.accent,
        languages=(config.site.language, *config.site.languages),
        secret=lambda _purpose: bytes(32),  # nothing that it signs is sent
        keep_bytes=refuse,
        read_bytes=refuse,
        claim_bytes=refuse,
        keep_state=refuse,
        read_state=refuse,
        clock=time.time,
        environment=environment,
    )
    return load_transports(config, lambda _name: host)


async def _keep(
    store: Store,
    clock: Callable[[], float],
    transport: str,
    key: str,
    data: bytes,
    whose: str = "",
    *,
    expires: bool,
) -> None:
    await store.run(
        keep_bytes,
        transport=transport,
        key=key,
        data=data,
        principal=whose,
        now=int(clock()),
        expires=expires,
    )


async def _listen(transport: Transport) -> int:
    await transport.listen()
    return 0


async def _clean_up(store: Store, clock: Callable[[], float]) -> int:
    total = 0
    now = int(clock())
    while dropped := await store.run(drop_expired, now=now, before=now - KEPT_DAYS * DAY_SECONDS):
        total += dropped
    told_before = now - TOLD_DAYS * DAY_SECONDS
    while dropped := await store.run(drop_old, now=now, before=told_before):
        total += dropped
    return total
