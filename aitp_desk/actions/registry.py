"""Everything that a site offers: what it declares in Python, and what others describe."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

import msgspec

from aitp_desk.actions.base import OfferedAction, OfferedResource
from aitp_desk.actions.faults import ActionsError
from aitp_desk.actions.loader.loader import Actions, load_actions
from aitp_desk.config import Config, Problem

Open = Callable[[], AbstractAsyncContextManager[None]]


class ActionSources(msgspec.Struct, frozen=True):
    """What a site offers, and what has to be open for it to be called.

    Parameters:
        actions: of all sources, those in Python first; no two have one name.
        opens: each a context that lasts as long as the desk serves.
    """

    actions: Actions
    opens: tuple[Open, ...] = ()


def load_sources(
    config: Config, *, environment: Mapping[str, str], taken: Collection[str] = ()
) -> ActionSources:
    """Read what a site offers. Nobody is asked for anything yet.

    Parameters:
        config: of the site, or of a further site agent.
        environment: where credentials for its services stand.
        taken: names that no action may have: those of the desk's own.

    Raises:
        ActionsError: something of it cannot be used; tells all.
    """
    problems: list[Problem] = []
    described: list[tuple[str, OfferedAction]] = []
    opens: list[Open] = []
    for settings in config.openapi:
        from aitp_desk.actions.openapi.loader import Loader

        loader = Loader(config, settings, environment)
        service, found = loader.load()
        problems += loader.problems
        opens.append(service.opened)
        described += ((f"openapi, {settings.file}", one) for one in found)
    elsewhere = {one.action.name for _, one in described}
    # what tools a server has is known once it was asked
    prefixes = tuple(server.prefix for server in config.mcp)
    actions = Actions()
    try:
        actions = load_actions(
            config,
            taken=taken,
            is_elsewhere=lambda name: name in elsewhere or name.startswith(prefixes),
        )
    except ActionsError as error:
        problems = [*error.problems, *problems]
    if config.mcp:
        from aitp_desk.actions.mcp.servers import check_servers

        problems += check_servers(config, environment)
    offered = list(actions.offered)
    names = {*taken, *(one.action.name for one in offered)}
    for place, one in described:
        if one.action.name in names:
            problems.append(_taken(place, one.action.name))
        names.add(one.action.name)
        offered.append(one)
    if problems:
        raise ActionsError(problems)
    return ActionSources(Actions(tuple(offered), actions.resources), tuple(opens))


class SiteOffers(msgspec.Struct, frozen=True):
    """What a site offers while it is served.

    Parameters:
        offered: its actions, no two of one name.
        resources: the types of its resources, no two of which share an address.
        notes: gives what the owner should know of their sources just now, in sentences.
    """

    offered: tuple[OfferedAction, ...] = ()
    resources: tuple[OfferedResource, ...] = ()
    notes: Callable[[], tuple[str, ...]] = tuple


@asynccontextmanager
async def open_sources(
    config: Config,
    environment: Mapping[str, str],
    taken: Collection[str],
    more: Sequence[OfferedAction] = (),
) -> AsyncIterator[SiteOffers]:
    """What a site offers, for as long as the context lasts: see :func:`load_sources`.

    Servers are asked for their tools; one that does not answer keeps nothing else from being
    offered.

    Parameters:
        more: further actions, which stand last.

    Raises:
        ActionsError: something of it cannot be used.
    """
    sources = load_sources(config, environment=environment, taken=taken)
    offered, resources = sources.actions.offered, sources.actions.resources
    async with AsyncExitStack() as stack:
        for open_one in sources.opens:
            await stack.enter_async_context(open_one())
        if not config.mcp:
            yield SiteOffers((*offered, *more), resources)
            return
        names = {*taken, *(one.action.name for one in (*offered, *more))}
        tools = await stack.enter_async_context(_offering_tools(config, environment, names))
        missing = _missing(resources, names)
        yield SiteOffers(
            (*offered, *tools.offered, *more), resources, lambda: (*tools.notes(), *missing)
        )


@asynccontextmanager
async def _offering_tools(
    config: Config, environment: Mapping[str, str], names: set[str]
) -> AsyncIterator[SiteOffers]:
    """What of the tools of MCP servers is offered, while they are connected.

    Parameters:
        names: those that are taken; what is offered is added.
    """
    from aitp_desk.actions.mcp.servers import ToolServer

    servers = [ToolServer(settings, config, environment) for settings in config.mcp]
    offered: list[OfferedAction] = []
    async with AsyncExitStack() as stack:
        for server in servers:
            await stack.enter_async_context(server.run())
        await asyncio.gather(*(server.load_tools() for server in servers))
        for server in servers:
            for one in server.list_actions(names.__contains__):
                names.add(one.action.name)
                offered.append(one)
        yield SiteOffers(
            tuple(offered), notes=lambda: tuple(note for one in servers for note in one.notes)
        )


def _missing(resources: Sequence[OfferedResource], names: Collection[str]) -> tuple[str, ...]:
    """What resources afford that nobody offers, in sentences: no server has such a tool."""
    return tuple(
        f"The resource {one.type.name} affords {name!r}; no server has such a tool."
        for one in resources
        for name in one.type.affords
        if name not in names
    )


def _taken(place: str, name: str) -> Problem:
    return Problem(
        place,
        f"has an action {name!r}, and there is another; write a prefix, or its name in terms.",
    )
