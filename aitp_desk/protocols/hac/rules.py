"""Validates values of HAC documents (HAC 1.0, sections 3 to 8).

One function is one rule. It returns what is wrong and what would be right, as text, or an empty
text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, Literal, get_args

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
Mutability = Literal["read_only", "reversible", "irreversible"]
BlastRadius = Literal["self", "self_and_associated", "many", "all"]
FieldType = Literal["string", "number", "integer", "boolean", "array", "object"]

METHODS: Final[tuple[str, ...]] = get_args(Method)
MUTABILITIES: Final[tuple[str, ...]] = get_args(Mutability)
BLAST_RADII: Final[tuple[str, ...]] = get_args(BlastRadius)
FIELD_TYPES: Final[tuple[str, ...]] = get_args(FieldType)

READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""The methods that change nothing (RFC 9110, section 9.2.1)."""

_TOKEN = re.compile(r"[a-z0-9-]+", re.ASCII)
_REGISTERED = re.compile(
    r"convertedFrom|P3Pv1|openid2\.(?:local_id|provider)|interval(?:After|Before|Contains|Disjoint"
    r"|During|Equals|FinishedBy|Finishes|In|Meets|MetBy|OverlappedBy|Overlaps|StartedBy|Starts)"
)
"""The registered link relations that do not match the token pattern."""

_REFERENCE = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*", re.ASCII)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=:)", re.ASCII)
_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_VARIABLE = re.compile(
    r"((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*)"
    r"(?::[1-9][0-9]{0,3}|\*)?",
    re.ASCII,
)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")

_DURATION = re.compile(
    r"P(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?"
    r"(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?",
    re.ASCII,
)
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)

_OF_TYPE: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float, Decimal),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}


def relation(value: str) -> str:
    """Check a link relation: a registered one, a URI, or a token (section 4.2)."""
    if _TOKEN.fullmatch(value) or _REGISTERED.fullmatch(value):
        return ""
    if _SCHEME.match(value) and _REFERENCE.fullmatch(value) and not value.endswith(":"):
        return ""
    return (
        f"{shown(value)} is not a link relation; use a registered one, a URI, or"
        " lowercase letters, digits and hyphens."
    )


def reference(value: str, *, is_template: bool = True, is_requested: bool = True) -> str:
    """Check a URI reference or a template of one.

    Source: sections 3.3, 4.1 and 7.2; RFC 6570.

    Parameters:
        is_template: whether a template is allowed.
        is_requested: whether it is an address for HTTP requests.
    """
    if not value:
        return "is empty; it must be a URI."
    if not is_template and "{" in value:
        return f"{shown(value)} is a URI Template; write the URI itself."
    for expression in _EXPRESSION.finditer(value):
        if not all(_VARIABLE.fullmatch(one) for one in expression[2].split(",")):
            return f"{shown(expression[0])} is not an expression of a URI Template (RFC 6570)."
    literal = _EXPRESSION.sub("", value)
    if not _REFERENCE.fullmatch(literal) or _BAD_ESCAPE.search(literal):
        return f"{shown(value)} is not a URI; percent-encode other characters."
    scheme = _SCHEME.match(value)
    if is_requested and scheme and scheme[0].lower() not in {"http", "https"}:
        return f"{shown(value)} is not an address of HTTP; write a path, or an http or https URL."
    return ""


def variables(href: str) -> tuple[str, ...]:
    """Return the variables of a URI Template, in order (RFC 6570, section 2.3)."""
    found = (
        _VARIABLE.fullmatch(one)
        for expression in _EXPRESSION.finditer(href)
        for one in expression[2].split(",")
    )
    return tuple(dict.fromkeys(one[1] for one in found if one))


def filled(href: str, fields: Iterable[str]) -> str:
    """Check that an address's variables are fields of its action (section 4.4)."""
    if "{" not in href:
        return ""
    names = set(fields)
    missing = next((one for one in variables(href) if one not in names), None)
    if missing is None:
        return ""
    return f"has the variable {shown(missing)}, but no field has that name."


def distinct(names: Iterable[str]) -> str:
    """Check that the names of an action's fields are distinct (section 4.3)."""
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    return "" if twice is None else f"{shown(twice)} occurs twice."


def duration(value: str) -> str:
    """Check an ISO 8601 duration (section 5.3); stricter than the published pattern.

    The published pattern also accepts a bare ``P``.
    """
    if _DURATION.fullmatch(value):
        return ""
    return f"{shown(value)} is not an ISO 8601 duration; write one such as P30D or PT1H."


def window(reversible_within: str | None, mutability: str | None) -> str:
    """Check that only a reversible action has a time for undoing (section 5.3)."""
    if reversible_within is None or mutability == "reversible":
        return ""
    return "applies only if mutability is reversible; remove it."


def currency(value: str) -> str:
    """Check an ISO 4217 code (section 5.5)."""
    if _CURRENCY.fullmatch(value):
        return ""
    return f"{shown(value)} is not an ISO 4217 code; write one such as USD."


def amount(value: float | Decimal) -> str:
    """Check an amount of money that JSON can represent (section 5.5)."""
    return "" if math.isfinite(value) else "is not a JSON number; it must be finite."


def wait(seconds: int | None, *, retryable: bool) -> str:
    """Check the seconds to wait of a retryable error (section 6.1)."""
    if seconds is None:
        return ""
    if seconds < 0:
        return f"{seconds} is less than 0 seconds."
    return "" if retryable else "applies only if retryable is true; remove it."


def of_type(value: Any, kind: str) -> str:
    """Check that a value is of a field's type (section 4.3)."""
    taken = _OF_TYPE[kind]
    if isinstance(value, taken) and (kind == "boolean" or not isinstance(value, bool)):
        return ""
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return ""
    return f"does not match the field's type, {kind}."


def extension(name: str) -> str:
    """Check the name of a field that the specification does not define (section 8.2)."""
    if name.startswith("x-") and len(name) > len("x-"):
        return ""
    return f"{shown(name)} is not a field of the specification; custom names begin with x-."


def spoken(text: str) -> str:
    """Check that a text is not empty."""
    return "" if text.strip() else "is empty; it must be text."


def known(value: str, values: Sequence[str]) -> str:
    """Check that a value is one of a closed set."""
    return (
        ""
        if value in values
        else f"{shown(value)} is unknown; it must be one of {', '.join(values)}."
    )


def shown(value: str) -> str:
    """Return a value for a message: on one line, cut where it is long."""
    longest = 80
    return repr(value if len(value) <= longest else value[:longest] + "…")
