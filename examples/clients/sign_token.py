"""Signs a token that proves to an aitp-desk who is calling, with Python's standard library alone.

    $ python sign_token.py SECRET_FILE ISSUER AUDIENCE SUBJECT [SCOPE ...]

It prints a JWT (HS256) that is good for ten minutes. docs/build/authentication.md of aitp-desk
describes how the desk uses it.
"""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import sys
import time
from pathlib import Path

SECONDS = 600


def sign(secret: bytes, claims: dict[str, object]) -> str:
    """Return a token with these claims (RFC 7515, appendix A.1)."""
    header = {"alg": "HS256", "typ": "at+jwt"}
    signed = ".".join(_encode(json.dumps(part).encode()) for part in (header, claims))
    return f"{signed}.{_encode(hmac.digest(secret, signed.encode(), 'sha256'))}"


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


if __name__ == "__main__":
    secret_file, issuer, audience, subject, *scopes = sys.argv[1:]
    now = int(time.time())
    print(
        sign(
            Path(secret_file).read_bytes().strip(),
            {
                "iss": issuer,
                "aud": audience,
                "sub": subject,
                "iat": now,
                "exp": now + SECONDS,
                "jti": secrets.token_hex(16),
                "scope": " ".join(scopes),
            },
        )
    )
