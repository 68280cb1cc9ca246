"""Makes drafts of what people write on a platform: the text, the files, where it came from."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.agent.history.message_codec import LOCALE, UNPROVEN
from aitp_desk.capability import Unanswered
from aitp_desk.desk.threads.files import FileService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import METADATA_VALUE_LENGTH, Attachment, Draft
from aitp_desk.model.errors import DeskError, RateLimited, StoreBusy, Unavailable
from aitp_desk.model.ids import new_id
from aitp_desk.store.records.transports import NewConversation
from aitp_desk.transports.base import Failed, Refused, TryLater
from aitp_desk.transports.events import Incoming, IncomingFile, TextMessage
from aitp_desk.transports.host.people import SENDER
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.texts import say

VIA = "via"
"""Metadata of a message: the transport that has carried it."""
MOST_FILES = 10
MOST_WAITS = 8
"""How often a message waits for a file that the platform does not give."""
PURPOSE = "user_data"
FILE_SECONDS = 30 * 24 * 60 * 60


class DraftMaker:
    """Makes the drafts of one event.

    Parameters:
        language: of what the desk adds to a text (BCP 47).
        failures: how often the event was handled in vain.
    """

    def __init__(
        self,
        enabled: EnabledTransport,
        incoming: Incoming,
        files: FileService,
        *,
        language: str,
        failures: int,
    ) -> None:
        self._enabled = enabled
        self._incoming = incoming
        self._files = files
        self._language = language
        self._waits = failures < MOST_WAITS

    def make_conversation(
        self, principal: Principal, address: str, subject: str, now: int
    ) -> NewConversation:
        """Return the conversation that the event begins."""
        return NewConversation(
            id=new_id("conversation", now),
            transport=self._enabled.name,
            address=address,
            desk=principal.desk,
            person=self._incoming.sender,
            principal=principal.id,
            subject=subject,
            language=self._incoming.language,
        )

    async def draft_message(
        self, principal: Principal, message: TextMessage
    ) -> tuple[Draft | None, tuple[str, ...]]:
        """Return a message with its files saved, and sentences about what was not taken.

        These are in the text too: of files that the desk refuses, that the platform does not give
        after some attempts, and what the transport says. There is no message if it says nothing.

        Raises:
            TryLater, Unanswered: the platform does not give a file now.
            RateLimited, Unavailable, StoreBusy: the desk keeps none now.
        """
        attachments, refusals = await self.save_files(principal, message)
        if message.is_unreadable:
            refusals = (*refusals, say("unreadable", self._language))
        content = [message.text] if message.text.strip() else []
        content += refusals
        if not content and attachments:
            content = [self.name_files(message.files)]
        if not content:
            return None, ()
        draft = Draft("user", tuple(content), attachments, metadata=self.make_metadata())
        return draft, refusals

    def name_files(self, files: Sequence[IncomingFile]) -> str:
        """Return the text of a message that has only files."""
        return ", ".join(file.name for file in files if file.name) or say("file", self._language)

    async def save_files(
        self, principal: Principal, message: TextMessage, *, is_shared: bool = False
    ) -> tuple[tuple[Attachment, ...], tuple[str, ...]]:
        """Save the files of a message, and return sentences about what is not taken.

        Parameters:
            is_shared: as of :meth:`~aitp_desk.desk.threads.files.FileService.save_file`.

        Raises:
            as :meth:`draft_message`.
        """
        attachments: list[Attachment] = []
        refusals = list(message.refusals)
        for file in message.files[:MOST_FILES]:
            try:
                data = await self._read(file)
                saved = await self._files.save_file(
                    principal, file.name or "file", PURPOSE, data, FILE_SECONDS, is_shared=is_shared
                )
            except (Failed, Unanswered, DeskError) as error:
                if isinstance(error, RateLimited | Unavailable | StoreBusy):
                    raise
                is_final = isinstance(error, Unanswered) and error.is_final
                if isinstance(error, TryLater | Unanswered) and self._waits and not is_final:
                    raise
                reason = str(error) if isinstance(error, DeskError) else error.reason
                refusals.append(say("file_refused", self._language, name=file.name, reason=reason))
            else:
                attachments.append(Attachment(saved.id))
        return tuple(attachments), tuple(refusals)

    async def _read(self, file: IncomingFile) -> bytes:
        most = self._files.max_bytes
        if file.size > most:
            raise Refused(f"it may have at most {most} bytes.")
        return await self._enabled.transport.fetch(file, most)

    def make_metadata(self, **more: str) -> dict[str, str]:
        """Return the metadata of a message of this event."""
        incoming = self._incoming
        noted = {VIA: self._enabled.name, SENDER: incoming.sender_name, LOCALE: incoming.language}
        noted |= more if incoming.is_proven else {**more, **UNPROVEN}
        return {key: value[:METADATA_VALUE_LENGTH] for key, value in noted.items() if value}
