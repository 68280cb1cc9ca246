"""Checks that prepaid actions can be paid: at start, and by the ``check`` command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from aitp_desk.capability import Asking, Money, Pay
from aitp_desk.config import Config, ConfigError, Problem
from aitp_desk.desk.plugins.desk_messages import QUESTION_PREFIX, can_plugin_ask
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.model.calls.action import Action

_TRIED = ("EUR", "USD", "GBP", "CHF", "JPY", "SEK", "CAD", "AUD", "INR", "CNY")
"""Currencies to try if the price depends on the arguments.

A plugin that takes any payments takes one of these.
"""


def require_payable(
    config: Config, actions: Iterable[Action], capabilities: PluginRegistry
) -> None:
    """Refuse to serve prepaid actions that cannot be paid.

    Parameters:
        capabilities: as of :func:`check_prepaid`.

    Raises:
        ConfigError: names the actions.
    """
    if problems := list(check_prepaid(actions, capabilities)):
        raise ConfigError(problems, config)


def check_prepaid(actions: Iterable[Action], capabilities: PluginRegistry) -> Iterator[Problem]:
    """Yield a problem for each prepaid action that cannot be paid.

    Parameters:
        capabilities: the enabled plugins, each with its own keys.
    """
    for action in actions:
        if not action.is_prepaid:
            continue
        cost = action.cost
        tried = (cost,) if cost is not None else (Money(Decimal(1), one) for one in _TRIED)
        if any(_is_asked(price, action, capabilities) for price in tried):
            continue
        what = "payments" if cost is None else f"payments of {cost}"
        yield Problem(
            "capabilities",
            f"the action {action.name!r} is prepaid, but no capability accepts {what}: add"
            " a section [capabilities.payments], or declare the action without prepaid.",
        )


def _is_asked(price: Money, action: Action, capabilities: PluginRegistry) -> bool:
    question = Pay(title=action.summary, price=price, action=action.name)
    asking = Asking(id=f"{QUESTION_PREFIX}_{action.name}", question=question, call_id="call_none")
    return any(can_plugin_ask(one, asking) for one in capabilities.askers)
