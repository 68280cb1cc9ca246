"""Identifies a credential, so that its validity can be checked later."""

from __future__ import annotations

import msgspec


class CredentialMark(msgspec.Struct, frozen=True, omit_defaults=True):
    """Distinguishes one credential of a caller from others; it proves nothing.

    Parameters:
        version: of an API key's or HMAC key's secret.
        token_id: ``jti`` of a token of another issuer.
        issued_at: Unix seconds, by that issuer's clock.
    """

    version: int | None = None
    token_id: str | None = None
    issued_at: int | None = None


UNMARKED = CredentialMark()
