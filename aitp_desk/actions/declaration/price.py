"""The cost of a call, from a function of the site."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from aitp_desk.actions.base import Context
from aitp_desk.actions.declaration.invocation import call_function
from aitp_desk.actions.declaration.signature import Signature
from aitp_desk.actions.declaration.terms import is_amount, parse_amount
from aitp_desk.model.money import Money


async def ask_price(
    function: Callable[..., Any],
    signature: Signature,
    arguments: msgspec.Struct,
    context: Context,
) -> Money | None:
    """Return the cost of a call from the site's function; None for none.

    Raises:
        TypeError: it returned something else.
    """
    price = await call_function(
        function, signature.pick(msgspec.structs.asdict(arguments), context)
    )
    if price is None:
        return None
    if isinstance(price, str):
        price = parse_amount(price)
    if not isinstance(price, Money) or not is_amount(price):
        raise TypeError(
            f"{function.__name__} returned neither Money, nor text such as '29.99 EUR', nor None"
        )
    return price if price.amount else None
