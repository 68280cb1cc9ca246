"""The interface of a callable action, whatever its source.

A declaration in Python, an operation of an OpenAPI file and a tool of an MCP server all become an
:class:`OfferedAction`. The desk decides who may call it, when, at what cost and how often
(``desk/calls/invoker.py``).

The guarantees:

Reading
    :attr:`OfferedAction.read` is pure. It raises :class:`~aitp_desk.model.errors.InvalidRequest`
    whose ``param`` is the path of the wrong value (``items[0].quantity``) and whose message names
    the rule. Its result is passed unchanged to the other functions.
Errors
    The caller receives a :class:`~aitp_desk.model.errors.DeskError`. :class:`OutcomeUnknown` ends a
    call that may have had its effect. Any other exception is a fault of the site's code, of which
    the caller receives only an id.
Cancellation
    A call is cancelled at its deadline. A plain function runs in a thread and cannot be cancelled:
        its result is dropped.
Concurrency
    Any number of calls may run at once.
Retries
    A call keeps its id when it is repeated after a crash or a failure: the idempotency key of all
        that it does elsewhere.
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
    """The caller of an action, without credential and address.

    Parameters:
        id: of the principal; None for an anonymous one.
        scopes: the scopes of the caller's credential.
        via: the ids of the desks that have passed the request on.
    """

    id: str | None = None
    scopes: tuple[str, ...] = ()
    via: tuple[str, ...] = ()

    @property
    def is_anonymous(self) -> bool:
        """Whether the caller is anonymous."""
        return self.id is None


class Context:
    """What a function knows and can report of its call.

    Attributes:
        call_id: the same when the call is repeated: the idempotency key of what it does.
        caller: the caller of the action.
        conversation: names the thread of the call, without opening it; empty for none.
        side_effects: those noted so far.
        spent: what the call has agreed to pay elsewhere, stored for the owner alone; None for
            nothing.
        continued: what an earlier attempt left with :class:`CallContinues`; empty for none. The
            function then only finds out how the call goes; its arguments are not validated again.
    """

    def __init__(
        self,
        call_id: str,
        caller: Caller,
        tell: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.time,
        conversation: str = "",
    ) -> None:
        """Make the Context of a call.

        Parameters:
            tell: receives progress, in the event loop that runs now.
            clock: Unix seconds.
        """
        self.call_id = call_id
        self.caller = caller
        self.conversation = conversation
        self.side_effects: list[SideEffect] = []
        self.spent: Money | None = None
        self.continued = ""
        self._tell = tell
        self._loop = None if tell is None else asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._clock = clock

    @property
    def now(self) -> datetime:
        """The time by the desk's clock, in UTC."""
        return datetime.fromtimestamp(self._clock(), UTC)

    def progress(self, text: str) -> None:
        """Report progress in a few words, for callers that ask for the call's state.

        It may be called in any thread and never raises: a report that cannot be stored must not end
        the work.
        """
        if self._loop is None:
            return
        if threading.get_ident() == self._thread:
            self._say(text)
        else:
            with suppress(RuntimeError):  # the desk has stopped
                self._loop.call_soon_threadsafe(self._say, text)

    def _say(self, text: str) -> None:
        if self._tell is not None:
            with suppress(DeskError):
                self._tell(text)

    def note(self, type_: str, description: str) -> None:
        """Note a side effect, which the caller receives with the result."""
        self.side_effects.append(SideEffect(type_, description))


class ActionResult(msgspec.Struct, frozen=True):
    """The result of a call.

    Parameters:
        result: a JSON value that conforms to the action's ``output_schema``.
        text: the result as text; empty if the site writes none.
        side_effects: the noted side effects.
        ticket: a request to the people who carry the call out, of ``async`` actions alone. There is
            no result yet.
    """

    result: Any
    text: str = ""
    side_effects: tuple[SideEffect, ...] = ()
    ticket: Ticket | None = None


class OutcomeUnknown(Exception):
    """A call was sent elsewhere and its outcome is not known; the message says how, in a sentence.

    The call of an action that may be repeated fails instead, as any call that was not made.
    """


class CallContinues(Exception):
    """A call was accepted elsewhere and has not ended there.

    The desk tells the caller so, and calls the function again with :attr:`Context.continued`, until
    the call ends or expires. Then :class:`~aitp_desk.model.errors.Unavailable` means that its state
    could not be read this time.

    Parameters:
        reference: by which the call is found there.
        after: seconds that must pass before its state is read; None for any.
    """

    def __init__(self, reference: str, after: float | None = None) -> None:
        super().__init__(reference)
        self.reference = reference
        self.after = after


async def no_price(_arguments: Any, _context: Context) -> Money | None:
    """Return no price: a free action."""
    return None


async def no_approval(_arguments: Any, _context: Context) -> bool:
    """Return that no approval is needed."""
    return False


async def no_precondition(_arguments: Any, _context: Context) -> None:
    """Check nothing: an action without preconditions."""


class ArgumentPrompt(msgspec.Struct, frozen=True):
    """How one argument of an action is requested.

    Parameters:
        looks: whether it also checks an argument that was given, and may ask for more.
        question: takes the known arguments as JSON values and returns the question; None if the
            argument suffices, or if its schema is the question. It changes nothing.
    """

    looks: bool
    question: Callable[[Mapping[str, Any], Context], Awaitable[Question | None]]


class OfferedAction(msgspec.Struct, frozen=True):
    """An action with the functions that carry it out. The module lists the guarantees.

    Parameters:
        read: validates arguments as JSON values and converts them for :attr:`perform`.
        perform: carries a call out.
        check: raises :class:`~aitp_desk.model.errors.PreconditionFailed` if a precondition is not
            met.
        price: returns the cost of a call; None for none. It runs before the call and changes
            nothing.
        needs_approval: returns whether a person must approve a call first, if the action's
            ``approval`` is ``sometimes``. It changes nothing.
        from_text: parses arguments as JSON values from a caller's text; None if the text has none.
        asks: how arguments are requested, by name, if the site declares that.
        may_match: whether words may ask for it that do not name it.
    """

    action: Action
    read: Callable[[Mapping[str, Any]], Any]
    perform: Callable[[Any, Context], Awaitable[ActionResult]]
    check: Callable[[Any, Context], Awaitable[None]] = no_precondition
    price: Callable[[Any, Context], Awaitable[Money | None]] = no_price
    needs_approval: Callable[[Any, Context], Awaitable[bool]] = no_approval
    from_text: Callable[[str], Mapping[str, Any] | None] | None = None
    asks: Mapping[str, ArgumentPrompt] = MappingProxyType({})
    may_match: bool = True


class OfferedResource(msgspec.Struct, frozen=True):
    """A resource type with the function that reads a resource.

    Parameters:
        read: takes the variables of a path as text and returns the current resource. It raises
            InvalidRequest if they are not valid and
            :class:`~aitp_desk.model.errors.ResourceNotFound` if there is none; otherwise the
            guarantees of :attr:`OfferedAction.perform` hold. It changes nothing.
        arguments: converts the variables of a path from text to JSON values by their types. It
            raises InvalidRequest if they are not valid.
        reader: the action that reads one after payment; None if reading is free.
    """

    type: ResourceType
    read: Callable[[Mapping[str, str], Context], Awaitable[Resource]]
    arguments: Callable[[Mapping[str, str]], Mapping[str, Any]]
    reader: OfferedAction | None = None
