"""Executes stored calls that have begun, and builds the unit that ends them.

Such a call was accepted to run in the background, or was interrupted with its process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from aitp_desk.actions.base import CallContinues, OfferedAction
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.calls.argument_secrets import ArgumentSecrets
from aitp_desk.desk.calls.executor import CallExecutor
from aitp_desk.desk.calls.invocation import ActionOutput
from aitp_desk.desk.calls.outcomes import mark_expired, mark_failed, mark_unknown
from aitp_desk.desk.calls.results import describe_end
from aitp_desk.desk.jobs.call_kinds import make_follow_job
from aitp_desk.model.access.audit import make_own_auditor
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.conversation.chain import new_salt
from aitp_desk.model.conversation.thread import Origin
from aitp_desk.model.errors import DeskError, PreconditionFailed
from aitp_desk.model.ids import new_id
from aitp_desk.model.redaction import hide_secrets
from aitp_desk.store.base import Work
from aitp_desk.store.records.threads import NewMessage
from aitp_desk.store.units.calls.calls import ExtraStatements, continue_call, end_accepted


class DeferredCalls:
    """Executes stored calls and builds the unit that ends them.

    Parameters:
        offered: the site's actions, by name.
    """

    def __init__(
        self,
        context: DeskContext,
        offered: Mapping[str, OfferedAction],
        executor: CallExecutor,
        secrets: ArgumentSecrets,
    ) -> None:
        self._offered = offered
        self._executor = executor
        self._secrets = secrets
        self._audit = context.audit
        self._clock = context.clock
        self._actor = context.actor.id

    def describe_result(self, call: ActionCall) -> str:
        """Return the text about a call that is over."""
        offered = self._offered.get(call.action)
        return describe_end(None if offered is None else offered.action, call)

    async def recheck(self, call: ActionCall) -> ActionCall | None:
        """Check whether a paid or approved call can still be executed.

        Returns:
            The call as failed if it cannot, not stored yet; None if it can.
        """
        offered = self._offered.get(call.action)
        if offered is None or call.expires_at < self._now():
            return None  # execute() reports it
        try:
            given = await self._secrets.restore_secrets(call)
            with hide_secrets(self._secrets.list_secret_texts(call.action, given)):
                value = offered.read(given)
                context = self._executor.make_context(call)
                await self._executor.recheck_call(offered, value, call, context)
        except DeskError as error:
            return mark_failed(call, error, self._now())
        return None

    async def needs_approval(self, call: ActionCall) -> bool:
        """Return whether a paid call needs the approval of an operator.

        A call that cannot be checked needs none: executing it reports why.
        """
        offered = self._offered.get(call.action)
        if offered is None or call.expires_at < self._now():
            return False
        try:
            given = await self._secrets.restore_secrets(call)
            with hide_secrets(self._secrets.list_secret_texts(call.action, given)):
                context = self._executor.make_context(call)
                return await self._executor.needs_approval(offered, offered.read(given), context)
        except DeskError:
            return False

    async def execute(self, call: ActionCall) -> ActionOutput:
        """Execute a stored call in the state ``started``; its end is not stored.

        Errors of the action are not raised: the returned call holds them. The call has not ended
        if operators are to carry it out.
        """
        offered = self._offered.get(call.action)
        if offered is None:
            gone = PreconditionFailed("This action is no longer offered.")
            return ActionOutput(mark_failed(call, gone, self._now()))
        if call.expires_at < self._now():
            return ActionOutput(mark_expired(call, self._now()))
        try:
            given = await self._secrets.restore_secrets(call)
            value = offered.read(given)
        except DeskError as error:
            return ActionOutput(mark_failed(call, error, self._now()))
        context = self._executor.make_context(call, tells=True)
        with hide_secrets(self._secrets.list_secret_texts(call.action, given)):
            return await self._executor.execute(offered, value, call, context)

    async def follow(self, call: ActionCall, reference: str) -> ActionOutput:
        """Read how an accepted call goes elsewhere; its end is not stored.

        Parameters:
            reference: by which it is found there.
        """
        offered = self._offered.get(call.action)
        if offered is None or call.expires_at < self._now():
            return ActionOutput(mark_unknown(call, self._now()))
        given = call.arguments
        with suppress(DeskError):  # the values are only needed to redact them
            given = await self._secrets.restore_secrets(call)
        context = self._executor.make_context(call, tells=True)
        context.continued = reference
        with hide_secrets(self._secrets.list_secret_texts(call.action, given)):
            return await self._executor.execute(offered, given, call, context)

    def make_continue_unit(
        self, call: ActionCall, continues: CallContinues
    ) -> Callable[[], Work[None]]:
        """Return the unit that lets a call continue, and has it followed."""
        now = self._clock()
        accepted = call.accepted_at if call.accepted_at is not None else int(now)
        kept = replace(call, accepted_at=accepted)
        return partial(continue_call, call=kept, job=make_follow_job(kept, continues, now))

    def make_end_unit(
        self,
        call_id: str,
        end: Callable[[ActionCall], ActionCall],
        extra_statements: Callable[[ActionCall], ExtraStatements | None] = lambda _call: None,
    ) -> Callable[[], Work[None]]:
        """Return the unit that ends a background call and writes so to its thread."""
        now = self._clock()
        return partial(
            end_accepted,
            call_id=call_id,
            end=end,
            say=partial(self._say_end, new_id("msg", now), new_salt()),
            by=make_own_auditor(self._audit, int(now)),
            now=int(now),
            extra_statements=extra_statements,
        )

    def end_interrupted(self, call: ActionCall) -> ActionCall:
        """Return an interrupted call as ended with an unknown outcome."""
        return mark_unknown(call, self._now())

    def is_repeatable(self, call: ActionCall) -> bool:
        """Return whether an interrupted call may be executed again with the same id."""
        offered = self._offered.get(call.action)
        return offered is not None and offered.action.is_repeatable

    def _say_end(self, id_: str, salt: bytes, call: ActionCall) -> NewMessage:
        """Return the thread message about a background call that has ended."""
        said = self.describe_result(call)
        notes = {"calls": call.id, "tools_used": call.action}
        return NewMessage(id_, salt, "assistant", self._actor, Origin.DESK, (said,), metadata=notes)

    def _now(self) -> int:
        return int(self._clock())
