"""Codes with which a signed-in operator works from a platform too."""

from __future__ import annotations

from collections.abc import Collection

from aitp_desk.auth.console_sessions import Session
from aitp_desk.desk.tickets.bindings import OperatorBindings
from aitp_desk.model.access.principal import KEY_PREFIX
from aitp_desk.model.errors import InvalidRequest, NotAuthenticated
from aitp_desk.model.timestamps import write_timestamp
from aitp_desk.protocols.base.protocol import Call, Reply, Route
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.web.console.objects import ConsoleBindingCode, EmptyBody
from aitp_desk.web.console.operator import MAX_BODY
from aitp_desk.web.console.sessions import SessionRoutes
from aitp_desk.web.console.wire import decode_body, encode


class PlatformRoutes:
    """Makes codes for the holder of the session's key.

    Parameters:
        names: of the site's transports.
    """

    def __init__(self, store: Store, bindings: OperatorBindings, names: Collection[str]) -> None:
        self._store = store
        self._bindings = bindings
        self._names = names

    async def make_code(self, session: Session, call: Call) -> Reply:
        """``POST platforms/{name}/code``: a code for this operator, valid once."""
        decode_body(call.body, EmptyBody)
        name = call.params["name"]
        if name not in self._names:
            raise InvalidRequest("The site has not enabled this transport.", param="name")
        key_id = session.principal.id.removeprefix(KEY_PREFIX)
        key = await reads.token_by_id(self._store, key_id)
        if key is None:
            raise NotAuthenticated("The session has ended or is unknown. Sign in.")
        code, until = await self._bindings.make_code(name, key)
        return Reply(200, encode(ConsoleBindingCode(f"bind {code}", write_timestamp(until))))

    def routes(self, signing_in: SessionRoutes) -> tuple[Route, ...]:
        """Return the routes."""
        return (signing_in.route("POST", "platforms/{name}/code", self.make_code, MAX_BODY),)
