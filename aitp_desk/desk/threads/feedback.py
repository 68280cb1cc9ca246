"""Takes callers' feedback on the desk's messages."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.feedback import FeedbackDraft
from aitp_desk.store.units.threads.feedback import rate_message


class FeedbackService:
    """Stores feedback, and notifies the followers of its thread.

    Parameters:
        changed: called with the id of a thread on which feedback changed.
    """

    def __init__(self, context: DeskContext, changed: Callable[[str], None]) -> None:
        self._context = context
        self._changed = changed

    async def rate(
        self, principal: Principal, thread_id: str, message_id: str, draft: FeedbackDraft
    ) -> str:
        """Store the caller's feedback on a message, durably.

        See :func:`aitp_desk.store.units.threads.feedback.rate_message`.

        Returns:
            The id of the message.

        Raises:
            ThreadNotFound, MessageNotFound: it does not exist, or not for this caller.
            Forbidden: the caller may not write on the thread.
            InvalidRequest: a visitor sent the message.
        """
        check_scope(principal)
        rated, has_changed = await self._context.store.run(
            rate_message,
            thread_id=thread_id,
            message_id=message_id,
            principal=principal,
            draft=draft,
            now=int(self._context.clock()),
            idle_before=self._context.idle_before,
        )
        if has_changed:
            self._changed(thread_id)
        return rated
