"""Reveals sealed values to operators who may read them (``/console/api/sealed``)."""

from __future__ import annotations

from aitp_desk.auth.console_sessions import Session
from aitp_desk.desk.access.sealed_values import SealedValues
from aitp_desk.protocols.base.protocol import Call, Reply
from aitp_desk.web.console.objects import ConsoleSealed, EmptyBody
from aitp_desk.web.console.wire import decode_body, encode


class SealedRoutes:
    """Reveals a sealed value of any desk, after recording it in the audit log."""

    def __init__(self, sealed: SealedValues) -> None:
        self._sealed = sealed

    async def reveal(self, _session: Session, call: Call) -> Reply:
        """``POST sealed/{ref}``: the value; the page asks each time that it shows it.

        It changes nothing but the audit log, and is no GET so that no page of another site can have
        a browser send it.
        """
        decode_body(call.body, EmptyBody)
        revealed = await self._sealed.reveal(call.principal, call.params["ref"], everywhere=True)
        return Reply(200, encode(ConsoleSealed(revealed.value)))
