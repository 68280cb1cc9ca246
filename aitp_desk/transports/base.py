"""The interface of transports: how a platform carries messages to the desk and back.

A transport is a subclass of :class:`Transport`. A package names it in the entry point group
:data:`GROUP`; a site enables it with a section ``[transports.NAME]`` in ``desk.toml``, whose
settings are those of its :attr:`Transport.settings`. A transport translates and keeps no state:
identity, access, limits, order, repetition and retries are the desk's.

The guarantees:

Events
    :attr:`Host.receive` returns when an event is on disk; only then acknowledge it to the platform.
    An event that repeats another's id has no effect. Events of a conversation are handled in the
    order in which they were received.
Messages
    :meth:`Transport.send` is called for one message of a conversation at a time, in order. It is
    called again with the same :attr:`Outgoing.id` if the outcome was lost.
Hooks
    A hook proves the sender before it reads anything else. Its response leaves only after all its
    events are on disk.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
)
from types import MappingProxyType
from typing import Any, BinaryIO, ClassVar, Literal, Protocol

import msgspec

from aitp_desk.capability import Request, Response, Send, Unanswered
from aitp_desk.transports.events import Incoming, IncomingFile
from aitp_desk.transports.messages import Bounds, Outgoing, SentMessage

GROUP = "aitp_desk.transports"
"""The entry point group of transports."""
MOST_FILE_BYTES = 64 * 1024 * 1024
"""Maximum size of a response to a transport: platforms' files are read with it."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
"""A transport's name: of its section, its addresses and its people."""


class Failed(Exception):
    """A message was not sent.

    Parameters:
        reason: a sentence for operators, without addresses or content.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TryLater(Failed):
    """It may be sent later.

    Parameters:
        after: minimum seconds, as the platform says; 0 if it does not.
    """

    def __init__(self, reason: str, *, after: int = 0) -> None:
        super().__init__(reason)
        self.after = after


class Refused(Failed):
    """The platform does not take this message, at no time."""


class Unreachable(Failed):
    """The person or the conversation takes no messages any more: blocked, left, no such address."""


class WindowClosed(Failed):
    """The platform takes no free text from the desk until the person writes again."""


async def ask_platform(send: Send, request: Request) -> Response:
    """Send a request to a platform, and return its response, whatever its status.

    Raises:
        TryLater: the platform does not answer.
        Refused: the desk does not call such an address, or the response is too long.
    """
    try:
        return await send(request)
    except Unanswered as error:
        kind = Refused if error.is_final else TryLater
        raise kind(error.reason) from None


Method = Literal["GET", "POST", "PUT"]
"""A method of HTTP; a HEAD request is read as GET."""


class HookReply(msgspec.Struct, frozen=True, kw_only=True):
    """The response to a platform's request.

    Parameters:
        body: with its ``content_type``.
    """

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A request of a platform.

    Parameters:
        body: as received.
        headers: with lowercase names.
        query: the query string's parameters.
        now: Unix seconds.
        path: what follows the hook's name and a slash, as received; empty for nothing.
    """

    method: Method
    body: bytes
    headers: Mapping[str, str]
    query: Mapping[str, str]
    now: int
    path: str = ""


class HookResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook makes of a request.

    Parameters:
        events: to be stored before the reply leaves.
        reply: the response.
        kept: bytes that came with the events, by key, as :attr:`Host.keep_bytes` takes them; to be
            stored before the events.
        follow_up: what the platform expects within seconds, such as a form that opens: started in
            the background when the reply has left. It is tried once, what it raises is logged.
    """

    events: tuple[Incoming, ...] = ()
    reply: HookReply = HookReply()
    kept: Mapping[str, bytes] = MappingProxyType({})
    follow_up: Callable[[], Coroutine[Any, Any, None]] | None = None


Hook = Callable[[Delivery], HookResult | Awaitable[HookResult]]
"""Reads one request of the platform. Raises a DeskError if the proof or the form is wrong.

Fast: what needs the network is done when the event is handled, or in the follow-up. Only a proof
that needs it, such as a certificate that the request names, and work for a thread, is awaited.
"""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An address at which a platform calls the desk: ``/transports/NAME/HOOK``.

    Parameters:
        read: reads a request.
        methods: of HTTP.
        max_bytes: the longest body, of any media type.
        has_paths: whether addresses below it are its own too, where the platform appends a path to
            the address that it is given.
        repeats_heads: whether requests differ in their bodies alone, so that one head is parsed for
            many: no signature or time is in the headers.
    """

    read: Hook
    methods: tuple[Method, ...] = ("POST",)
    max_bytes: int = 1024 * 1024
    has_paths: bool = False
    repeats_heads: bool = False


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step of ``aitp-desk transport test``.

    Parameters:
        what: what was tried, as a sentence.
        is_done: whether it worked.
        detail: what was found; if it did not work, what to do.
    """

    what: str
    is_done: bool
    detail: str = ""


Try = tuple[str, Callable[[], Awaitable[str]]]
"""What a step of a check tries, as a sentence, and what tries it."""


async def try_steps(steps: Iterable[Try]) -> AsyncIterator[Step]:
    """Yield the steps of a check; the first that fails is the last.

    Parameters:
        steps: what each tries, and what tries it: it returns what it has found, or raises
            :class:`Failed` with what to do.
    """
    for what, run in steps:
        try:
            detail = await run()
        except Failed as failure:
            yield Step(what=what, is_done=False, detail=failure.reason)
            return
        yield Step(what=what, is_done=True, detail=detail)


class KeepState(Protocol):
    """Keeps a value by key; see :class:`Host`."""

    async def __call__(self, key: str, data: bytes, person: str = "") -> None:
        """Keep a value.

        Parameters:
            person: the platform's id of whom it is about; empty for nobody.
        """


class Host(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What the desk gives to a transport.

    Parameters:
        receive: stores an event; returns when it is on disk.
        send: sends HTTP requests; reaches public addresses, or those that the site has allowed. A
            response may have up to :data:`MOST_FILE_BYTES`.
        url: the desk's public address, without a final slash.
        site_name: the site's name.
        colour: the site's accent colour, such as ``#0b5fff``; empty for none.
        languages: of the site (BCP 47), the default first.
        secret: derives 32 bytes for a purpose, the same at every start.
        keep_bytes: keeps bytes that came with an event, by key, until it is handled.
        read_bytes: reads them; None if there are none.
        claim_bytes: keeps bytes for some days unless the key has some, whichever process kept them;
            returns those that it has then.
        keep_state: keeps a value of at most 4 KiB, by key, until the next one: where ``listen`` is
            in the platform's stream. It is on disk when this returns. With a person's id it is
            erased together with that person.
        read_state: reads it; None if there is none.
        clock: Unix seconds.
        environment: with the credentials that settings name.
    """

    receive: Callable[[Incoming], Awaitable[None]]
    send: Send
    url: str
    site_name: str
    colour: str = ""
    languages: tuple[str, ...] = ("en",)
    secret: Callable[[str], bytes]
    keep_bytes: Callable[[str, bytes], Awaitable[None]]
    read_bytes: Callable[[str], Awaitable[bytes | None]]
    claim_bytes: Callable[[str, bytes], Awaitable[bytes]]
    keep_state: KeepState
    read_state: Callable[[str], Awaitable[bytes | None]]
    clock: Callable[[], float]
    environment: Mapping[str, str]

    def read_credential(self, variable: str, what: str) -> str:
        """Return a credential.

        Parameters:
            variable: of the environment.
            what: it holds, for the error.

        Raises:
            ValueError: the variable is not set or blank; the error never repeats a value.
        """
        value = self.environment.get(variable, "")
        if not value.strip():
            raise ValueError(f"Set the environment variable {variable} to {what}.")
        return value

    def __repr__(self) -> str:
        # the environment holds credentials, which no log repeats
        return f"Host(url={self.url!r})"


class Transport(ABC):
    """Carries messages between one platform and the desk.

    Parameters:
        settings: of the site's section.
        host: what the desk offers.

    Raises:
        ValueError: the settings cannot work; says what would.
    """

    name: ClassVar[str]
    settings: ClassVar[type[msgspec.Struct]]
    bounds: ClassVar[Bounds]
    has_numbers: ClassVar[bool] = False
    """Whether a private conversation's name, such as a number, finds a person of another id."""

    def __init__(self, settings: Any, host: Host) -> None:  # noqa: ARG002 -- of subclasses
        self.host = host

    def endpoints(self) -> Mapping[str, Endpoint]:
        """Return the addresses at which the platform calls, by name."""
        return {}

    async def listen(self) -> None:  # noqa: B027 -- a default
        """Receive events until cancelled, where the desk connects to the platform.

        Only one process of the desk does so at a time. What it raises is logged, and it is called
        again after a growing delay. By default there is nothing to listen to.
        """

    async def find_bounds(self) -> Bounds:
        """Return what the platform takes now, before files are sent; by default always the same.

        Raises:
            Failed: as :meth:`send`.
        """
        return self.bounds

    @abstractmethod
    async def send(self, outgoing: Outgoing) -> SentMessage:
        """Send a message.

        Raises:
            Failed: one of its kinds. Anything else is a fault, and is retried.
        """

    def divide(self, conversation: str) -> tuple[str, str]:
        """Return the room of a conversation, and the message that began its thread there.

        The message is empty where the conversation is the whole room, as it is by default.
        """
        return conversation, ""

    def invite(self, code: str) -> str:  # noqa: ARG002
        """Return how a person reaches the desk here, with a code.

        Parameters:
            code: to be written here; ``join CODE`` is read anywhere.

        Returns:
            Markdown without a line break; empty if there is nothing to say.
        """
        return ""

    async def retract(self, conversation: str, message_ref: str) -> None:  # noqa: ARG002
        """Delete a sent message, where the platform can; by default it cannot.

        Raises:
            Failed: as :meth:`send`.
        """
        raise Refused("This platform deletes no messages.")

    async def fetch(self, file: IncomingFile, max_bytes: int) -> bytes:  # noqa: ARG002
        """Read a file of an event.

        Raises:
            Failed: as :meth:`send`; ``Refused`` if it is longer.
        """
        raise Refused("This transport carries no files.")

    async def deliver(self, stream: BinaryIO, recipients: Sequence[str]) -> int:  # noqa: ARG002
        """Take a message that another program, such as a mail server, brings.

        Parameters:
            recipients: as the program names them; empty if it does not.

        Returns:
            An exit status (sysexits.h) that tells the program what became of it.
        """
        return os.EX_UNAVAILABLE

    async def acknowledge(self, incoming: Incoming, notice: str) -> None:  # noqa: B027 -- a default
        """Confirm a pressed button, or say why it does not count.

        Platforms that expect no such answer need nothing here.

        Parameters:
            notice: a short sentence; empty for none.

        Raises:
            Failed: as :meth:`send`. After :class:`TryLater` it is called again, a few times.
        """

    async def show_typing(self, incoming: Incoming) -> None:  # noqa: B027 -- a default
        """Show the person that a message was read and is being answered.

        Called when the desk begins an answer. It is a courtesy: its failures are ignored, and by
        default nothing is shown.
        """

    @abstractmethod
    def check(self) -> AsyncIterator[Step]:
        """Try credentials and the way back, step by step; end at the first that fails."""
