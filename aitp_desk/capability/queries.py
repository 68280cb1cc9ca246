"""Read-only actions of capabilities, served wherever the site's own actions are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from aitp_desk.model.access.scope import is_operator_scope
from aitp_desk.model.component import Component


class Inquiry(msgspec.Struct, frozen=True, kw_only=True):
    """The caller and the time of a query.

    Parameters:
        now: Unix seconds.
        scopes: the scopes of the caller's credential.
        components: returns the health of the desk's components.
    """

    now: int
    scopes: frozenset[str] = frozenset()
    components: Callable[[], Awaitable[Sequence[Component]]]

    @property
    def operates(self) -> bool:
        """Whether the caller is an operator of the desk."""
        return is_operator_scope(self.scopes)


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A read-only action that every caller may call.

    Parameters:
        name: of lowercase letters, digits and ``_``, a letter first; no action of the site has it.
        summary: what it returns, in a line for callers.
        arguments: the type of its arguments; its docstring describes the fields.
        result: the type of its result.
        answer: returns the result for the arguments; any exception other than a DeskError is a
            fault.
        as_text: renders the result as text.
    """

    name: str
    summary: str
    arguments: type[msgspec.Struct]
    result: type[msgspec.Struct]
    answer: Callable[[Any, Inquiry], Awaitable[msgspec.Struct]]
    as_text: Callable[[Any], str]
