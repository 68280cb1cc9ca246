"""Looks into a mailbox by IMAP (RFC 9051): the simplest way in, which needs no mail server.

A mail is marked as seen, or moved, when it is stored. One that is read again is known by its
content, so a mailbox that was moved to another server repeats nothing.
"""

from __future__ import annotations

import asyncio
import imaplib
import re
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import structlog

from aitp_desk.transports.base import TryLater
from aitp_desk.transports.email.inbound.inbox import Inbox
from aitp_desk.transports.email.mail import UnreadableMail
from aitp_desk.transports.email.settings import Imap

MOST_DELAY = 300.0
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)")
_log = structlog.get_logger()
Result = TypeVar("Result")


class Mailbox:
    """Reads a mailbox.

    Parameters:
        settings: of the mailbox.
        password: of its user.
        inbox: stores the mails.
        max_bytes: the largest mail.
    """

    def __init__(self, settings: Imap, password: str, inbox: Inbox, max_bytes: int) -> None:
        self._settings = settings
        self._password = password
        self._inbox = inbox
        self._max_bytes = max_bytes
        self._failed: set[bytes] = set()  # UIDs, which are tried after the others

    async def listen(self) -> None:
        """Take the mails that come, until cancelled; a server that fails is tried again."""
        delay = float(self._settings.interval)
        while True:
            connection = MailboxConnection(self._settings, self._password)
            try:
                await in_thread(connection.open)
                while True:
                    await self.take_new(connection)
                    delay = float(self._settings.interval)
                    await asyncio.sleep(delay)
            except TryLater as failure:
                _log.warning("mailbox_failed", reason=failure.reason)
            finally:
                connection.close()
            await asyncio.sleep(delay)
            delay = min(delay * 2, MOST_DELAY)

    async def take_new(self, connection: MailboxConnection) -> int:
        """Take the mails that are not marked yet, and return how many were taken.

        One that cannot be stored stays unmarked, and is read again at the next look. It holds up
        no other, also not where the connection breaks at it.

        Raises:
            TryLater: the server failed, as a sentence.
        """
        uids = await in_thread(connection.list_new)
        self._failed.intersection_update(uids)
        count = 0
        for uid in sorted(uids, key=self._failed.__contains__):
            self._failed.add(uid)
            if await self._take(connection, uid):
                await in_thread(partial(connection.finish, uid))
                self._failed.discard(uid)
                count += 1
        return count

    async def _take(self, connection: MailboxConnection, uid: bytes) -> bool:
        """Store a mail; return False if it should be read again."""
        size = await in_thread(partial(connection.size_of, uid))
        if size is None:
            return True
        if size > self._max_bytes:
            _log.warning("mail_too_large", size=size)
            section = "HEADER"
        else:
            section = ""
        data = await in_thread(partial(connection.read, uid, section))
        try:
            if section:
                await self._inbox.accept_header(data)
            else:
                await self._accept(data)
        except Exception as error:  # noqa: BLE001 -- the mailbox keeps it
            _log.warning("mail_not_stored", error=type(error).__name__)
            return False
        return True

    async def _accept(self, data: bytes) -> None:
        try:
            await self._inbox.accept(data)
        except UnreadableMail as refusal:
            _log.warning("mail_unreadable", fault=refusal.fault.value)
            await self._inbox.accept_header(data)


class MailboxConnection:
    """A connection to a mailbox; its methods block.

    Parameters:
        settings: of the mailbox.
        password: of its user.
    """

    def __init__(self, settings: Imap, password: str) -> None:
        self._settings = settings
        self._password = password
        self._imap: imaplib.IMAP4 | None = None
        self._extensions: frozenset[bytes] = frozenset()

    def open(self) -> None:
        """Connect, sign in and select the folder.

        Raises:
            TryLater: says what failed.
        """
        settings = self._settings
        tls = ssl.create_default_context(cafile=settings.ca_file or None)
        where = (settings.host, settings.port)
        if settings.security == "tls":
            self._imap = imaplib.IMAP4_SSL(*where, ssl_context=tls, timeout=settings.seconds)
        else:
            self._imap = imaplib.IMAP4(*where, timeout=settings.seconds)
            if settings.security == "starttls":
                self._imap.starttls(tls)
        try:
            self._imap.login(settings.user, self._password)
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error:
            raise TryLater("The mailbox refuses the user name or password.") from None
        _, names = self._imap.capability()  # often more than before the sign-in
        self._extensions = frozenset(names[-1].upper().split())
        status, _ = self._imap.select(_quoted(settings.folder))
        if status != "OK":
            raise TryLater(f"The mailbox has no folder {settings.folder}.")

    def list_new(self) -> list[bytes]:
        """Return the UIDs of mails that are not marked as seen, oldest first."""
        found = self._ask("UID", "SEARCH", "UNSEEN", "UNDELETED")
        return sorted(b" ".join(one for one in found if isinstance(one, bytes)).split(), key=int)

    def size_of(self, uid: bytes) -> int | None:
        """Return the size of a mail in bytes; None if it is gone."""
        for part in self._ask("UID", "FETCH", uid.decode(), "(RFC822.SIZE)"):
            line = part[0] if isinstance(part, tuple) else part
            if isinstance(line, bytes) and (found := _SIZE.search(line)):
                return int(found[1])
        return None

    def read(self, uid: bytes, section: str = "") -> bytes:
        """Return a mail, or a section of it such as ``HEADER``, without marking it."""
        for part in self._ask("UID", "FETCH", uid.decode(), f"(BODY.PEEK[{section}])"):
            if isinstance(part, tuple) and isinstance(part[1], bytes):
                return part[1]
        raise TryLater("The mailbox did not return a mail that it has listed.")

    def finish(self, uid: bytes) -> None:
        """Mark a mail as seen, and move it if the site wants that."""
        self._ask("UID", "STORE", uid.decode(), "+FLAGS.SILENT", "(\\Seen)")
        folder = self._settings.done_folder
        if not folder:
            return
        if b"MOVE" in self._extensions:
            self._ask("UID", "MOVE", uid.decode(), _quoted(folder))
            return
        self._ask("UID", "COPY", uid.decode(), _quoted(folder))
        self._ask("UID", "STORE", uid.decode(), "+FLAGS.SILENT", "(\\Deleted)")
        if b"UIDPLUS" in self._extensions:
            self._ask("UID", "EXPUNGE", uid.decode())

    def close(self) -> None:
        """End the connection, also while another thread waits for it."""
        if self._imap is not None:
            self._imap.shutdown()

    def _ask(self, *command: str) -> list[Any]:
        if self._imap is None:
            raise TryLater("The mailbox is not connected.")
        status, data = self._imap.uid(*command[1:])
        if status != "OK":
            raise TryLater(f"The mailbox refused {command[1]}.")
        return list(data)


async def in_thread(work: Callable[[], Result]) -> Result:
    """Do work that blocks; what the server does wrong becomes a sentence."""
    try:
        return await asyncio.to_thread(work)
    except ssl.SSLCertVerificationError as fault:
        why = f"its certificate is not valid: {fault.verify_message}"
        raise TryLater(f"The mailbox cannot be used: {why}.") from None
    except (imaplib.IMAP4.error, OSError) as fault:
        raise TryLater(f"The mailbox failed: {type(fault).__name__}.") from None


def _quoted(folder: str) -> str:
    """Return a folder's name as a quoted string, in modified UTF-7 (RFC 3501, 5.1.3)."""
    name = "".join(_shifted(part) for part in re.findall(r"[ -~]+|[^ -~]+", folder))
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _shifted(part: str) -> str:
    if part.isascii():
        return part.replace("&", "&-")
    encoded = part.encode("utf-7").decode()  # +...-
    return "&" + encoded.removeprefix("+").removesuffix("-").replace("/", ",") + "-"
