"""A client that signs its requests to an aitp-desk, with nothing but Python's standard library.

    $ export AITP_DESK_KEY_ID=… AITP_DESK_SECRET=…
    $ python signed_request.py POST http://127.0.0.1:8080/v1/threads '{}'

docs/build/oauth.md of aitp-desk describes what is signed and how.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
import time
import urllib.error
import urllib.request
from urllib.parse import urlsplit

SCHEME = "AITP-HMAC-SHA256"


def sign(
    method: str,
    target: str,
    body: bytes,
    *,
    key_id: str,
    secret: str,
    timestamp: int | None = None,
    nonce: str | None = None,
) -> str:
    """Return the Authorization header of one request. Sign repeated requests again.

    Parameters:
        method: in capitals.
        target: path and query exactly as sent.
        timestamp: Unix seconds; now if None.
        nonce: 16 to 128 characters that were never used before; made if None.
    """
    at = str(int(time.time()) if timestamp is None else timestamp)
    nonce = secrets.token_hex(16) if nonce is None else nonce
    digest = hashlib.sha256(body).hexdigest()
    text = "\n".join((SCHEME, method, target, at, nonce, digest))
    signature = hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
    return (
        f'{SCHEME} keyid="{key_id}", timestamp="{at}", nonce="{nonce}",'
        f' body="{digest}", signature="{signature}"'
    )


def main(method: str, url: str, text: str = "") -> int:
    """Send one signed request, print the response, and return 0 if it succeeded."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    body = text.encode()
    authorization = sign(
        method,
        target,
        body,
        key_id=os.environ["AITP_DESK_KEY_ID"],
        secret=os.environ["AITP_DESK_SECRET"],
    )
    headers = {"Authorization": authorization}
    if body:
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url, body or None, headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            print(response.read().decode())
    except urllib.error.HTTPError as error:
        print(error.read().decode(), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
