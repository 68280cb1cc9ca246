"""Builds an offered action from a declared function."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from aitp_desk.actions.base import (
    ActionResult,
    Context,
    OfferedAction,
    no_approval,
    no_precondition,
    no_price,
)
from aitp_desk.actions.declaration.action import Check, DeclaredAction, Terms
from aitp_desk.actions.declaration.docstring import read_docstring
from aitp_desk.actions.declaration.invocation import call_function
from aitp_desk.actions.declaration.links import check_links
from aitp_desk.actions.declaration.parts import (
    check_doc,
    check_name,
    make_arguments_shape,
    make_result_shape,
    read_arguments,
    read_partial_signature,
    write_result,
)
from aitp_desk.actions.declaration.price import ask_price
from aitp_desk.actions.declaration.question_builder import build_prompts
from aitp_desk.actions.declaration.signature import REQUIRED, Report, Signature, read_signature
from aitp_desk.actions.declaration.terms import (
    check_terms,
    list_entries,
    read_answer_types,
    read_approval,
    read_cost,
    read_example,
    read_safety,
)
from aitp_desk.actions.schemas.shape import Shape, ShapeMismatch
from aitp_desk.model.calls.action import Action, Example, is_action_name
from aitp_desk.model.conversation.ticket import Ticket
from aitp_desk.model.errors import PreconditionFailed, Recovery

Checks = Sequence[tuple[Check, Signature]]


def build_action(declared: DeclaredAction[..., Any], report: Report) -> OfferedAction | None:
    """Build an offered action from its declaration.

    Parameters:
        report: receives each fault, as text that follows the function's name.

    Returns:
        None if it has a fault.
    """
    wrong: list[str] = []
    offered = None
    try:
        offered = _make(declared, wrong.append)
    except (TypeError, ValueError) as error:
        wrong.append(f"cannot be declared like this: {error}.")
    for message in wrong:
        report(message)
    return None if wrong else offered


def _make(declared: DeclaredAction[..., Any], report: Report) -> OfferedAction | None:
    function, terms = declared.function, declared.terms
    doc = read_docstring(function.__doc__)
    check_name(function.__name__, report)
    for message in check_terms(terms):
        report(message)
    _check_words(terms, report)
    signature = read_signature(function, report)
    if signature is None:
        return None
    if signature.gives is Ticket:
        _check_ticket(terms, report)
    check_doc(doc, signature.takes, report)
    takes = make_arguments_shape(function.__name__, signature, doc)
    gives = make_result_shape(signature, report)
    examples = tuple(map(read_example, list_entries(terms.examples)))
    _check_examples(examples, takes, report)
    checks = _read_checks(declared.checks, signature, report)
    price = (
        read_partial_signature(terms.cost, signature, "its cost", report)
        if callable(terms.cost)
        else None
    )
    approval = _read_approval(terms, signature, report)
    asks = build_prompts(declared.questions, signature, takes.schema, report)
    if gives is None:
        return None
    recoveries = {check.precondition.name: check.recovery for check, _ in checks}
    known = (takes.schema, gives.schema)
    for message in check_links(list_entries(terms.related), known, "the arguments or the result"):
        report(message)
    action = Action(
        function.__name__,
        doc.summary,
        kind=terms.kind,
        description=doc.description,
        open_to=terms.open_to,
        answer_types=read_answer_types(terms),
        accept_fallback=True,
        input_schema=takes.schema,
        output_schema=gives.schema,
        safety=read_safety(terms),
        cost=read_cost(terms.cost),
        has_price=price is not None,
        is_prepaid=terms.prepaid is True,
        approval=read_approval(terms),
        preconditions=tuple(check.precondition for check, _ in checks),
        deadline_seconds=terms.deadline,
        is_idempotent=terms.idempotent,
        examples=examples,
        related=tuple(list_entries(terms.related)),
    )
    return OfferedAction(
        action,
        read=partial(read_arguments, takes),
        perform=partial(_perform, function, signature, gives, terms.says, recoveries),
        check=partial(_check, checks) if checks else no_precondition,
        price=no_price if price is None else partial(ask_price, terms.cost, price),
        needs_approval=(
            no_approval if approval is None else partial(_needs_approval, terms.approval, approval)
        ),
        from_text=None if terms.from_text is None else partial(_from_text, terms.from_text),
        asks=asks,
    )


def _read_approval(terms: Terms, whole: Signature, report: Report) -> Signature | None:
    """Return the signature of the function that decides whether a person approves a call."""
    if not callable(terms.approval):
        return None
    part = read_partial_signature(terms.approval, whole, "its approval", report)
    if part is not None and part.gives not in (bool, REQUIRED):
        report("has an approval function that does not return true or false; write -> bool.")
    return part


def _check_ticket(terms: Terms, report: Report) -> None:
    if terms.kind != "async":
        report('returns a Ticket, which people answer later; write kind="async".')
    if terms.says is not None:
        report("returns a Ticket and has says=, but people write the result. Remove says=.")


def _check_words(terms: Terms, report: Report) -> None:
    for name, function in (("says", terms.says), ("from_text", terms.from_text)):
        if function is not None and (
            not callable(function) or inspect.iscoroutinefunction(function)
        ):
            given = getattr(function, "__name__", repr(function))
            report(f"has {name}={given}; it must be a plain function of one value.")


def _check_examples(examples: Sequence[Example], takes: Shape, report: Report) -> None:
    for example in examples:
        if example.arguments is None:
            continue
        try:
            takes.read(example.arguments)
        except ShapeMismatch as error:
            report(f"would refuse the arguments of its example {example.text!r}: {error.message}")


def _read_checks(checks: Sequence[Check], whole: Signature, report: Report) -> Checks:
    read: list[tuple[Check, Signature]] = []
    for check in checks:
        name, description = check.precondition.name, check.precondition.description
        what = f"the precondition {name!r}"
        if not is_action_name(name):
            report(
                f"has {what}; its name must have lowercase letters, digits and _, a letter first."
            )
        if not description.strip():
            report(f"has {what} without a description; describe the condition in a sentence.")
        if any(other.precondition.name == name for other, _ in read):
            report(f"has {what} twice; give one of them another name.")
        if check.recovery is not None and not check.recovery.description.strip():
            report(
                f"has {what}, which names actions that help; explain in recovery= how they help."
            )
        part = read_partial_signature(check.function, whole, what, report)
        if part is None:
            continue
        if part.gives is bool:
            report(
                f"has {what}, which returns true or false; return None if it is met, else"
                " the reason as a sentence (-> str | None)."
            )
        read.append((check, part))
    return read


async def _perform(
    function: Callable[..., Any],
    signature: Signature,
    gives: Shape,
    says: Callable[[Any], str] | None,
    recoveries: Mapping[str, Recovery | None],
    arguments: msgspec.Struct,
    context: Context,
) -> ActionResult:
    try:
        value = await call_function(
            function, signature.pick(msgspec.structs.asdict(arguments), context)
        )
    except PreconditionFailed as error:
        # a check may fail by now; the recovery is the same
        raise _with_recovery(error, recoveries.get(error.param or "")) from None
    if isinstance(value, Ticket) and signature.gives is Ticket:
        if not _says_enough(value):
            raise TypeError(f"{function.__name__} returned a Ticket without text")
        return ActionResult(None, side_effects=tuple(context.side_effects), ticket=value)
    result = write_result(function, gives, value)
    if says is not None:
        text = says(value)
        if not isinstance(text, str):
            raise TypeError(f"the says= function of {function.__name__} returned no text")
    else:
        text = result if isinstance(result, str) else ""
    return ActionResult(result, text, tuple(context.side_effects))


def _says_enough(ticket: Ticket) -> bool:
    """Return whether a ticket has text and only text; a Struct does not check its types."""
    about: object = ticket.about
    note: object = ticket.note
    return isinstance(about, str) and bool(about.strip()) and isinstance(note, str)


async def _check(checks: Checks, arguments: msgspec.Struct, context: Context) -> None:
    given = msgspec.structs.asdict(arguments)
    for check, signature in checks:
        name = check.precondition.name
        try:
            wrong = await call_function(check.function, signature.pick(given, context))
        except PreconditionFailed as error:
            error.param = error.param or name
            raise _with_recovery(error, check.recovery) from None
        if isinstance(wrong, str):
            raise PreconditionFailed(wrong, param=name, recovery=check.recovery)
        if wrong is not None:
            raise TypeError(f"the precondition {name!r} returned neither text nor None")


def _with_recovery(error: PreconditionFailed, recovery: Recovery | None) -> PreconditionFailed:
    return PreconditionFailed(
        error.message,
        param=error.param,
        retry_after=error.retry_after,
        recovery=error.recovery or recovery,
    )


async def _needs_approval(
    function: Callable[..., Awaitable[bool] | bool],
    signature: Signature,
    arguments: msgspec.Struct,
    context: Context,
) -> bool:
    needed = await call_function(
        function, signature.pick(msgspec.structs.asdict(arguments), context)
    )
    if not isinstance(needed, bool):
        raise TypeError(f"{function.__name__} returned neither true nor false")
    return needed


def _from_text(
    function: Callable[[str], Mapping[str, Any] | None], text: str
) -> Mapping[str, Any] | None:
    found = function(text)
    if found is not None and not isinstance(found, Mapping):
        raise TypeError(f"{function.__name__} returned neither arguments nor None")
    return found
