"""From a configuration to a running desk.

Everything is opened on one exit stack and closed in reverse: the lock on the data folder, the
store, the content, the worker, the HTTP server.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from types import MappingProxyType

import msgspec

from aitp_desk.actions.base import Offered
from aitp_desk.agent.base import Agent
from aitp_desk.app.background import tending
from aitp_desk.app.context import House
from aitp_desk.app.desks import make_desk
from aitp_desk.app.doors.a2a import rendering_tasks
from aitp_desk.app.doors.announcement import faces_of
from aitp_desk.app.doors.callback_rendering import telling
from aitp_desk.app.doors.registry import make_every_door
from aitp_desk.app.health import look_at
from aitp_desk.app.metrics import make_sources
from aitp_desk.app.services import Shared, digests, make_shared
from aitp_desk.app.site_agents import open_agent, open_content, open_enrichment, open_houses
from aitp_desk.app.startup_report import report_start
from aitp_desk.app.warmup import reading_ahead
from aitp_desk.auth.credentials.guess_limiter import Guesses
from aitp_desk.auth.credentials.proof_cache import Epoch
from aitp_desk.auth.identifier import Identifier
from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.auth.methods import make_identifier
from aitp_desk.capability import Capability
from aitp_desk.config import Config, default_url
from aitp_desk.desk.calls.recovery import recover
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.tools.agent_tools import Tooling
from aitp_desk.desk.limits.concurrency import Concurrency
from aitp_desk.desk.limits.token_usage import TokensUsed
from aitp_desk.desk.maintenance.health_checks import Checking
from aitp_desk.desk.plugins.discovery import NONE_BESIDE, find_capabilities
from aitp_desk.desk.plugins.outside.offers import offered_by
from aitp_desk.desk.plugins.outside.ownership import hand_out
from aitp_desk.desk.plugins.payment_check import require_payable
from aitp_desk.desk.runs.worker import Worker
from aitp_desk.egress import Egress
from aitp_desk.http.cors import Browsers
from aitp_desk.http.dispatcher import Front
from aitp_desk.http.limits.connections import Connections
from aitp_desk.http.server import bound_socket, listening
from aitp_desk.http.tracing import TracedFront
from aitp_desk.knowledge.documents.titles import site_name
from aitp_desk.observability.sources import Measuring
from aitp_desk.observability.tracing import is_wanted, tracing
from aitp_desk.protocols.ahp.wire import forget_bodies
from aitp_desk.protocols.base.door import Door
from aitp_desk.store.base import Store
from aitp_desk.store.engine.lock import held_data
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units import TOKENS_EPOCH
from aitp_desk.web.console.routes import make_sessions

NO_ACTIONS: Mapping[str, Sequence[Offered]] = MappingProxyType({})
NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})


class Serving(msgspec.Struct, frozen=True):
    """A desk that answers.

    Parameters:
        url: where it listens; ``desk.site.url`` is how the public reaches it.
        front: what answers every request, whichever way it came.
        identifier: tells who is calling.
        report: what it found at its start, a line each.
    """

    url: str
    front: Front
    desk: Desk
    store: Store
    identifier: Identifier
    report: tuple[str, ...]


@asynccontextmanager
async def open_server(
    config: Config,
    *,
    clock: Callable[[], float] = time.time,
    agent: Agent | None = None,
    claude_key: str | None = None,
    claude_url: str | None = None,
    actions: Sequence[Offered] = (),
    agent_actions: Mapping[str, Sequence[Offered]] = NO_ACTIONS,
    capabilities_beside: Mapping[str, type[Capability]] = NONE_BESIDE,
    environment: Mapping[str, str] = NO_ENVIRONMENT,
) -> AsyncIterator[Serving]:
    """Run a desk for as long as the context lasts.

    Parameters:
        clock: Unix seconds.
        agent: who answers; by default Claude where there is a key for it, else extraction.
        claude_key: the API key for Claude.
        claude_url: the address of its API; None for the public one.
        actions: further ones, beside those that the site has declared.
        agent_actions: the same for further site agents, by their names.
        capabilities_beside: those that no installed package has, by their names.
        environment: where the master key may stand (``auth/keys.py``), other credentials, and what
            spans are for (``tracing.py``).
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(held_data(config.data))
        sock = stack.enter_context(bound_socket(config.server.host, config.server.port))
        server = msgspec.structs.replace(config.server, port=sock.getsockname()[1])
        site = msgspec.structs.replace(config.site, url=config.site.url or default_url(server))
        config = msgspec.structs.replace(config, server=server, site=site)
        capabilities = find_capabilities(config, capabilities_beside)
        store = await stack.enter_async_context(
            SqliteStore.open(
                config.database, synchronous=config.store.synchronous, queue=config.store.queue
            )
        )
        is_traced = stack.enter_context(tracing(config.tracing.enabled or is_wanted(environment)))
        keys = await open_data_keys(store, config.data, environment)
        hand_out(config, capabilities, keys.derive)
        egress = await stack.enter_async_context(
            Egress(allow_loopback=config.egress.allow_loopback)
        )
        knowledge = await open_content(stack, config, egress, environment)
        site = site.named(site_name(knowledge.library.documents))
        config = msgspec.structs.replace(config, site=site)
        tokens_used = TokensUsed(store, digests(keys, "tokens used"), clock)
        agent, day = await open_agent(
            stack,
            config.claude,
            knowledge,
            tokens_used=tokens_used,
            clock=clock,
            agent=agent,
            key=claude_key,
            url=claude_url,
        )
        checking = Checking(store, clock)
        houses = await open_houses(
            stack,
            config,
            knowledge,
            agent,
            egress=egress,
            environment=environment,
            given={**agent_actions, "": actions},
            speaks=capabilities.urls,
            told=offered_by(capabilities, checking),
        )
        require_payable(config, [one for house in houses for one in house.actions], capabilities)
        shared = make_shared(
            config,
            store=store,
            keys=keys,
            egress=egress,
            agent=agent,
            actors={house.name: house.actor for house in houses},
            tokens_used=tokens_used,
            capabilities=capabilities,
            checking=checking,
            clock=clock,
        )
        following = shared.following
        tooling = _make_tooling(shared, houses)
        worker = Worker(
            store=store,
            turns={house.name: house.make_turns(shared, tooling[house.name]) for house in houses},
            following=following,
            summarising=shared.summarising,
            jobs=shared.jobs,
            clock=clock,
        )
        enrichment = open_enrichment(
            config, houses, key=claude_key, url=claude_url, day=day, clock=clock
        )
        desks = tuple(make_desk(house, shared, worker, tooling[house.name]) for house in houses)
        look_at(shared, worker, houses)
        shared.jobs.handle(
            shared.callbacks.kind(telling(desks)),
            shared.task_pushing.kind(rendering_tasks(desks)),
        )
        epoch = Epoch(partial(reads.epoch, store, TOKENS_EPOCH))
        guesses = Guesses(clock) if config.limits.enabled else None
        sessions = make_sessions(
            config, store=store, keys=keys, epoch=epoch, guesses=guesses, clock=clock
        )
        identifier = make_identifier(
            config,
            store=store,
            keys=keys,
            egress=egress,
            epoch=epoch,
            guesses=guesses,
            sessions=sessions,
            clock=clock,
        )
        measuring = Measuring()
        doors = make_every_door(
            config,
            shared,
            desks,
            keys=keys,
            identifier=identifier,
            sessions=sessions,
            measuring=measuring,
            served=lambda: front.routes,
        )
        concurrency = (
            Concurrency(config.concurrency, shared.tiers) if config.limits.enabled else None
        )
        front = (TracedFront if is_traced else Front)(
            desk=desks[0],
            doors=doors,
            identifier=identifier,
            browsers=Browsers(config.site.url, config.cors),
            noting=shared.noting,
            tells_of_tokens=config.oauth.enabled,
            concurrency=concurrency,
            faces=faces_of(config),
        )
        for one in tooling.values():
            await recover(one.invoking, store)
        # closed in reverse: first no new requests, then the runs in progress, then the store
        await stack.enter_async_context(worker.working(config.server.shutdown_seconds))
        await stack.enter_async_context(following.beating(config.events.heartbeat_seconds))
        await stack.enter_async_context(following.reviewing(epoch.refresh))
        await stack.enter_async_context(
            tending(
                config,
                houses,
                shared,
                worker,
                (*(one.forget for one in desks), forget_bodies),
                shared.noting,
                desks[0].people_acted,
                enrichment,
            )
        )
        await stack.enter_async_context(shared.checking.keeping())
        await _open_beside(stack, doors)
        # who still reads when the desk stops holds up nobody who is being answered
        read_ahead = await stack.enter_async_context(reading_ahead(houses))
        connections = Connections(config, identifier.addresses)
        under_way = await stack.enter_async_context(
            listening(front, sock, config.server, connections)
        )
        measuring.add(
            front.meter.figures,
            lambda: connections.figures(under_way()),
            *([] if concurrency is None else [concurrency.figures]),
            *([] if day is None else [day.figures]),
            lambda: store.measure().figures(),
            *make_sources(shared, worker, desks, tooling),
        )
        read_ahead()
        yield Serving(
            default_url(config.server),
            front,
            desks[0],
            store,
            identifier,
            report_start(store, houses),
        )


async def _open_beside(stack: AsyncExitStack, doors: Sequence[Door]) -> None:
    """Open what doors have beside their addresses."""
    for door in doors:
        if door.beside is not None:
            await stack.enter_async_context(door.beside())


def _make_tooling(shared: Shared, houses: Sequence[House]) -> dict[str, Tooling]:
    """What hands its actions to each desk's agent, by the names of the desks."""
    invoking = {house.name: house.make_invoking(shared) for house in houses}
    shared.taking_on.serve(invoking)
    return {house.name: house.make_tooling(shared, invoking[house.name]) for house in houses}
