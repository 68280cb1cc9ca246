"""Wrapped quotes: each affiliate that passes a quote on signs all that came before.

A wrapper signs ``{"original_quote", "previous_wrappers", "new_wrapper"}``, the last without its
signature. ``next_recipient`` of a quote and of each wrapper names the next affiliate.

Source: AITP-01 1.0.0, Wrapped Quote Signature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aitp_payments.messages.signatures import canonical, is_signed
from aitp_payments.records import Share

SIGNATURE = "signature"
MOST_SHARES = 50


class BrokenChain(Exception):
    """A chain of wrappers is not valid.

    Parameters:
        reason: a sentence for the sender.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def wrapped_bytes(
    original: Mapping[str, Any], before: Sequence[Mapping[str, Any]], wrapper: Mapping[str, Any]
) -> bytes:
    """Return the signed bytes of a wrapper.

    Parameters:
        before: the earlier wrappers.

    Raises:
        ValueError: there is no canonical form.
    """
    new = {name: value for name, value in wrapper.items() if name != SIGNATURE}
    return canonical(
        {"original_quote": original, "previous_wrappers": list(before), "new_wrapper": new}
    )


def check_chain(
    original: Mapping[str, Any],
    wrappers: Sequence[Mapping[str, Any]],
    keys: Mapping[str, str],
) -> None:
    """Check that every wrapper was named and has signed all before it.

    The previous wrapper names it.

    Parameters:
        keys: public keys, by ids of affiliates.

    Raises:
        BrokenChain: names the invalid wrapper, and the reason.
    """
    expected = original.get("next_recipient")
    for place, wrapper in enumerate(wrappers):
        named = wrapper["affiliate_id"]
        if expected is not None and named != expected:
            raise BrokenChain(
                f"wrappers[{place}] must be by {expected}, whom the previous one names,"
                f" not by {named}."
            )
        key = keys.get(named)
        if key is None:
            raise BrokenChain(f"wrappers[{place}] is by {named}, which is not an affiliate here.")
        try:
            data = wrapped_bytes(original, wrappers[:place], wrapper)
        except ValueError as error:
            raise BrokenChain(f"wrappers[{place}] cannot be signed: {error}") from None
        if not is_signed(key, data, wrapper[SIGNATURE]):
            raise BrokenChain(
                f"wrappers[{place}] is not signed by {named}: the signature must cover the"
                " quote, the previous wrappers, and the wrapper without its signature."
            )
        expected = wrapper["next_recipient"]


def shares_of(
    original: Mapping[str, Any], wrappers: Sequence[Mapping[str, Any]]
) -> tuple[Share, ...]:
    """Return the affiliates of a quote: those that it names, its wrappers, and those that they add.

    A wrapper has the weight 1, unless it lists itself among those that it adds.

    Raises:
        BrokenChain: there are too many.
    """
    named = list(original.get("revenue_share", {}).get("affiliates", ()))
    for wrapper in wrappers:
        added = wrapper.get("added_affiliates", ())
        if wrapper["affiliate_id"] not in {one["id"] for one in added}:
            named.append({"id": wrapper["affiliate_id"], "role": wrapper["role"]})
        named += added
    weights = Counter[str]()
    roles: dict[str, str] = {}
    for one in named:
        weights[one["id"]] += one.get("weight", 1)
        roles.setdefault(one["id"], one["role"])
    if len(weights) > MOST_SHARES:
        raise BrokenChain(f"A quote can have at most {MOST_SHARES} affiliates.")
    return tuple(Share(id, roles[id], weight) for id, weight in weights.items())


def extends(wrappers: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a chain continues an earlier one, without removing an affiliate."""
    return list(wrappers[: len(before)]) == list(before)
