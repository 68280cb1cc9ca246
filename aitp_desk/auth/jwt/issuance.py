"""Issues the desk's access tokens: JWTs that it signs itself.

Sources: RFC 9068 (JWT profile for access tokens), RFC 8037 (Ed25519).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aitp_desk.auth.jwt.signing_keys import KeyPair
from aitp_desk.store.records.clients import Client

ALGORITHM: Final = "EdDSA"
TYPE = "at+jwt"
"""The ``typ`` of access tokens (RFC 9068, section 2.1), so that no other JWT passes for one."""


def sign_token(
    pair: KeyPair,
    *,
    id_: str,
    issuer: str,
    client: Client,
    scopes: Sequence[str],
    now: int,
    expires_at: int,
) -> str:
    """Sign an access token (RFC 9068, section 2.2).

    Its subject is the client, because it represents no person.

    Parameters:
        pair: the current signing key.
        id_: of the token.
        issuer: the public URL of the desk, which is also the audience.
        now: Unix seconds, as is ``expires_at``.
    """
    import jwt  # imports all signing algorithms: deferred to the first token

    claims = {
        "iss": issuer,
        "aud": issuer,
        "sub": client.id,
        "client_id": client.id,
        "iat": now,
        "exp": expires_at,
        "jti": id_,
        "scope": " ".join(scopes),
    }
    headers = {"typ": TYPE, "kid": pair.id}
    return jwt.encode(claims, pair.private, algorithm=ALGORITHM, headers=headers)
