"""Codes of store credit as they stand in words: found, so that no word of them is kept."""

from __future__ import annotations

import re

from aitp_payments.ledger.accounts import CODE_LENGTH, plain_code

HIDDEN = "SC-…"
"""What stands in place of a code."""
_SIGN = "[0-9A-Za-z]"
_CALLED = re.compile(rf"(?<!{_SIGN})SC(?:[\s-]*{_SIGN}){{{CODE_LENGTH}}}(?!{_SIGN})", re.IGNORECASE)
"""One as it is printed, however its signs are set apart."""
_BARE = re.compile(rf"(?<!{_SIGN})(?:{_SIGN}{{5}}-){{3}}{_SIGN}{{5}}(?!{_SIGN})")
"""One without what it begins with."""
_PAID_WITH = re.compile(
    rf"(?P<before>\b(?:pay|with|by|code)\W{{1,3}})(?P<code>{_SIGN}{{{CODE_LENGTH}}})(?!{_SIGN})",
    re.IGNORECASE,
)
"""One that is written as one word, and said to be one: signatures and ids look like that too."""


def hide_codes(text: str) -> str:
    """The same text without codes: whoever has one can spend what is on it.

    What has no digit is taken for words, not for a code.
    """
    text = _BARE.sub(
        lambda found: _hidden(found[0]), _CALLED.sub(lambda one: _hidden(one[0]), text)
    )
    return _PAID_WITH.sub(lambda found: found["before"] + _hidden(found["code"]), text)


def _hidden(said: str) -> str:
    is_code = plain_code(said) is not None and any(one.isdigit() for one in said)
    return HIDDEN if is_code else said
