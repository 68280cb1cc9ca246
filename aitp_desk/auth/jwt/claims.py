"""Validates a token's claims against the rules of its issuer.

Sources: RFC 7519, section 4.1; RFC 8725, sections 3.8 to 3.12; RFC 9068, sections 2.2 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.model.errors import TokenRefused

MAX_SUBJECT_CHARACTERS = 255
MAX_TOKEN_ID_CHARACTERS = 255
MAX_AUDIENCES = 16
LAST_SECOND = 253_402_300_799
"""The end of the year 9999: no time in a token is later."""


class ClaimRules(msgspec.Struct, frozen=True):
    """The rules for the claims of an issuer's tokens.

    Parameters:
        audience: the required ``aud``.
        leeway: seconds by which two clocks may differ.
        max_lifetime: maximum seconds between a token's ``iat`` and ``exp``.
    """

    audience: str
    leeway: int
    max_lifetime: int


class Claims(msgspec.Struct, frozen=True):
    """The validated claims of a token.

    Parameters:
        issued_at: Unix seconds.
        ends_at: Unix seconds from which it is refused, leeway included.
        token_id: its ``jti``; None if it has none.
        client_id: the client it was issued to; None if it names none.
        scopes: its scopes under the issuer's names.
    """

    subject: str
    issued_at: int
    ends_at: int
    token_id: str | None
    client_id: str | None
    scopes: tuple[str, ...]


def read_claims(claims: Mapping[str, Any], bounds: ClaimRules, now: float) -> Claims:
    """Validate a token's claims, except ``iss``, which selected these rules.

    Parameters:
        now: Unix seconds.

    Raises:
        TokenRefused: a claim is missing, has the wrong type, or breaks a rule.
    """
    _check_audience(claims.get("aud"), bounds.audience)
    issued_at = _read_time(claims, "iat")
    expires_at = _read_time(claims, "exp")
    if now >= expires_at + bounds.leeway:
        raise TokenRefused("The token has expired.", reason="expired")
    if issued_at > now + bounds.leeway:
        raise TokenRefused("The token's iat is in the future. Check the clocks.")
    if "nbf" in claims and _read_time(claims, "nbf") > now + bounds.leeway:
        raise TokenRefused("The token is not valid yet (nbf). Check the clocks.")
    if expires_at <= issued_at:
        raise TokenRefused("The token expires before it was issued.")
    if expires_at - issued_at > bounds.max_lifetime:
        raise TokenRefused(
            f"The token is valid for more than {bounds.max_lifetime} seconds, which is too long."
        )
    subject = _read_text(claims, "sub", MAX_SUBJECT_CHARACTERS)
    if subject is None:
        raise TokenRefused("The token has no sub.")
    return Claims(
        subject=subject,
        issued_at=issued_at,
        ends_at=expires_at + bounds.leeway,
        token_id=_read_text(claims, "jti", MAX_TOKEN_ID_CHARACTERS),
        client_id=_read_text(claims, "client_id", MAX_SUBJECT_CHARACTERS),
        scopes=_read_scopes(claims),
    )


def _check_audience(audience: Any, own: str) -> None:
    named = [audience] if isinstance(audience, str) else audience
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise TokenRefused("The token's aud must be a string or a list of strings.")
    if len(named) > MAX_AUDIENCES:
        raise TokenRefused(f"The token's aud names more than {MAX_AUDIENCES} audiences.")
    if own not in named:
        raise TokenRefused("The token is for another audience (aud).")


def _read_time(claims: Mapping[str, Any], name: str) -> int:
    """Return a time in whole seconds; reject strings and fractions."""
    value = claims.get(name)
    if type(value) is not int or not 0 <= value <= LAST_SECOND:
        raise TokenRefused(f"The token's {name} must be a time in whole Unix seconds.")
    return value


def _read_text(claims: Mapping[str, Any], name: str, most: int) -> str | None:
    value = claims.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value or len(value) > most or not value.isprintable():
        raise TokenRefused(f"The token's {name} must be printable text of 1 to {most} characters.")
    return value


def _read_scopes(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a token's scopes: ``scope`` (RFC 8693, section 4.2), else ``scp``."""
    name = "scope" if "scope" in claims else "scp"
    value = claims.get(name, "")
    if isinstance(value, str):
        return tuple(value.split())
    if name == "scp" and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise TokenRefused(f"The token's {name} must be a string of names separated by spaces.")
