"""Everything that a site offers: what it declares in Python, and what others describe."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

import msgspec

from aitp_desk.actions.base import Offered
from aitp_desk.actions.faults import ActionsError
from aitp_desk.actions.loading import Actions, load_actions
from aitp_desk.config import Config, Problem

Open = Callable[[], AbstractAsyncContextManager[None]]


class Sources(msgspec.Struct, frozen=True):
    """What a site offers, and what has to be open for it to be called.

    Parameters:
        actions: of all sources, those in Python first; no two have one name.
        opens: each a context that lasts as long as the desk serves.
    """

    actions: Actions
    opens: tuple[Open, ...] = ()


def load_sources(
    config: Config, *, environment: Mapping[str, str], taken: Collection[str] = ()
) -> Sources:
    """Read what a site offers. Nobody is asked for anything yet.

    Parameters:
        config: of the site, or of a further site agent.
        environment: where credentials for its services stand.
        taken: names that no action may have: those of the desk's own.

    Raises:
        ActionsError: something of it cannot be used; tells all.
    """
    problems: list[Problem] = []
    actions, opens = Actions(), []
    try:
        actions = load_actions(config, taken=taken)
    except ActionsError as error:
        problems += error.problems
    offered = list(actions.offered)
    names = {*taken, *(one.action.name for one in offered)}
    for settings in config.openapi:
        from aitp_desk.actions.openapi.loading import Loader

        loader = Loader(config, settings, environment)
        service, found = loader.load()
        problems += loader.problems
        opens.append(service.opened)
        for one in found:
            if one.action.name in names:
                problems.append(_taken(f"openapi, {settings.file}", one.action.name))
            names.add(one.action.name)
            offered.append(one)
    if problems:
        raise ActionsError(problems)
    return Sources(Actions(tuple(offered), actions.resources), tuple(opens))


@asynccontextmanager
async def offering(
    config: Config,
    environment: Mapping[str, str],
    taken: Collection[str],
    more: Sequence[Offered] = (),
) -> AsyncIterator[tuple[Offered, ...]]:
    """The actions that a site offers, for as long as the context lasts: see :func:`load_sources`.

    Parameters:
        more: further ones, which stand last.

    Raises:
        ActionsError: something of it cannot be used.
    """
    sources = load_sources(config, environment=environment, taken=taken)
    async with AsyncExitStack() as stack:
        for open_one in sources.opens:
            await stack.enter_async_context(open_one())
        yield (*sources.actions.offered, *more)


def _taken(place: str, name: str) -> Problem:
    return Problem(
        place,
        f"has an action {name!r}, and there is another; write a prefix, or its name in terms.",
    )
