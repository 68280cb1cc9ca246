"""Answers of people to quotes, by form or by text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aitp_desk.capability import InvalidRequest
from aitp_payments.quotes.thread_records import AskedPayment
from aitp_payments.settlement.confirmations import told

PAY, NO = "pay", "no"
_PAYS = re.compile(r"(?:yes,? )?(?:i )?pay(?: now| it| this)?(?: (?:with|by))?(?: (?P<code>\S+))?")
_DECLINES = frozenset(
    {"no", "no thanks", "no thank you", "decline", "i decline", "don't pay", "do not pay", "cancel"}
)
_LONGEST_CODE = 100


def make_form(asked: AskedPayment, *, by_account: bool) -> dict[str, Any]:
    """Return the form that pays or declines a quote.

    Parameters:
        by_account: whether an account or store credit can pay it.
    """
    price = told(asked.quote.price)
    answer = {
        "type": "string",
        "title": f"Pay {price}?",
        "enum": [PAY, NO] if by_account else [NO],
    }
    if not by_account:
        return {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
    code = {
        "type": "string",
        "title": "Code of store credit",
        "description": "If it is empty, your account here pays.",
        "maxLength": _LONGEST_CODE,
    }
    properties = {"answer": answer, "code": code}
    return {"type": "object", "properties": properties, "required": ["answer"]}


def make_answer(asked: AskedPayment, given: Mapping[str, Any]) -> dict[str, Any]:
    """Build the message of a submitted form.

    Raises:
        InvalidRequest: it does not fit the form.
    """
    quote_id = asked.quote.quote_id
    if unknown := sorted(given.keys() - {"answer", "code"}):
        raise InvalidRequest(f"The form has no member {unknown[0]!r}.", param=unknown[0])
    code = given.get("code", "")
    if not isinstance(code, str) or len(code) > _LONGEST_CODE:
        raise InvalidRequest(
            f"code must be a text of at most {_LONGEST_CODE} characters.", param="code"
        )
    match given.get("answer"):
        case "pay":
            return approval(quote_id, code.strip())
        case "no":
            return {"decline_quote": {"quote_id": quote_id}}
        case _:
            raise InvalidRequest("answer must be pay or no.", param="answer")


def understand(text: str, asked: AskedPayment, *, by_account: bool) -> dict[str, Any] | None:
    """Parse a text as the answer to a quote; None if it is not one."""
    plain = " ".join(text.replace("’", "'").split()).strip(" .!")
    said = plain.lower()
    if said in _DECLINES:
        return {"decline_quote": {"quote_id": asked.quote.quote_id}}
    paid = _PAYS.fullmatch(said) if by_account else None
    if paid is None:
        return None
    code = paid["code"]
    if code is None:
        return approval(asked.quote.quote_id, "")
    # a code has a digit or a hyphen: "pay later" has no code
    return approval(asked.quote.quote_id, code.upper()) if _may_be_code(code) else None


def approval(quote_id: str, code: str) -> dict[str, Any]:
    """Build the message that pays a quote from an account, or by a code."""
    return {"approve_quote": {"quote_id": quote_id, **({"code": code} if code else {})}}


def _may_be_code(word: str) -> bool:
    return len(word) <= _LONGEST_CODE and any(one.isdigit() or one == "-" for one in word)
