"""What a visit has spent of money and tokens, and may still spend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aitp_desk.model.calls.call import CONFIRMATION, PAYMENT
from aitp_desk.model.money import Money
from aitp_desk.visitor.base import Quote, SiteAction
from aitp_desk.visitor.errors import BudgetSpent, NotConfirmed, PolicyRefused
from aitp_desk.visitor.payments import Payer
from aitp_desk.visitor.policy import Confirm, PlannedCall, Policy


class Expenses:
    """The money and tokens of one visit.

    Parameters:
        site: the site's address, for the person who confirms.
        payer: what quotes are paid from; None: nothing is paid in advance.

    Attributes:
        tokens: how many tokens the site says that its answers took.
    """

    def __init__(self, site: str, policy: Policy, payer: Payer | None) -> None:
        self._site = site
        self._policy = policy
        self._payer = payer
        self.tokens = 0
        budget = policy.budget
        self.spent = None if budget is None else Money(0 * budget.amount, budget.currency)

    def check_tokens(self) -> None:
        """Check that the visit has tokens left for a question.

        Raises:
            BudgetSpent: it has none.
        """
        most = self._policy.tokens
        if most is not None and self.tokens >= most:
            raise BudgetSpent(f"The visit has used up its {most} tokens.")

    def check(self, name: str, money: Money) -> Money | None:
        """Return what is spent with a price on top, if the budget allows it; 0 needs none.

        Raises:
            PolicyRefused: the visit may not spend this currency, or nothing.
            BudgetSpent: it exceeds the limit.
        """
        limit, spent = self._policy.budget, self.spent
        if not money.amount:
            return spent
        if limit is None or spent is None:
            raise PolicyRefused(f"{name} costs {money}; give the visit a budget to pay it.")
        if limit.currency != money.currency:
            raise PolicyRefused(
                f"{name} costs {money}; the visit's budget is in {limit.currency}, and nothing is "
                "converted."
            )
        if not 0 <= money.amount <= limit.amount - spent.amount:
            raise BudgetSpent(f"{name} costs {money}; {limit} is the visit's limit.")
        return Money(spent.amount + money.amount, limit.currency)

    def check_announced(self, action: SiteAction) -> None:
        """Check what an action is announced to cost, before it is called.

        Raises:
            PolicyRefused, BudgetSpent: as :meth:`check` does.
        """
        if action.cost is not None:
            self.check(action.name, action.cost)
        elif action.has_cost and self.spent is None:
            raise PolicyRefused(f"{action.name} costs money; give the visit a budget.")
        elif action.has_cost and not names_price_first(action):
            raise PolicyRefused(f"{action.name} costs money, and its price cannot be read.")

    def take(self, name: str, money: Money) -> None:
        """Count the announced price of a call before it is sent.

        Raises:
            PolicyRefused, BudgetSpent: as :meth:`check` does.
        """
        self.spent = self.check(name, money)

    def give_back(self, money: Money) -> None:
        """Count a price as not spent: the site has certainly not taken it."""
        if self.spent is not None:
            self.spent = Money(self.spent.amount - money.amount, money.currency)

    async def spend(
        self, action: SiteAction, arguments: Mapping[str, Any], quote: Quote, confirm: Confirm
    ) -> None:
        """Count a price as spent, once budget and person allow it.

        It is counted before anything is sent: a response that is lost may have been paid.

        Parameters:
            confirm: asks the person.

        Raises:
            PolicyRefused, NotConfirmed: it may not be spent; nothing is counted.
        """
        self.check(action.name, quote.money)
        if quote.prepaid:
            if self._payer is None:
                raise PolicyRefused(
                    f"{action.name} is paid before it is done, and the visit has nothing to pay "
                    "from: give --account or --channel with --key, or the library's Identity a "
                    "payer."
                )
            self._payer.pay(quote)
        await self._confirm(action, arguments, quote, confirm)
        # again: another call may have spent while the person thought
        self.spent = self.check(action.name, quote.money)

    async def _confirm(
        self, action: SiteAction, arguments: Mapping[str, Any], quote: Quote, confirm: Confirm
    ) -> None:
        """Have a price confirmed, unless it is the announced one, confirmed already."""
        announced = action.cost
        if announced is not None and announced.currency == quote.money.currency:
            if quote.money.amount <= announced.amount:
                return
            reasons = (f"It costs {quote.money}, more than the {announced} announced.",)
        else:
            reasons = (f"It costs {quote.money}.",)
        if not await confirm(PlannedCall(self._site, action, arguments, reasons, quote)):
            raise NotConfirmed(f"{action.name} was not confirmed: {quote.money}.")


def names_price_first(action: SiteAction) -> bool:
    """Return whether a site names its price before it takes anything."""
    properties = action.input_schema.get("properties")
    return isinstance(properties, Mapping) and not {CONFIRMATION, PAYMENT}.isdisjoint(properties)
