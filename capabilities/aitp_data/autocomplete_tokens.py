"""The ``autocomplete`` tokens of HTML, and the validation of values by token.

Source: HTML Living Standard, 4.10.18.7 Autofill. Unknown tokens are ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date

_SECRET = frozenset({"new-password", "current-password", "one-time-code"})
AS_IT_IS = frozenset({"new-password", "current-password"})
"""Tokens whose values keep spaces at their ends."""

_COUNTRIES = frozenset(
    (
        "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ"
        " BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM"
        " DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS"
        " GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN"
        " KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ"
        " MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM"
        " PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV"
        " SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI"
        " VN VU WF WS YE YT ZA ZM ZW"
    ).split()
)
_EMAIL = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}"
    r"@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
)
_TEL = re.compile(r"\+?[0-9 ()./-]{1,40}(?:(?:;ext=| ?(?:x|ext\.?) ?)[0-9]{1,10})?")
_NUMBER = re.compile(r"-?(?:[0-9]{1,40}(?:\.[0-9]{1,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_POSTAL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 -]{0,10}[A-Za-z0-9])?")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,8}")
_URL = re.compile(r"https?://[^\s/?#]{1,255}[^\s]{0,2000}", re.IGNORECASE)
_IMPP = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}:[^\s]{1,2000}")
_EXPIRY = re.compile(
    r"(?P<month>[0-9]{1,2})\s{0,3}[/-]\s{0,3}(?:20)?[0-9]{2}|20[0-9]{2}-(?P<last>[0-9]{2})"
)


def name_of(autocomplete: str) -> str:
    """Return the token that names a field's content: the last one except ``webauthn``."""
    tokens = autocomplete.lower().split()
    if len(tokens) > 1 and tokens[-1] == "webauthn":
        tokens.pop()
    return tokens[-1] if tokens else ""


def is_secret(token: str) -> bool:
    """Return whether values of a token are always sealed: passwords, codes, card data."""
    return token in _SECRET or token.startswith("cc-")


def is_email(text: str) -> bool:
    """Return whether a text is an e-mail address, as browsers check it."""
    return len(text) <= 254 and _EMAIL.fullmatch(text) is not None


def is_tel(text: str) -> bool:
    """Return whether a text is a telephone number, with an optional extension."""
    return _TEL.fullmatch(text) is not None and 3 <= sum(map(str.isdigit, text)) <= 25


def is_number(text: str) -> bool:
    """Return whether a text is a finite number, as browsers write it."""
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def is_card_number(text: str) -> bool:
    """Return whether a text has 12 to 19 digits with a valid check digit.

    Source: ISO/IEC 7812-1, annex B.
    """
    digits = bare_digits(text)
    if not re.fullmatch(r"[0-9]{12,19}", digits):
        return False
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + index % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def bare_digits(text: str) -> str:
    """Remove spaces and hyphens from a number."""
    return re.sub(r"[ -]", "", text)


def _is_expiry(text: str) -> bool:
    read = _EXPIRY.fullmatch(text)
    if read is None:
        return False
    return 1 <= int(read["month"] or read["last"]) <= 12


def _is_birthday(text: str) -> bool:
    try:
        return len(text) == 10 and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _is_whole(least: int, most: int) -> Callable[[str], bool]:
    form = re.compile(rf"[0-9]{{1,{len(str(most))}}}")
    return lambda text: form.fullmatch(text) is not None and least <= int(text) <= most


def _is(pattern: str | re.Pattern[str]) -> Callable[[str], bool]:
    form = re.compile(pattern)
    return lambda text: form.fullmatch(text) is not None


_DIGITS = _is(r"[0-9][0-9 ()./-]{0,30}")
_TEL_SAID = "a telephone number, such as +49 30 901820"

CHECKS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "email": (is_email, "an e-mail address, such as ada@example.com"),
    "tel": (is_tel, _TEL_SAID),
    "tel-country-code": (_is(r"\+?[0-9]{1,4}"), "a country calling code, such as +49"),
    "tel-national": (_DIGITS, _TEL_SAID),
    "tel-area-code": (_DIGITS, "digits"),
    "tel-local": (_DIGITS, "digits"),
    "tel-local-prefix": (_DIGITS, "digits"),
    "tel-local-suffix": (_DIGITS, "digits"),
    "tel-extension": (_is(r"[0-9]{1,10}"), "digits"),
    "postal-code": (_is(_POSTAL), "a postal code: letters and digits"),
    "country": (
        lambda text: text.upper() in _COUNTRIES,
        "a country code of two letters, such as DE",
    ),
    "cc-number": (is_card_number, "a valid card number; check its digits"),
    "cc-exp": (_is_expiry, "a month and a year, such as 08/29"),
    "cc-exp-month": (_is_whole(1, 12), "a month: 1 to 12"),
    "cc-exp-year": (_is(r"(?:20)?[0-9]{2}"), "a year, such as 2029"),
    "cc-csc": (_is(r"[0-9]{3,4}"), "three or four digits"),
    "bday": (_is_birthday, "a date, such as 1990-12-31"),
    "bday-day": (_is_whole(1, 31), "a day: 1 to 31"),
    "bday-month": (_is_whole(1, 12), "a month: 1 to 12"),
    "bday-year": (_is(r"[0-9]{4}"), "a year in four digits"),
    "url": (_is(_URL), "a URL that begins with http:// or https://"),
    "photo": (_is(_URL), "a URL that begins with http:// or https://"),
    "impp": (_is(_IMPP), "a URL of a messaging account, such as xmpp:ada@example.com"),
    "one-time-code": (_is(r"[A-Za-z0-9-]{1,64}"), "a code: letters and digits"),
    "language": (_is(_LANGUAGE), "a language tag, such as de or pt-BR"),
    "transaction-amount": (is_number, "an amount, such as 12.50"),
    "transaction-currency": (_is(r"[A-Za-z]{3}"), "a currency code of three letters, such as EUR"),
}
"""The check of a token's values, and its description, which follows "must be"."""
