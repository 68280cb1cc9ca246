"""Declaring resources: a function that reads one, its address, and what can be done with it.

    @resource("/orders/{order_id}")
    async def order(order_id: str) -> Order | None:
        \"\"\"An order of a customer.\"\"\"

    @order.affords("cancel_order")
    def can_be_cancelled(order: Order) -> bool:
        return order.state == "open"

A declaration keeps what it was given and checks nothing, as one of an action does.
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
"""What the name of a query begins with that reads a resource which is paid first."""
P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[[Any], Any])


class DeclaredAffordance(msgspec.Struct, frozen=True):
    """An action that may be open for a resource, with the function that looks whether it is."""

    action: str
    function: Callable[[Any], Any]


class DeclaredResource(Declared[P, R]):
    """A function that reads a resource."""

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
        """Name of the query that reads one once that is paid; empty where nothing is paid."""
        return f"{READS}{self.function.__name__}" if self.prepaid is True else ""

    def affords(self, action: str) -> Callable[[F], F]:
        """Declare a plain function that says whether an action is open for the resource as it is.

        The function takes what the resource's function returned. It returns true or false, or the
        arguments that follow from the resource, as a dict, and None where the action is not open.
        Variables of the path are arguments of themselves where the action has a parameter of their
        name.

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
    """Declare a plain or async function as what reads the resources at a path.

    Its parameters are the variables of the path, by the same names, and the Context where it wants
    it. It returns the resource, or None where there is none at this address.

    Parameters:
        path: such as ``/orders/{order_id}``.
        open_to: who may read one: ``actions`` for callers with the scope ``actions`` or
            ``actions:NAME``, ``anyone``, or ``operators``.
        related: links of each one, as ``Related(rel, href)``; variables in the href are those of
            the path, or members of the resource.
        cost: what reading one costs, as of an action; a function of it takes variables of the path.
        prepaid: that it is paid here before it is read. Such a resource is a query as well, called
            ``read_`` and its name.
    """

    def declare(function: Callable[P, R]) -> DeclaredResource[P, R]:
        return DeclaredResource(function, path, open_to, related, cost, prepaid)

    return declare
