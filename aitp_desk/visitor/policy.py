"""What a visit may do alone, and what it may spend.

HAC 1.0, section 12.3, has the decision framework.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from yarl import URL

from aitp_desk.model.money import Money
from aitp_desk.visitor.base import Quote, SiteAction
from aitp_desk.visitor.errors import NotConfirmed, NotOffered, PolicyRefused

WIDE = frozenset({"many", "all"})
"""The blast radii whose calls are always confirmed (HAC 1.0, section 5.2)."""

_AGREEMENT = frozenset(
    "yes ok okay sure agree accept confirm buy order pay proceed continue go ja oui si sí sim da"
    " tak ano áno ναι evet igen kyllä jah taip jā bestätigen kaufen bezahlen はい 是 确认 確認 예"
    " 네 да так हाँ نعم כן".split()
)
"""The first words of labels that agree to something, in many languages."""


class PlannedCall(msgspec.Struct, frozen=True):
    """A call that a person is asked to confirm.

    Parameters:
        reasons: why the person is asked, each a sentence.
        quote: the price, if this confirms a payment.
    """

    site: str
    action: SiteAction
    arguments: Mapping[str, Any]
    reasons: tuple[str, ...]
    quote: Quote | None = None


Confirm = Callable[[PlannedCall], Awaitable[bool]]


async def refuse(_call: PlannedCall) -> bool:
    """Confirm nothing: the default without a person."""
    return False


class Policy(msgspec.Struct, frozen=True):
    """What a visit may do.

    Parameters:
        confirm: asks a person.
        budget: the most that this visit may spend, in one currency; None: nothing.
        seconds: the most that the visit may wait for the site, over all requests.
        tokens: the most tokens that the site may say its answers took; None: no limit.
        origins: further origins, besides the site's own, that calls may be sent to.
        authorized: names of actions that the person has already agreed to, unless they cost money.
    """

    confirm: Confirm = refuse
    budget: Money | None = None
    seconds: float = 120.0
    tokens: int | None = None
    origins: frozenset[str] = frozenset()
    authorized: frozenset[str] = frozenset()


def find_reasons(action: SiteAction, policy: Policy) -> tuple[str, ...]:
    """Return why a call needs a person, each reason a sentence; none if it needs nobody.

    HAC 1.0, sections 5.1 to 5.5 and 12.3. An action whose site declares no safety counts as one
    that cannot be undone. What affects much is confirmed even if its name is authorized.
    """
    reasons: list[str] = []
    if action.has_cost or action.cost is not None:
        price = f"{action.cost}" if action.cost is not None else "an amount that the site names"
        reasons.append(f"It costs {price}.")
    safety = action.safety
    if safety is not None and safety.blast_radius in WIDE:
        reasons.append(f"It affects {safety.blast_radius}.")
    if action.name in policy.authorized:
        return tuple(reasons)
    if safety is None:
        reasons.append("The site does not say whether it can be undone.")
        return (*reasons, *_list_preconditions(action))
    is_change = safety.mutability != "read_only"
    if safety.mutability == "irreversible":
        reasons.append("It cannot be undone.")
    if is_change and safety.blast_radius == "self_and_associated":
        reasons.append("It affects what belongs to its subject as well.")
    if safety.confirmation_recommended:
        reasons.append("The site recommends confirming it.")
    if is_change:
        reasons += _list_preconditions(action)
    if reasons and safety.reversible_within:
        reasons.append(f"It can be undone within {safety.reversible_within}.")
    return tuple(reasons)


def _list_preconditions(action: SiteAction) -> tuple[str, ...]:
    """Return what the site requires first, which only the person can judge."""
    return tuple(f"The site requires: {one.description}" for one in action.preconditions)


def is_repeatable(action: SiteAction) -> bool:
    """Return whether a call whose response was lost may be sent again."""
    safety = action.safety
    return action.idempotent or (safety is not None and safety.mutability == "read_only")


def is_agreement(label: str) -> bool:
    """Return whether choosing a label of a site's question could agree to something."""
    words = re.split(r"[\s,.!:;。、，！-]+", label.strip().casefold(), maxsplit=1)
    return words[0] in _AGREEMENT


def check_origin(action: SiteAction, own: str, policy: Policy) -> None:
    """Refuse a call to an origin that the policy does not name.

    Parameters:
        own: the visited site's origin.

    Raises:
        PolicyRefused: it would be sent elsewhere.
    """
    if action.origin != own and action.origin not in policy.origins:
        raise PolicyRefused(f"{action.name} would be sent to {action.origin}, not to {own}.")


async def confirm_call(call: PlannedCall, policy: Policy, confirm: Confirm) -> None:
    """Have a person confirm a call, if it needs one.

    Parameters:
        call: its reasons are found here.

    Raises:
        NotOffered: an argument that the site requires is missing; no person is asked.
        NotConfirmed: the person said no.
    """
    action = call.action
    reasons = find_reasons(action, policy)
    if not reasons:
        return
    required = action.input_schema.get("required")
    names = required if isinstance(required, list) else ()
    if missing := [one for one in names if isinstance(one, str) and one not in call.arguments]:
        raise NotOffered(f"{action.name} needs {', '.join(missing)} as well.")
    if not await confirm(msgspec.structs.replace(call, reasons=reasons)):
        raise NotConfirmed(f"{action.name} was not confirmed: {' '.join(reasons)}")


async def confirm_yes(site: str, question: str, policy: Policy) -> None:
    """Have a person confirm a yes to a question of the site's.

    Raises:
        NotConfirmed: the person said no.
    """
    reasons = ("The site asks whether to go ahead.",)
    action = SiteAction("yes", question, str(URL(site).origin()))
    if not await policy.confirm(PlannedCall(site, action, {}, reasons)):
        raise NotConfirmed("The yes to the site's question was not confirmed.")
