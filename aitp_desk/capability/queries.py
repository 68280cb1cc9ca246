"""Actions of capabilities: questions that every door takes, as it takes the site's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from aitp_desk.model.access.scope import is_operator_scope
from aitp_desk.model.component import Component


class Inquiry(msgspec.Struct, frozen=True, kw_only=True):
    """By whom and when something is asked.

    Parameters:
        now: Unix seconds.
        scopes: what the caller's credential opens.
        components: tells how the parts of the desk are.
    """

    now: int
    scopes: frozenset[str] = frozenset()
    components: Callable[[], Awaitable[Sequence[Component]]]

    @property
    def operates(self) -> bool:
        """Whether the caller runs the desk."""
        return is_operator_scope(self.scopes)


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """An action that only tells something: it changes nothing, and anybody may call it.

    Parameters:
        name: of small letters, digits and ``_``, a letter first; no action of the site has it.
        summary: what it tells, in a line, as callers read it.
        arguments: what it takes; the docstring says what each field is.
        result: what it gives.
        answer: given the arguments gives the result; whatever it raises but a DeskError is a fault.
        as_text: tells the result in words.
    """

    name: str
    summary: str
    arguments: type[msgspec.Struct]
    result: type[msgspec.Struct]
    answer: Callable[[Any, Inquiry], Awaitable[msgspec.Struct]]
    as_text: Callable[[Any], str]
