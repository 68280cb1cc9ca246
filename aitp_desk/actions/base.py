"""What an action promises that calls something of the site, wherever that is declared.

A declaration in Python, an operation of an OpenAPI file and a tool of an MCP server all come to an
:class:`OfferedAction`. Who may call it, when, at what cost and how often is decided by whoever
holds it (``desk/invoking.py``), never here.

The promises:

Reading
    :attr:`OfferedAction.read` is pure. It raises :class:`~aitp_desk.model.errors.InvalidRequest`
    whose
    ``param`` is the path of what is wrong (``items[0].quantity``) and whose message names the rule.
    What it returns is given, as it is, to the other three.
Errors
    :class:`~aitp_desk.model.errors.DeskError` is told to the caller; anything else that escapes is
    a fault of the site's own code, of which the caller learns nothing but an id.
Cancellation
    A call whose deadline has passed is cancelled. A plain function runs in a thread, and cannot be:
    its result is dropped.
At once
    Any number of calls may run at once.
Again
    A call has an id that stays the same when it is made again after a crash or a failure: the
    idempotency key of whatever it does elsewhere.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import msgspec

from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import SideEffect
from aitp_desk.model.calls.question import Question
from aitp_desk.model.calls.resource import Resource, ResourceType
from aitp_desk.model.conversation.ticket import Ticket
from aitp_desk.model.errors import DeskError
from aitp_desk.model.money import Money


class Caller(msgspec.Struct, frozen=True):
    """For whom an action is called. It holds no credential and no address.

    Parameters:
        id: of the principal; None of an anonymous one.
        scopes: what their credential opens.
    """

    id: str | None = None
    scopes: tuple[str, ...] = ()

    @property
    def is_anonymous(self) -> bool:
        """Whether nobody knows who it is."""
        return self.id is None


class Context:
    """What a function is told of its call, and what it may say while it works.

    Attributes:
        call_id: the same when the call is made again: the idempotency key of what it does.
        caller: for whom it is called.
        side_effects: those that were noted so far.
    """

    def __init__(
        self,
        call_id: str,
        caller: Caller,
        tell: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make the Context of a call.

        Parameters:
            tell: is told of progress, in the event loop that runs when this is called.
            clock: Unix seconds.
        """
        self.call_id = call_id
        self.caller = caller
        self.side_effects: list[SideEffect] = []
        self._tell = tell
        self._loop = None if tell is None else asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._clock = clock

    @property
    def now(self) -> datetime:
        """The time by the desk's clock, in UTC."""
        return datetime.fromtimestamp(self._clock(), UTC)

    def progress(self, text: str) -> None:
        """Say how far the work is, in a few words: whoever asks after it reads this.

        It may be said in any thread, and fails in none: no work ends because this cannot be kept.
        """
        if self._loop is None:
            return
        if threading.get_ident() == self._thread:
            self._say(text)
        else:
            with suppress(RuntimeError):  # the desk has stopped meanwhile
                self._loop.call_soon_threadsafe(self._say, text)

    def _say(self, text: str) -> None:
        if self._tell is not None:
            with suppress(DeskError):
                self._tell(text)

    def note(self, type_: str, description: str) -> None:
        """Note a side effect, which the caller is told with the result."""
        self.side_effects.append(SideEffect(type_, description))


class ActionResult(msgspec.Struct, frozen=True):
    """What a call gave.

    Parameters:
        result: as JSON has it, within the action's ``output_schema``.
        text: the same in words; empty where nothing was written for that.
        side_effects: what it has caused besides.
        ticket: what people are asked who carry the call out; of ``async`` actions alone. Then there
            is no result yet.
    """

    result: Any
    text: str = ""
    side_effects: tuple[SideEffect, ...] = ()
    ticket: Ticket | None = None


async def no_price(_arguments: Any, _context: Context) -> Money | None:
    """The price of what is free."""
    return None


async def no_approval(_arguments: Any, _context: Context) -> bool:
    """The approval of what nobody has to approve."""
    return False


async def no_precondition(_arguments: Any, _context: Context) -> None:
    """The check of what needs nothing."""


class ArgumentPrompt(msgspec.Struct, frozen=True):
    """How one argument of an action is asked for.

    Parameters:
        looks: whether it looks at an argument that is there, too, and may ask for more.
        question: arguments as JSON has them, as far as they are known → what is asked; None where
            the argument is enough, or is asked for by its schema. It changes nothing.
    """

    looks: bool
    question: Callable[[Mapping[str, Any], Context], Awaitable[Question | None]]


class OfferedAction(msgspec.Struct, frozen=True):
    """An action with what carries it out. See the module for what it promises.

    Parameters:
        read: arguments as JSON has them → as :attr:`perform` takes them.
        perform: carries a call out.
        check: raises :class:`~aitp_desk.model.errors.PreconditionFailed` where a precondition is
            not met.
        price: what a call costs; None for nothing. It is asked before, and changes nothing.
        needs_approval: whether a person has to approve a call first, where the action's
            ``approval`` is ``sometimes``. It changes nothing.
        from_text: arguments as JSON has them, read from a caller's words; None where the words do
            not say them.
        asks: how arguments are asked for, by their names, where the site says so.
    """

    action: Action
    read: Callable[[Mapping[str, Any]], Any]
    perform: Callable[[Any, Context], Awaitable[ActionResult]]
    check: Callable[[Any, Context], Awaitable[None]] = no_precondition
    price: Callable[[Any, Context], Awaitable[Money | None]] = no_price
    needs_approval: Callable[[Any, Context], Awaitable[bool]] = no_approval
    from_text: Callable[[str], Mapping[str, Any] | None] | None = None
    asks: Mapping[str, ArgumentPrompt] = MappingProxyType({})


class OfferedResource(msgspec.Struct, frozen=True):
    """A type of resources with what reads one.

    Parameters:
        read: the variables of a path, as text → the resource as it is now. It raises InvalidRequest
            where they do not fit and :class:`~aitp_desk.model.errors.ResourceNotFound` where there
            is none; else the promises of :attr:`OfferedAction.perform` hold. It changes nothing.
        arguments: the variables of a path, as text → as JSON has them, by their types. It raises
            InvalidRequest where they do not fit.
        reader: the action that reads one, where that is paid first; None where it is not.
    """

    type: ResourceType
    read: Callable[[Mapping[str, str], Context], Awaitable[Resource]]
    arguments: Callable[[Mapping[str, str]], Mapping[str, Any]]
    reader: OfferedAction | None = None
