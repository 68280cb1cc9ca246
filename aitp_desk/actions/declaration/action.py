r"""Declares an action: a function of the site, with its terms.

    @action(open_to="anyone")
    async def opening_hours(store: Literal["Bend", "Boise"]) -> Hours:
        \"\"\"When a store is open today.\"\"\"

A declaration stores its arguments unchecked: the loader (``loader/loader.py``) reports the faults
of all declarations together. The function itself is unchanged and can be called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, overload

import msgspec

from aitp_desk.actions.declaration.base import Declared
from aitp_desk.model.calls.action import (
    DEADLINE_SECONDS,
    BlastRadius,
    Example,
    Kind,
    Mutability,
    OpenTo,
    Precondition,
    Related,
)
from aitp_desk.model.errors import Recovery
from aitp_desk.model.money import Money

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

Price = Callable[..., Any]
"""A plain or async function of some of the action's parameters that returns Money, text such as
``29.99 EUR``, or None.
"""
NeedsApproval = Callable[..., Any]
"""The same, returning whether a person of the site must approve such a call first."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The unchecked arguments of :func:`action`."""

    kind: Kind
    open_to: OpenTo
    mutability: Mutability | None
    blast_radius: BlastRadius | None
    reversible_within: str | None
    confirmation_recommended: bool
    cost: Any
    approval: Any
    deadline: float
    idempotent: bool
    examples: Sequence[Any]
    answer_types: Sequence[str] | None
    related: Sequence[Any]
    says: Any
    from_text: Any
    prepaid: Any = False


class Check(msgspec.Struct, frozen=True):
    """A precondition with the function that checks it."""

    precondition: Precondition
    function: Callable[..., Any]
    recovery: Recovery | None


class DeclaredPrompt(msgspec.Struct, frozen=True):
    """An argument with the function that asks for it."""

    argument: str
    function: Callable[..., Any]


class DeclaredAction(Declared[P, R]):
    """A function that is declared as an action."""

    def __init__(self, function: Callable[P, R], terms: Terms) -> None:
        super().__init__(function)
        self.terms = terms
        self.checks: list[Check] = []
        self.questions: list[DeclaredPrompt] = []

    def requires(
        self, name: str, description: str, *, recovery: str = "", actions: Sequence[str] = ()
    ) -> Callable[[F], F]:
        """Declare a function as a precondition of the action.

        The function takes some of the action's parameters, by the same names, and optionally the
        Context. It returns None if the precondition is met, else the reason as a sentence for the
        caller. It changes nothing.

        Parameters:
            name: the name in errors, such as ``in_stock``.
            description: the condition, as a sentence.
            recovery: what helps if it is not met, as a sentence.
            actions: names of actions that help.
        """

        def declare(function: F) -> F:
            helps = Recovery(recovery, tuple(actions)) if recovery or actions else None
            self.checks.append(Check(Precondition(name, description), function, helps))
            return function

        return declare

    def asks(self, argument: str) -> Callable[[F], F]:
        """Declare a function that asks for an argument of the action.

        The function takes some of the action's parameters, by the same names, and optionally the
        Context. A parameter is None while it is unknown. The function returns the question, whose
        answer becomes the argument, or None to ask as the type requires. It is called if the
        argument is missing. A function that takes the argument itself is also called if it is
        given; None then accepts it. It changes nothing.

        Parameters:
            argument: the name of the parameter.
        """

        def declare(function: F) -> F:
            self.questions.append(DeclaredPrompt(argument, function))
            return function

        return declare


@overload
def action(function: Callable[P, R], /) -> DeclaredAction[P, R]: ...


@overload
def action(
    *,
    kind: Kind = "query",
    open_to: OpenTo = "actions",
    mutability: Mutability | None = None,
    blast_radius: BlastRadius | None = None,
    reversible_within: str | None = None,
    confirmation_recommended: bool = False,
    cost: str | Money | Price | None = None,
    prepaid: bool = False,
    approval: bool | NeedsApproval = False,
    deadline: float = DEADLINE_SECONDS,
    idempotent: bool = False,
    examples: Sequence[str | Example] = (),
    answer_types: Sequence[str] | None = None,
    related: Sequence[Related] = (),
    says: Callable[[Any], str] | None = None,
    from_text: Callable[[str], Mapping[str, Any] | None] | None = None,
) -> Callable[[Callable[P, R]], DeclaredAction[P, R]]: ...


def action(
    function: Callable[P, R] | None = None,
    /,
    *,
    kind: Kind = "query",
    open_to: OpenTo = "actions",
    mutability: Mutability | None = None,
    blast_radius: BlastRadius | None = None,
    reversible_within: str | None = None,
    confirmation_recommended: bool = False,
    cost: str | Money | Price | None = None,
    prepaid: bool = False,
    approval: bool | NeedsApproval = False,
    deadline: float = DEADLINE_SECONDS,
    idempotent: bool = False,
    examples: Sequence[str | Example] = (),
    answer_types: Sequence[str] | None = None,
    related: Sequence[Related] = (),
    says: Callable[[Any], str] | None = None,
    from_text: Callable[[str], Mapping[str, Any] | None] | None = None,
) -> DeclaredAction[P, R] | Callable[[Callable[P, R]], DeclaredAction[P, R]]:
    """Declare a plain or async function as an action, under its own name.

    Its parameters are the arguments that callers send, and its docstring is published: the first
    paragraph is the summary, the others are the description, ``Args:`` describes the parameters. A
    parameter of the type :class:`~aitp_desk.actions.base.Context` receives the Context and is not
    published. A plain function runs in a thread.

    Parameters:
        kind: ``query`` reads and changes nothing; ``action`` may change something and ends within
            its call; ``async`` continues after its call was accepted.
        open_to: ``actions`` for callers with the scope ``actions`` or ``actions:NAME``, ``anyone``
            also without a credential (queries only), ``operators`` for operators of the desk.
        mutability: ``read_only``, ``reversible`` or ``irreversible``; required of an ``action``.
        blast_radius: ``self``, ``self_and_associated``, ``many`` or ``all``; required of an
            ``action``.
        reversible_within: how long it can be undone, an ISO 8601 duration such as ``P30D``.
        confirmation_recommended: whether an agent should ask its user before it calls.
        cost: the cost of a call: ``"29.99 EUR"``, Money, or a function of some of the parameters
            that returns it and changes nothing.
        prepaid: whether the cost is paid here before the call, through a capability of the site
            that accepts payments; else the caller agrees to it and pays elsewhere.
        approval: whether a person of the site approves a call before it is carried out, or a
            function of some of the parameters that returns this and changes nothing; of ``async``
            actions alone.
        deadline: timeout of a call in seconds.
        idempotent: whether a call repeated with the same ``context.call_id`` has its effect once.
        examples: requests for it, as text, or with the intended arguments.
        answer_types: content types of its answers (AHP 0.1, appendix C), the preferred first; by
            default data, or an action's result, and text.
        related: links to more about it.
        says: renders the result as text.
        from_text: parses arguments from a caller's text; None if it has none.
    """
    terms = Terms(
        kind=kind,
        open_to=open_to,
        mutability=mutability,
        blast_radius=blast_radius,
        reversible_within=reversible_within,
        confirmation_recommended=confirmation_recommended,
        cost=cost,
        approval=approval,
        deadline=deadline,
        idempotent=idempotent,
        examples=examples,
        answer_types=answer_types,
        related=related,
        says=says,
        from_text=from_text,
        prepaid=prepaid,
    )

    def declare(function: Callable[P, R]) -> DeclaredAction[P, R]:
        return DeclaredAction(function, terms)

    return declare if function is None else declare(function)
