"""All actions and resources of a site, from Python, OpenAPI files and MCP servers."""

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
    """The actions of a site, and the contexts that they need.

    Parameters:
        actions: of all sources, those in Python first, with unique names.
        opens: contexts to keep open while the desk runs.
    """

    actions: Actions
    opens: tuple[Open, ...] = ()


def load_sources(
    config: Config, *, environment: Mapping[str, str], taken: Collection[str] = ()
) -> ActionSources:
    """Load the actions of a site, without connecting to any server.

    Parameters:
        config: of the site, or of a further site agent.
        environment: holds the credentials for its services.
        taken: reserved names: those of the desk's own actions.

    Raises:
        ActionsError: something is unusable; it lists all faults.
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
    # a server's tools are known only once it is connected
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
    """The offers of a running site.

    Parameters:
        offered: its actions, with unique names.
        resources: its resource types, with unique paths.
        notes: returns current notes on their sources for the owner, in sentences.
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
    """Open all sources of a site within the context: see :func:`load_sources`.

    The lists of tools are fetched from the servers; one that does not respond affects nothing else.

    Parameters:
        more: further actions, appended.

    Raises:
        ActionsError: something is unusable.
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
    """Offer the tools of MCP servers while they are connected.

    Parameters:
        names: the names in use; those of offered tools are added.
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
    """Return sentences on affordances of resources that no source offers."""
    return tuple(
        f"The resource {one.type.name} affords {name!r}, but no server has such a tool."
        for one in resources
        for name in one.type.affords
        if name not in names
    )


def _taken(place: str, name: str) -> Problem:
    return Problem(
        place,
        f"has an action {name!r}, whose name is already in use; write a prefix, or"
        " another name in its terms.",
    )
