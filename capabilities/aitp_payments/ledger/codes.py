"""Finds store-credit codes in text, so that none is stored."""

from __future__ import annotations

import re

from aitp_payments.ledger.accounts import CODE_LENGTH, plain_code

HIDDEN = "SC-…"
"""The replacement of a code."""
_SIGN = "[0-9A-Za-z]"
_DIGIT = re.compile("[0-9]")
_CALLED = re.compile(rf"(?<!{_SIGN})SC(?:[\s-]*{_SIGN}){{{CODE_LENGTH}}}(?!{_SIGN})", re.IGNORECASE)
"""A code as printed, with any separators."""
_BARE = re.compile(rf"(?<!{_SIGN})(?:{_SIGN}{{5}}-){{3}}{_SIGN}{{5}}(?!{_SIGN})")
"""A code without its prefix."""
_PAID_WITH = re.compile(
    rf"(?P<before>\b(?:pay|with|by|code)\W{{1,3}})(?P<code>{_SIGN}{{{CODE_LENGTH}}})(?!{_SIGN})",
    re.IGNORECASE,
)
"""A code in one word after a word for codes: signatures and ids look the same."""


def hide_codes(text: str) -> str:
    """Replace codes in a text, because their holder can spend them.

    Text without a digit is not a code.
    """
    if _DIGIT.search(text) is None:
        return text
    text = _BARE.sub(
        lambda found: _hidden(found[0]), _CALLED.sub(lambda one: _hidden(one[0]), text)
    )
    return _PAID_WITH.sub(lambda found: found["before"] + _hidden(found["code"]), text)


def _hidden(said: str) -> str:
    is_code = plain_code(said) is not None and any(one.isdigit() for one in said)
    return HIDDEN if is_code else said
