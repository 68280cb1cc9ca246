"""Builds the query that reads a prepaid resource.

A caller must not be asked to pay for a missing resource: it is read before its price is returned.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from aitp_desk.actions.base import ActionResult, Context, OfferedAction, no_price
from aitp_desk.actions.declaration.parts import read_arguments, read_partial_signature
from aitp_desk.actions.declaration.price import ask_price
from aitp_desk.actions.declaration.resource import DeclaredResource
from aitp_desk.actions.declaration.signature import Report, Signature
from aitp_desk.actions.declaration.terms import read_cost
from aitp_desk.actions.schemas.shape import Shape
from aitp_desk.model.calls.action import DATA, TEXT_ANSWER, Action
from aitp_desk.model.calls.resource import Resource, ResourceType

Read = Callable[[Mapping[str, str], Context], Awaitable[Resource]]


def check_payment(declared: DeclaredResource[..., Any], report: Report) -> None:
    """Report faults in the cost of reading a resource."""
    cost, prepaid = declared.cost, declared.prepaid
    if not isinstance(prepaid, bool):
        report(f"has prepaid={prepaid!r}; it must be true or false.")
    elif prepaid and cost is None:
        report("is prepaid but has no cost; write cost=, or remove prepaid.")
    elif cost is not None and not prepaid:
        report("has a cost to which its readers cannot agree; write prepaid=True.")
    if cost is not None and not callable(cost) and read_cost(cost) is None:
        report(f'has cost={cost!r}; it must be an amount above 0 such as "29.99 EUR".')


def build_reader(
    declared: DeclaredResource[..., Any],
    type_: ResourceType,
    signature: Signature,
    takes: Shape,
    read: Read,
    report: Report,
) -> OfferedAction | None:
    """Build the query that reads a resource after payment.

    Parameters:
        signature: of the function that reads it.
        takes: validates the variables of its path.
        read: takes those variables as text and returns the resource.

    Returns:
        None, with a report, if its price is invalid.
    """
    cost = declared.cost
    price = read_partial_signature(cost, signature, "its cost", report) if callable(cost) else None
    if callable(cost) and price is None:
        return None
    action = Action(
        type_.read_by,
        type_.summary,
        description=type_.description,
        open_to=type_.open_to,
        answer_types=(DATA, TEXT_ANSWER),
        accept_fallback=True,
        input_schema=type_.input_schema,
        output_schema=type_.output_schema,
        cost=None if callable(cost) else read_cost(cost),
        has_price=price is not None,
        is_prepaid=True,
        is_idempotent=True,
        related=type_.related,
    )
    return OfferedAction(
        action,
        read=partial(read_arguments, takes),
        perform=partial(_perform, read),
        check=partial(_check, read),
        price=no_price if price is None else partial(ask_price, cost, price),
    )


async def _perform(read: Read, given: msgspec.Struct, context: Context) -> ActionResult:
    found = await read(_as_text(given), context)
    return ActionResult(found.data, side_effects=tuple(context.side_effects))


async def _check(read: Read, given: msgspec.Struct, context: Context) -> None:
    await read(_as_text(given), context)


def _as_text(given: msgspec.Struct) -> Mapping[str, str]:
    """Return the variables as text, as in a path."""
    plain = {
        name: msgspec.to_builtins(value) for name, value in msgspec.structs.asdict(given).items()
    }
    return {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in plain.items()
    }
