"""What Stripe's API refuses, as documented: parameters, amounts, lengths; for tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

Form = dict[str, Any]

ZERO = set("bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf".split())
THREE = set("bhd jod kwd omr tnd".split())
EVEN = set("isk ugx".split())
TWO = set("aed aud bgn brl cad chf czk dkk eur gbp hkd huf inr mxn myr nok nzd pln ron sek".split())
TWO |= set("sgd thb twd usd zar try".split())
SERVED = ZERO | THREE | EVEN | TWO
LEAST = {"usd": 50, "eur": 50, "gbp": 30, "jpy": 50, "chf": 50, "czk": 1500, "huf": 17500}
MOST = 99_999_999


class Refusal(Exception):
    """What Stripe answers in place of doing something."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str = "",
        param: str = "",
        type: str = "invalid_request_error",
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"type": type, "message": message, **(more or {})}
        if code:
            self.error["code"] = code
        if param:
            self.error["param"] = param


def decode(body: bytes) -> Form:
    """A form with brackets as the object that it means: lists by numbers from 0, in order."""
    tree: Form = {}
    for name, value in parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=bool(body)):
        head, *rest = re.findall(r"[^\[\]]+|\[[^\[\]]*\]", name)
        at, path = tree, [head, *(part[1:-1] for part in rest)]
        for part in path[:-1]:
            at = at.setdefault(part, {})
        at[path[-1]] = value
    form: Form = _lists(tree)
    return form


def _lists(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    if given and all(name.isdigit() for name in given):
        return [_lists(given[name]) for name in sorted(given, key=int)]
    return {name: _lists(value) for name, value in given.items()}


Check = Callable[[Any, str], Any]


def text(most: int = 5000) -> Check:
    """A text that is not empty, of so many characters at most."""

    def check(given: Any, param: str) -> str:
        if not isinstance(given, str):
            raise Refusal(400, "Invalid string", param=param)
        if not given:
            raise Refusal(
                400,
                f"You passed an empty string for '{param}'.",
                code="parameter_invalid_empty",
                param=param,
            )
        if len(given) > most:
            raise Refusal(400, f"Invalid string: must be at most {most} characters", param=param)
        return given

    return check


def one_of(*allowed: str) -> Check:
    """One of these words."""

    def check(given: Any, param: str) -> str:
        if given not in allowed:
            raise Refusal(400, f"Invalid {param}: must be one of {', '.join(allowed)}", param=param)
        return str(given)

    return check


def whole(given: Any, param: str) -> int:
    """A whole number above 0."""
    if not isinstance(given, str) or not re.fullmatch(r"\d+", given):
        raise Refusal(
            400, f"Invalid integer: {given}", code="parameter_invalid_integer", param=param
        )
    return int(given)


def yes_or_no(given: Any, param: str) -> bool:
    """``true`` or ``false``."""
    return str(one_of("true", "false")(given, param)) == "true"


def address(given: Any, param: str) -> str:
    """An address of the web."""
    if not re.fullmatch(r"https?://[^\s/]+[^\s]*", str(given)):
        raise Refusal(400, "Not a valid URL", code="url_invalid", param=param)
    return str(given)


def currency(given: Any, param: str) -> str:
    """A currency that is charged, in small letters."""
    if given not in SERVED:
        raise Refusal(400, f"Invalid currency: {given}.", param=param)
    return str(given)


def metadata(given: Any, param: str) -> dict[str, str]:
    """At most 50 members with short names and values."""
    if not isinstance(given, dict) or len(given) > 50:
        raise Refusal(400, "Metadata is an object of at most 50 keys.", param=param)
    for name, value in given.items():
        if len(name) > 40 or not isinstance(value, str) or len(value) > 500:
            raise Refusal(400, "Metadata keys have 40 characters, values 500.", param=param)
    return dict(given)


def words(given: Any, param: str) -> list[str]:
    """A list of words."""
    return [text(60)(one, param) for one in given]


def shape(members: Mapping[str, Check], *required: str) -> Check:
    """An object of these members and no other."""

    def check(given: Any, param: str) -> Form:
        if not isinstance(given, dict):
            raise Refusal(400, "Invalid object", param=param)
        at = "{}".format if not param else f"{param}[{{}}]".format
        for name in given:
            if name not in members:
                raise Refusal(
                    400,
                    f"Received unknown parameter: {at(name)}",
                    code="parameter_unknown",
                    param=at(name),
                )
        for name in required:
            if name not in given:
                raise Refusal(
                    400,
                    f"Missing required param: {at(name)}.",
                    code="parameter_missing",
                    param=at(name),
                )
        return {name: members[name](value, at(name)) for name, value in given.items()}

    return check


def each(check: Check) -> Check:
    """A list of such."""

    def check_all(given: Any, param: str) -> list[Any]:
        if not isinstance(given, list) or not given:
            raise Refusal(400, "Invalid array", param=param)
        return [check(one, f"{param}[{place}]") for place, one in enumerate(given)]

    return check_all


def check_amount(count: int, code: str) -> None:
    """Refuse an amount that is not charged."""
    if count < LEAST.get(code, 1):
        raise Refusal(
            400,
            f"Amount must be at least {LEAST.get(code, 1)} {code}",
            code="amount_too_small",
            param="amount",
        )
    if count > MOST:
        raise Refusal(
            400, f"Amount must be no more than {MOST}", code="amount_too_large", param="amount"
        )
    if code in EVEN and count % 100:
        raise Refusal(
            400,
            f"Invalid amount. Charged amounts must be evenly divisible by 100: {code}",
            code="invalid_charge_amount_no_decimal_compatible",
        )
    if code in THREE and count % 10:
        raise Refusal(400, f"Invalid amount: the last digit is 0 for {code}", param="amount")


PRODUCT = shape({"name": text(250), "description": text(5000), "metadata": metadata}, "name")
PRICE = shape(
    {"currency": currency, "unit_amount": whole, "product_data": PRODUCT},
    "currency",
    "unit_amount",
    "product_data",
)
LINE = shape({"price_data": PRICE, "quantity": whole}, "price_data", "quantity")
SWITCH = shape({"enabled": yes_or_no}, "enabled")
SESSION = shape(
    {
        "mode": one_of("payment"),
        "line_items": each(LINE),
        "success_url": address,
        "cancel_url": address,
        "client_reference_id": text(200),
        "customer_email": text(512),
        "expires_at": whole,
        "metadata": metadata,
        "payment_intent_data": shape({"metadata": metadata, "description": text(1000)}),
        "allowed_payment_method_types": words,
        "adaptive_pricing": SWITCH,
        "locale": text(10),
        "submit_type": one_of("auto", "pay", "book", "donate"),
    },
    "mode",
    "line_items",
    "success_url",
)
INTENT = shape(
    {
        "amount": whole,
        "currency": currency,
        "confirm": yes_or_no,
        "payment_method": text(255),
        "automatic_payment_methods": shape(
            {"enabled": yes_or_no, "allow_redirects": one_of("always", "never")}, "enabled"
        ),
        "allowed_payment_method_types": words,
        "return_url": address,
        "description": text(1000),
        "metadata": metadata,
    },
    "amount",
    "currency",
)
REFUND = shape(
    {
        "payment_intent": text(255),
        "amount": whole,
        "metadata": metadata,
        "reason": one_of("duplicate", "fraudulent", "requested_by_customer"),
    },
    "payment_intent",
)
NOTHING = shape({})
