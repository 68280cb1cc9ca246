"""Readers of a site's resources, with and without credentials."""

from __future__ import annotations

import msgspec

from aitp_desk.desk.direct.resources import ResourceView
from aitp_desk.model.access.principal import Principal, PrincipalKind, ProvenBy
from tests.support.clients.threads import Talker
from tests.support.store.erasure import principal_of


class Reader(msgspec.Struct, frozen=True):
    """A reader of resources."""

    talker: Talker
    principal: Principal

    async def read(self, path: str) -> ResourceView:
        """What stands at an address."""
        view = await self.talker.desk.desk.paid_resources.read(self.principal, path)
        assert isinstance(view, ResourceView)
        return view

    async def actions(self, path: str) -> dict[str, dict[str, object]]:
        """What may be done with it, with the arguments that are known."""
        view = await self.read(path)
        return {one.action.name: dict(one.arguments) for one in view.actions}

    @property
    def types(self) -> list[str]:
        """What may be read."""
        return [one.name for one in self.talker.desk.desk.resources.list_types(self.principal)]


async def reader(talker: Talker, *scopes: str) -> Reader:
    """Another reader, with a new API key of these scopes; without scopes, without a key."""
    if scopes:
        return await reading_as(await talker.with_key(*scopes), *scopes)
    nobody = Principal("anonymous", PrincipalKind.ANONYMOUS, frozenset(), "127.0.0.1")
    return Reader(talker, nobody)


async def reading_as(talker: Talker, *scopes: str) -> Reader:
    """The talker themselves, whose key has these scopes."""
    who = Principal(
        await principal_of(talker),
        PrincipalKind.USER,
        frozenset(scopes),
        "127.0.0.1",
        proven_by=ProvenBy.API_KEY,
    )
    return Reader(talker, who)
