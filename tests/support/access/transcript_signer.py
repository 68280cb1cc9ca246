"""Another party, which has a transcript and signs its head with its own key.

Written from ``docs/protocols/transcripts.md`` alone, with another implementation of RFC 8785 than
the desk's.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HEAD_TYPE = "aitp-desk-transcript-head+jws"


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign_head(head: Mapping[str, Any], key: Ed25519PrivateKey, **header: Any) -> dict[str, Any]:
    """What is sent to have the desk keep a signature.

    Parameters:
        header: members of the JWS header that are to be other ones.
    """
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": base64url(key.public_key().public_bytes_raw())}
    whole = {"alg": "EdDSA", "typ": HEAD_TYPE, "jwk": jwk, **header}
    protected = base64url(rfc8785.dumps(whole))
    signed = f"{protected}.{base64url(rfc8785.dumps(dict(head)))}"
    return {"seq": head["seq"], "jws": f"{protected}..{base64url(key.sign(signed.encode()))}"}
