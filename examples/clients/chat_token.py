"""Signs a token that names the visitor who is signed in on your site, for its chat.

    $ python chat_token.py SECRET_FILE ISSUER DESK PERSON

Your backend calls sign_visitor() and puts the result into the page, or returns it to the page's
script. The secret stays on your server. docs/run/chat.md of aitp-desk describes the rest.
"""

import base64
import hmac
import json
import sys
import time
from pathlib import Path

SECONDS = 600


def sign_visitor(secret: bytes, issuer: str, desk: str, person: str) -> str:
    """Return a token that is valid for ten minutes.

    Parameters:
        secret: the content of the issuer's ``secret_file`` in desk.toml.
        issuer: its ``url`` there.
        desk: the desk's ``site.url``.
        person: your id of the person, never one that another person gets later.
    """
    now = int(time.time())
    claims = {
        "iss": issuer,
        "aud": desk,
        "sub": person,
        "iat": now,
        "exp": now + SECONDS,
        "scope": "threads actions",
    }
    header = {"alg": "HS256", "typ": "JWT"}
    signed = ".".join(_encode(json.dumps(part).encode()) for part in (header, claims))
    return f"{signed}.{_encode(hmac.digest(secret, signed.encode(), 'sha256'))}"


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


if __name__ == "__main__":
    secret_file, *named = sys.argv[1:]
    print(sign_visitor(Path(secret_file).read_bytes().strip(), *named))
