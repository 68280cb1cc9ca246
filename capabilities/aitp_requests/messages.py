"""The messages of AITP-02: ``request_decision``, and ``decision``, the reply.

Source: the published schema of AITP-02, version 1.0.0. Narrower rules are noted where they apply;
everything that these types write conforms to that schema too.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from aitp_desk.capability import Uncounted

Id = Annotated[str, Meta(min_length=1, max_length=200)]
Name = Annotated[str, Meta(max_length=200)]
Paragraph = Annotated[str, Meta(max_length=4000)]
# Only URLs that a page may link to: javascript: is a URI too.
Url = Annotated[
    str, Meta(max_length=2000, pattern="^https?://", extra_json_schema={"format": "uri"})
]
Moment = Annotated[datetime, Meta(tz=True)]
Kind = Literal["products", "checkbox", "radio", "confirmation"]


class PaymentPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """One way to pay a quote in full.

    Parameters:
        amount: in units of the currency, not in hundredths.
    """

    plan_id: Id
    plan_type: Literal["one-time"]
    amount: Annotated[float, Meta(ge=0, le=1e12)]
    currency: Literal["USD"]


class Quote(msgspec.Struct, frozen=True, omit_defaults=True):
    """The price of an option, and its expiry."""

    type: Literal["Quote"]
    quote_id: Id
    payee_id: Id
    payment_plans: Annotated[tuple[PaymentPlan, ...], Meta(max_length=20)]
    valid_until: Moment


class Variant(msgspec.Struct, frozen=True, omit_defaults=True):
    """A variant of a product, such as a colour or a size. It is chosen by its own id."""

    id: Id
    name: Name = ""
    short_variant_name: Name = ""
    image_url: Url | UnsetType = UNSET
    description: Paragraph = ""
    quote: Quote | UnsetType = UNSET
    reviews_count: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    five_star_rating: Annotated[float, Meta(ge=0, le=5)] | UnsetType = UNSET
    url: Url | UnsetType = UNSET


class Option(Variant, frozen=True, omit_defaults=True):
    """An option to choose; if it has variants, each of them is a choice too."""

    variants: Annotated[tuple[Variant, ...], Meta(max_length=50)] = ()


class RequestDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request for a decision.

    Parameters:
        id: the id that the decision names; unique on its thread.
        type: ``radio`` and ``confirmation`` take one option, ``checkbox`` one or several,
            ``products`` one or several with quantities.
        actor: who must answer; empty for any participant except the requester. This member and the
            two below are extensions of the desk.
        valid_until: when the request expires; by default after the site's ``open_for``.
        supersedes: id of an open request of the same actor that this one replaces.
    """

    id: Id
    options: Annotated[tuple[Option, ...], Meta(min_length=1, max_length=50)]
    title: Paragraph = ""
    description: Paragraph = ""
    type: Kind = "radio"
    actor: Name = ""
    valid_until: Moment | UnsetType = UNSET
    supersedes: Name = ""


class SelectedOption(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An option that was chosen.

    Parameters:
        id: of the option or variant.
        name: the name in the request; the sender's is ignored.
        quantity: how many; for products only.
    """

    id: Id
    name: Annotated[str, Meta(max_length=500)] = ""
    quantity: Annotated[float, Meta(gt=0, le=1_000_000)] | UnsetType = UNSET


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """The decision on a request.

    Parameters:
        request_decision_id: the request's id; optional if only one is open.
    """

    options: Annotated[tuple[SelectedOption, ...], Meta(min_length=1, max_length=1000)]
    request_decision_id: Name = ""


class RejectedDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rejected decision, stored on the thread in place of the original.

    Parameters:
        reason: the reason as a code.
        message: the reason as a sentence.
        options: the chosen options as received.
        request_decision_id: the request that it names or was matched with.
    """

    reason: Uncounted
    message: str
    options: tuple[SelectedOption, ...]
    request_decision_id: Name = ""


MESSAGES: dict[str, type[msgspec.Struct]] = {
    "request_decision": RequestDecision,
    "decision": Decision,
}
"""The keys of a message, without ``$schema``; a message has exactly one."""
OWN: dict[str, type[msgspec.Struct]] = {"rejected_decision": RejectedDecision}
"""The desk's own messages, which AITP-02 does not define."""
