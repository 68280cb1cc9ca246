"""Rules for requests that the desk signs without a person. Pure.

A rule allows what matches all its members. It allows no caller and no content that it does not
name; people decide about the rest.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_sign.evm import transactions as evm_transactions
from aitp_sign.near import transactions as near_transactions
from aitp_sign.policy.patterns import pattern_of
from aitp_sign.subjects import (
    EvmCall,
    NearCall,
    NearMessage,
    PersonalMessage,
    Scheme,
    Signed,
    Statement,
    Typed,
)

EVERYBODY = "*"
Amount = Annotated[str, Meta(pattern="^(0|[1-9][0-9]{0,77})$")]


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[capabilities.sign.policy]]``.

    Parameters:
        callers: who may ask: ids of callers, such as ``key:…``; ``*`` for all.
        schemes: allowed schemes; empty for all that fit.
        text: a pattern that the whole text matches (:mod:`aitp_sign.policy.patterns`); empty for no
            text. Its classes, such as that of digits, are ASCII only, because other digits and
            letters look the same.
        recipients: allowed recipients of texts; empty for all.
        typed_data: typed data by the names of domain and type, such as ``Mail/Order``.
        receivers: allowed receivers of transactions, which may only pay.
        most: maximum payment and cost of a transaction, in the smallest unit.
        per_day: maximum signatures by this rule in a day, UTC.
    """

    callers: Annotated[tuple[str, ...], Meta(min_length=1)]
    schemes: tuple[Scheme, ...] = ()
    text: str = ""
    recipients: tuple[str, ...] = ()
    typed_data: tuple[str, ...] = ()
    receivers: tuple[str, ...] = ()
    most: Amount = "0"
    per_day: Annotated[int, Meta(ge=1, le=1_000_000)] = 100

    def allows(self, subject: Signed, scheme: Scheme, caller: str | None) -> bool:
        """Return whether a subject may be signed for a caller. None is an anonymous caller."""
        who = EVERYBODY in self.callers or (caller is not None and caller in self.callers)
        if not who or (self.schemes and scheme not in self.schemes):
            return False
        match subject:
            case Statement(text, _, recipient) | NearMessage(text, _, recipient):
                is_for = not self.recipients or recipient in self.recipients
                return is_for and self._fits(text)
            case PersonalMessage(message):
                # a rule cannot have meant bytes in hex as a text
                return not message.startswith("0x") and self._fits(message)
            case Typed(data):
                named = f"{data.domain.get('name', '')}/{data.primary_type}"
                return named in self.typed_data
            case NearCall(transaction):
                return transaction.receiver_id in self.receivers and self._pays_near(subject)
            case EvmCall(transaction=called):
                is_transfer = called.data == "0x" and called.to in self.receivers
                pays = evm_transactions.value_of(called) + evm_transactions.most_fee_of(called)
                return is_transfer and pays <= int(self.most)

    def _fits(self, text: str) -> bool:
        return bool(self.text) and pattern_of(self.text).fits(text)

    def _pays_near(self, call: NearCall) -> bool:
        actions = call.transaction.actions
        is_transfer = all(action.type == "Transfer" for action in actions)
        return is_transfer and near_transactions.value_of(actions) <= int(self.most)


Otherwise = Literal["people", "nobody"]
"""Who decides about requests that no rule allows."""


def check_rules(rules: tuple[Rule, ...]) -> None:
    """Reject rules that allow nothing, or whose pattern is malformed.

    Raises:
        ValueError: names the rule and what is missing.
    """
    for index, rule in enumerate(rules):
        if not (rule.text or rule.typed_data or rule.receivers):
            raise ValueError(
                f"policy[{index}] allows nothing: give it a text, typed_data or receivers."
            )
        try:
            pattern_of(rule.text)
        except ValueError as error:
            raise ValueError(f"policy[{index}].text is not a valid pattern: {error}.") from None
