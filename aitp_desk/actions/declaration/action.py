"""Declaring an action: a function of the site, and what callers must know of it.

    @action(open_to="anyone")
    async def opening_hours(store: Literal["Bend", "Boise"]) -> Hours:
        \"\"\"When a store is open today.\"\"\"

A declaration keeps what it was given and checks nothing: what is wrong with all of them is told
together when they are loaded (``loading.py``). The function stays what it was, and can be called.
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
"""A plain or async function of some of the action's parameters → Money, or None for nothing."""
NeedsApproval = Callable[..., Any]
"""The same → whether a person of the site has to approve such a call first."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What a declaration says besides its function, as it was written: see :func:`action`."""

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
    """A precondition with the function that looks whether it is met."""

    precondition: Precondition
    function: Callable[..., Any]
    recovery: Recovery | None


class DeclaredPrompt(msgspec.Struct, frozen=True):
    """An argument with the function that says how it is asked for."""

    argument: str
    function: Callable[..., Any]


class DeclaredAction(Declared[P, R]):
    """A function that is an action."""

    def __init__(self, function: Callable[P, R], terms: Terms) -> None:
        super().__init__(function)
        self.terms = terms
        self.checks: list[Check] = []
        self.questions: list[DeclaredPrompt] = []

    def requires(
        self, name: str, description: str, *, recovery: str = "", actions: Sequence[str] = ()
    ) -> Callable[[F], F]:
        """Declare a function as a precondition of the action.

        The function takes some of the action's parameters, by the same names, and the Context where
        it wants it. It returns None where the precondition is met, and else says in a sentence for
        the caller what is not so. It changes nothing.

        Parameters:
            name: what a refusal names, such as ``in_stock``.
            description: what must be so, in a sentence.
            recovery: what helps where it is not met, in a sentence.
            actions: names of actions that help.
        """

        def declare(function: F) -> F:
            helps = Recovery(recovery, tuple(actions)) if recovery or actions else None
            self.checks.append(Check(Precondition(name, description), function, helps))
            return function

        return declare

    def asks(self, argument: str) -> Callable[[F], F]:
        """Declare a function as what says how an argument of the action is asked for.

        The function takes some of the action's parameters, by the same names, and the Context where
        it wants it. Each may be None: it is not known yet. It returns the question, whose answer
        becomes the argument, or None to have it asked for as its type says. It is asked where the
        argument is missing; one that takes the argument itself also where it is there, and None
        then lets it pass. It changes nothing.

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

    Its parameters are what callers send, its docstring is what they read: the first paragraph is
    the summary, the others are the description, ``Args:`` describes the parameters. A parameter of
    the type :class:`~aitp_desk.actions.base.Context` is given the Context and seen by nobody. A
    plain function runs in a thread.

    Parameters:
        kind: ``query`` reads and changes nothing; ``action`` may change something and is over
            within its call; ``async`` goes on after its call was accepted.
        open_to: ``actions`` for callers with the scope ``actions`` or ``actions:NAME``, ``anyone``
            also without a credential (queries only), ``operators`` for those who run the desk.
        mutability: ``read_only``, ``reversible`` or ``irreversible``; an ``action`` says it.
        blast_radius: ``self``, ``self_and_associated``, ``many`` or ``all``; an ``action`` says it.
        reversible_within: for how long it can be undone, an ISO 8601 duration such as ``P30D``.
        confirmation_recommended: whether who calls for somebody should ask them first.
        cost: what a call costs: ``"29.99 EUR"``, Money, or a function of some of the parameters
            that says so and changes nothing.
        prepaid: whether that is paid here before the call is made, by a capability of the site that
            takes payments; else it is agreed to, and paid elsewhere.
        approval: whether a person of the site approves a call before it is carried out, or a
            function of some of the parameters that says so and changes nothing; of ``async``
            actions alone.
        deadline: seconds that a call may take.
        idempotent: whether a call made twice, with one ``context.call_id``, does what it does once.
        examples: how it is asked for, in words, or with the arguments that are meant.
        answer_types: content types that it answers with (AHP 0.1, appendix C), the preferred first;
            by default data, or an action's result, and text.
        related: where more about it can be read.
        says: the result in words.
        from_text: arguments out of a caller's words; None where they do not say them.
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
