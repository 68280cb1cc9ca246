"""Stores uploaded files and reads their text for agents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager

import structlog

from aitp_desk.agent.base import FileText
from aitp_desk.config import Files
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.desk.limits.concurrency_slots import ConcurrencySlots
from aitp_desk.model.access.principal import Principal, may_join_threads, may_use_threads
from aitp_desk.model.conversation.file import File, clean_name, sniff
from aitp_desk.model.conversation.thread import Draft
from aitp_desk.model.errors import (
    FileNotFound,
    InvalidRequest,
    NotAuthenticated,
    RequestTooLarge,
    ScopeMissing,
    Unavailable,
)
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.contents.base import FileContents, read_start
from aitp_desk.store.reads import files as file_reads
from aitp_desk.store.records.pages import Page, PageRequest
from aitp_desk.store.units.threads.files import add_file, check_allowance, delete_file

TEXT_BYTES = 32 * 1024
"""Limit on the text of all files together that an agent receives for a turn."""
TEXT_FILES = 5
"""Limit on the number of files that an agent receives text from for a turn."""
MAX_UPLOADS = 32
MAX_UPLOADS_OF_CALLER = 8
"""Limits on concurrent uploads: each is held in memory in full."""
_FILES = "This credential does not open files. Use one with the scope 'threads'."

_log = structlog.get_logger()


class FileService:
    """Stores files for their owners, and reads their text for agents.

    A file belongs to the principal that uploaded it. The id alone opens a file without an owner;
    that id is therefore as random as an anonymous thread's, and the file expires.

    Parameters:
        contents: keeps the bytes.
        anonymous_days: how long an anonymous caller's file is kept.
        digest: keyed digest (HMAC) under which anonymous callers' addresses are counted.
    """

    def __init__(
        self,
        *,
        store: Store,
        contents: FileContents,
        settings: Files,
        anonymous_days: int,
        digest: Callable[[bytes], bytes],
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._contents = contents
        self._settings = settings
        self._anonymous_days = anonymous_days
        self._digest = digest
        self._clock = clock
        self._uploads = ConcurrencySlots(
            "uploads", most=MAX_UPLOADS, most_per_caller=MAX_UPLOADS_OF_CALLER
        )

    def admit_upload(self, principal: Principal) -> Callable[[], None]:
        """Reserve a slot for an upload, before its body is read.

        Returns:
            A function to call once when the upload is done.

        Raises:
            NotAuthenticated: the site accepts no files without a credential.
            ScopeMissing: the caller's key lacks the scope.
            RateLimited, Unavailable: the caller has, or all callers have, too many uploads.
        """
        self._check_uploader(principal)
        return self._uploads.acquire(principal)

    def may_upload(self, principal: Principal) -> bool:
        """Return whether the caller may upload files."""
        try:
            self._check_uploader(principal)
        except (NotAuthenticated, ScopeMissing):
            return False
        return True

    def _check_uploader(self, principal: Principal) -> None:
        self._check_keeps(principal)
        if principal.counts_by_address and not self._settings.anonymous:
            raise NotAuthenticated("Uploading files needs an API key.")

    def _check_keeps(self, principal: Principal) -> None:
        """Refuse a credential without the scope, unless the site accepts anonymous files."""
        _check_scope(principal)
        if not may_join_threads(principal) and not self._settings.anonymous:
            raise ScopeMissing(_FILES, scope="threads")

    def accepts_type(self, media_type: str) -> bool:
        """Return whether the site accepts a declared type; the content is checked later."""
        return media_type.partition(";")[0].strip().lower() in self._settings.types

    @property
    def max_bytes(self) -> int:
        """The largest file that is stored."""
        return self._settings.max_bytes

    async def save_file(
        self,
        principal: Principal,
        name: str,
        purpose: str,
        data: bytes,
        seconds: int | None,
        *,
        is_shared: bool = False,
    ) -> File:
        """Store a file durably.

        Parameters:
            name: the caller's name for it.
            seconds: how long it is kept; None: until it is deleted.
            is_shared: whether it has no owner, so that all who read its message may read it.

        Raises:
            InvalidRequest: it is empty, or of a type that the site does not accept.
            RequestTooLarge: it exceeds the size limit for one file.
            Forbidden: it exceeds the caller's quota.
            NotAuthenticated: as :meth:`admit_upload`.
            Unavailable: its bytes cannot be kept now.
        """
        self._check_uploader(principal)
        settings = self._settings
        if not data:
            raise InvalidRequest("The file is empty.", param="file")
        if len(data) > settings.max_bytes:
            raise RequestTooLarge(
                (f"A file may have at most {settings.max_bytes} bytes."), param="file"
            )
        media_type = await asyncio.to_thread(sniff, data)
        if media_type not in settings.types:
            raise InvalidRequest(
                f"The file is of the type {media_type}; this site accepts"
                f" {', '.join(settings.types)}.",
                param="file",
            )
        now = self._clock()
        if is_shared or principal.counts_by_address:
            seconds = min(seconds or self._anonymous_seconds, self._anonymous_seconds)
        allowance = self._allowance(principal)
        # before its bytes are written somewhere; what counts is the check in the unit
        used = await file_reads.counted(self._store, allowance)
        check_allowance(
            *used, len(data), max_files=settings.max_files, max_bytes=settings.max_total_bytes
        )
        with _faults_logged():
            placed = await self._contents.place(data)
        file = File(
            new_id("file", now),
            None if is_shared else principal.owner,
            int(now),
            None if seconds is None else int(now) + seconds,
            clean_name(name),
            purpose,
            media_type,
            len(data),
            principal.desk,
            placed.sha256,
            placed.object_key,
        )
        await self._store.run(
            add_file,
            file=file,
            counted=allowance,
            parts=placed.parts,
            max_files=settings.max_files,
            max_bytes=settings.max_total_bytes,
        )
        return file

    async def get_file(self, principal: Principal, file_id: str, *, param: str = "file_id") -> File:
        """Return a file of the caller's.

        Parameters:
            param: the request member that named it.

        Raises:
            FileNotFound: it does not exist, has expired, or belongs to another principal.
        """
        _check_scope(principal)
        file = await file_reads.find(self._store, file_id, now=int(self._clock()))
        if file is None or file.desk != principal.desk or not file.is_open_to(principal):
            raise FileNotFound("There is no file with this id.", param=param)
        return file

    async def read_content(
        self, principal: Principal, file_id: str
    ) -> tuple[File, AsyncIterator[bytes]]:
        """Return a file of the caller's and an iterator of its bytes.

        The bytes are read as they are sent.

        The bytes end early if the file is deleted meanwhile.

        Raises:
            FileNotFound: as :meth:`get_file`.
            Unavailable: they cannot be read now; also from the iterator.
        """
        file = await self.get_file(principal, file_id)
        with _faults_logged():
            slices = await self._contents.open_slices(file)
        return file, _send(slices)

    async def list_files(self, principal: Principal, part: PageRequest, purpose: str) -> Page[File]:
        """Return one page of the caller's files.

        Parameters:
            part: its ``before`` is ignored.
            purpose: only files of this purpose; empty for all.

        Raises:
            NotAuthenticated: the caller is anonymous; only an id opens a file without an owner.
        """
        self._check_keeps(principal)
        if principal.owner is None:
            raise NotAuthenticated("Listing files needs an API key.")
        return await file_reads.page(
            self._store,
            principal.owner,
            part,
            desk=principal.desk,
            purpose=purpose,
            now=int(self._clock()),
        )

    async def delete_file(self, principal: Principal, file_id: str) -> None:
        """Delete a file of the caller's.

        Messages that it was attached to keep its id.

        Raises:
            FileNotFound: as :meth:`get_file`.
        """
        _check_scope(principal)
        await self._store.run(
            delete_file,
            file_id=file_id,
            owner=principal.owner,
            desk=principal.desk,
            now=int(self._clock()),
        )

    async def check_attached(self, principal: Principal, draft: Draft, at: str = "") -> None:
        """Refuse a message that attaches files which are not the caller's.

        Parameters:
            at: path of the draft in its request, such as ``messages[0].``, for ``param``.

        Raises:
            FileNotFound: as :meth:`get_file`; ``param`` is the attachment.
        """
        for place, attachment in enumerate(draft.attachments):
            param = f"{at}attachments[{place}].file_id"
            await self.get_file(principal, attachment.file_id, param=param)

    async def read_texts(
        self, principal: Principal, file_ids: Sequence[str]
    ) -> tuple[FileText, ...]:
        """Return the texts of attached files for an answer, within 32 KiB.

        Files that are no text, deleted files and other owners' files are left out: a reader of a
        message sees only the ids of its files. Of a file that cannot be read now there is the name.
        """
        texts: list[FileText] = []
        room, is_away = TEXT_BYTES, False
        for file_id in dict.fromkeys(file_ids):
            if not room or len(texts) == TEXT_FILES:
                break
            file = await file_reads.find(self._store, file_id, now=int(self._clock()))
            if file is None or not file.is_text or not file.is_open_to(principal):
                continue
            data = b""
            if not is_away:  # of a bucket that hangs one time limit is enough for a turn
                try:
                    with _faults_logged():
                        data = await read_start(self._contents, file, room)
                except Unavailable:
                    is_away = True
            room -= len(data)
            text = data.decode(errors="ignore").removeprefix("\ufeff")
            texts.append(FileText(file.name, text, is_cut=file.size > len(data)))
        return tuple(texts)

    @property
    def _anonymous_seconds(self) -> int:
        return self._anonymous_days * DAY_SECONDS

    def _allowance(self, principal: Principal) -> str:
        """Return the key that a caller's files are counted under. No address is stored."""
        if not principal.counts_by_address:
            return f"principal {principal.id}"
        return f"address {self._digest(principal.address.encode()).hex()}"


def _check_scope(principal: Principal) -> None:
    if not may_use_threads(principal):
        raise ScopeMissing(_FILES, scope="threads")


async def _send(slices: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    with _faults_logged():
        async with aclosing(slices):
            async for piece in slices:
                yield piece


@contextmanager
def _faults_logged() -> Iterator[None]:
    """Log why files are unavailable, which callers are not told."""
    try:
        yield
    except Unavailable as error:
        _log.warning("files_unavailable", reason=str(error.__cause__ or error))
        raise
