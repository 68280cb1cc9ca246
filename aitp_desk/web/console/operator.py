"""Audits operator actions, and notifies their followers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.model.access.audit import AuditKeys, Auditor, make_auditor
from aitp_desk.protocols.base.protocol import Call
from aitp_desk.web.console.pulse import ChangeSignal

MAX_BODY: Final = 256 * 1024
"""The most bytes of a body: space for the longest text in any script, escaped in JSON."""


class OperatorActions:
    """Audits operator actions and notifies followers.

    Parameters:
        audit: the keys of the audit log.
        desks: of all site agents.
        clock: Unix seconds.
    """

    def __init__(
        self,
        audit: AuditKeys,
        desks: Sequence[Desk],
        events: Broadcaster,
        pulse: ChangeSignal,
        clock: Callable[[], float],
    ) -> None:
        self._audit = audit
        self._desks = desks
        self._events = events
        self._pulse = pulse
        self._clock = clock

    def make_auditor(self, call: Call) -> Auditor:
        """Return the auditor of the operator's action."""
        return make_auditor(self._audit, call.principal, int(self._clock()))

    def notify_typing(self, thread_id: str, actor: str) -> None:
        """Notify a thread's followers that this operator is typing."""
        self._events.notify_typing(thread_id, actor)

    def notify_change(self, thread_id: str | None) -> None:
        """Notify the followers of a thread, and other consoles, at once.

        They would find the change by polling a moment later, as they do after the command line.
        """
        for desk in self._desks:
            desk.on_people_acted()
        if thread_id is not None:
            self._events.notify_change(thread_id)
        self._pulse.wake()
