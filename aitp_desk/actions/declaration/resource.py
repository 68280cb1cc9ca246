r"""Declares a resource: the function that reads it, its path, and its affordances.

    @resource("/orders/{order_id}")
    async def order(order_id: str) -> Order | None:
        \"\"\"An order of a customer.\"\"\"

    @order.affords("cancel_order")
    def can_be_cancelled(order: Order) -> bool:
        return order.state == "open"

A declaration stores its arguments unchecked, like that of an action.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import msgspec

from aitp_desk.actions.declaration.action import Price
from aitp_desk.actions.declaration.base import Declared
from aitp_desk.model.calls.action import OpenTo
from aitp_desk.model.money import Money

READS = "read_"
"""Prefix of the name of a query that reads a prepaid resource."""
P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[[Any], Any])


class DeclaredAffordance(msgspec.Struct, frozen=True):
    """An action that a resource may afford, with the function that decides it."""

    action: str
    function: Callable[[Any], Any]


class DeclaredResource(Declared[P, R]):
    """A function that is declared to read a resource."""

    def __init__(
        self,
        function: Callable[P, R],
        path: str,
        open_to: OpenTo,
        related: Sequence[Any],
        cost: Any = None,
        prepaid: Any = False,
    ) -> None:
        super().__init__(function)
        self.path = path
        self.open_to: OpenTo = open_to
        self.related = related
        self.cost = cost
        self.prepaid = prepaid
        self.affordances: list[DeclaredAffordance] = []

    @property
    def reader(self) -> str:
        """Name of the query that reads one after payment; empty if reading is free."""
        return f"{READS}{self.function.__name__}" if self.prepaid is True else ""

    def affords(self, action: str) -> Callable[[F], F]:
        """Declare a plain function that decides whether a resource affords an action.

        The function takes the result of the resource's function. It returns true or false; or a
        dict of the arguments that follow from the resource, and None if the action is not afforded.
        Variables of the path become arguments if the action has parameters of their names.

        Parameters:
            action: its name.
        """

        def declare(function: F) -> F:
            self.affordances.append(DeclaredAffordance(action, function))
            return function

        return declare


def resource(
    path: str,
    *,
    open_to: OpenTo = "actions",
    related: Sequence[Any] = (),
    cost: str | Money | Price | None = None,
    prepaid: bool = False,
) -> Callable[[Callable[P, R]], DeclaredResource[P, R]]:
    """Declare a plain or async function that reads the resources at a path.

    Its parameters are the variables of the path, by the same names, and optionally the Context. It
    returns the resource, or None if there is none at this path.

    Parameters:
        path: such as ``/orders/{order_id}``.
        open_to: who may read one: ``actions`` for callers with the scope ``actions`` or
            ``actions:NAME``, ``anyone``, or ``operators``.
        related: links of each resource, as ``Related(rel, href)``; variables in the href are those
            of the path, or members of the resource.
        cost: the cost of reading one, as of an action; a function of it takes variables of the
            path.
        prepaid: whether the cost is paid here before reading. Such a resource is also a query,
            named ``read_`` and its name.
    """

    def declare(function: Callable[P, R]) -> DeclaredResource[P, R]:
        return DeclaredResource(function, path, open_to, related, cost, prepaid)

    return declare
