"""Which keys signed tokens are verified with, and that their signatures are those of the RFCs."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ed448

from aitp_desk.auth.jwt.compact import CompactToken, read_compact
from aitp_desk.auth.jwt.issuers import SharedSecret
from aitp_desk.auth.jwt.jwk import VerifyingKey, read_key
from aitp_desk.model.errors import TokenRefused
from tests.support.access.identity_provider import base64url, public_jwk, sign
from tests.support.access.issuers import (
    ALGORITHMS,
    SHARED,
    Published,
    decoded,
    desk,
    good,
    hs256_with,
    issuer,
    prove,
)

# --- keys -----------------------------------------------------------------------------------


def _off_the_curve() -> dict[str, Any]:
    jwk = public_jwk("ES256")
    return {**jwk, "y": base64url(b"\1" * 32)}


_ED448 = base64url(ed448.Ed448PrivateKey.generate().public_key().public_bytes_raw())

UNUSABLE: dict[str, Any] = {
    "no object": "key",
    "no kind": public_jwk("EdDSA", kty=None),
    "a secret": {"kty": "oct", "k": base64url("s" * 32), "kid": "a", "alg": "HS256"},
    "a private key": public_jwk("EdDSA", d=base64url(b"\1" * 32)),
    "a key to encrypt with": public_jwk("RS256", use="enc"),
    "a key for other operations": public_jwk("RS256", key_ops=["encrypt"]),
    "operations that are a text": public_jwk("RS256", key_ops="verify"),
    "another algorithm than its kind's": public_jwk("RS256", alg="HS256"),
    "RSA with other padding": public_jwk("RS256", alg="PS256"),
    "Ed448": public_jwk("EdDSA", crv="Ed448", x=_ED448),
    "X25519": public_jwk("EdDSA", crv="X25519"),
    "31 bytes": public_jwk("EdDSA", x=base64url(b"\1" * 31)),
    "a number for bytes": public_jwk("EdDSA", x=1),
    "padded bytes": public_jwk("EdDSA", x=public_jwk("EdDSA")["x"] + "="),
    "another curve": public_jwk("ES256", crv="P-384"),
    "secp256k1": public_jwk("ES256", crv="secp256k1"),
    "a point off the curve": _off_the_curve(),
    "the point at zero": public_jwk("ES256", x=base64url(bytes(32)), y=base64url(bytes(32))),
    "a short coordinate": public_jwk("ES256", x=base64url(b"\1" * 31)),
    "half a point": public_jwk("ES256", y=None),
    "RSA of 1024 bits": public_jwk("RS256", n=base64url(b"\xc1" * 128)),
    "RSA of 2047 bits": public_jwk("RS256", n=base64url(b"\x7f" * 256)),
    "RSA of 16384 bits": public_jwk("RS256", n=base64url(b"\xc1" * 2048)),
    "an exponent of one": public_jwk("RS256", e=base64url(b"\1")),
    "an exponent of three": public_jwk("RS256", e=base64url(b"\3")),
    "an even exponent": public_jwk("RS256", e=base64url(b"\1\0\0\0")),
    "a long exponent": public_jwk("RS256", e=base64url(b"\1" * 200)),
    "no exponent": public_jwk("RS256", e=None),
    "a name that is a number": public_jwk("EdDSA", kid=1),
    "a long name": public_jwk("EdDSA", kid="k" * 257),
}


def test_a_key_that_is_weak_malformed_or_for_something_else_is_not_used(
    subtests: pytest.Subtests,
) -> None:
    for case, key in UNUSABLE.items():
        with subtests.test(case=case):
            assert read_key(key) is None


@pytest.mark.parametrize("algorithm", ALGORITHMS[:3])
def test_a_key_is_for_the_algorithm_of_its_kind(algorithm: str) -> None:
    for jwk in (public_jwk(algorithm), public_jwk(algorithm, alg=None, use=None, kid=None)):
        key = read_key(jwk)
        assert key is not None
        assert (key.algorithm, key.id) == (algorithm, jwk.get("kid"))


async def test_a_token_without_a_kid_may_mean_only_one_key() -> None:
    two = issuer(Published(public_jwk("EdDSA"), public_jwk("EdDSA", "other")))
    with pytest.raises(TokenRefused, match="no key of this kid"):
        await prove(sign(good(), kid=None), desk(two))
    for name in ("first", "other"):
        assert (await prove(sign(good(), name=name), desk(two))).principal.id == "jwt:login:aya"


async def test_a_secret_that_is_too_short_verifies_nothing() -> None:
    short = issuer(SharedSecret(b"short"), "HS256", url=SHARED)
    with pytest.raises(TokenRefused, match="signature"):
        await prove(hs256_with(b"short", good("HS256")), desk(short))


_RFC_CLAIMS = (
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
)

_RFC_MODULUS = (
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d"
    "4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexM"
    "dbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvU"
    "K-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
)

_RFC_RS256 = (
    f"eyJhbGciOiJSUzI1NiJ9.{_RFC_CLAIMS}.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOi"
    "Zj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnb"
    "yTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZ"
    "ESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUP"
    "QGe77Rw"
)

_RFC_ES256 = (
    f"eyJhbGciOiJFUzI1NiJ9.{_RFC_CLAIMS}.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djx"
    "La8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
)

RFC_VECTORS: dict[str, tuple[dict[str, str], str]] = {
    "RFC 7515, A.2": ({"kty": "RSA", "n": _RFC_MODULUS, "e": "AQAB"}, _RFC_RS256),
    "RFC 7515, A.3": (
        {
            "kty": "EC",
            "crv": "P-256",
            "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        },
        _RFC_ES256,
    ),
}


@pytest.mark.parametrize("vector", RFC_VECTORS)
def test_the_signatures_of_the_rfcs_are_right_and_any_other_is_not(vector: str) -> None:
    jwk, text = RFC_VECTORS[vector]
    key = read_key(jwk)
    assert key is not None
    key.check(read_compact(text))
    last = "A" if text[-1] != "A" else "Q"
    with pytest.raises(TokenRefused):
        key.check(read_compact(text[:-4] + "AAA" + last))


def test_the_secret_of_the_rfc_is_right() -> None:
    """RFC 7515, appendix A.1."""
    secret = decoded(
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
    )
    text = (
        f"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.{_RFC_CLAIMS}"
        ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    )
    VerifyingKey(None, "HS256", secret).check(read_compact(text))
    with pytest.raises(TokenRefused):
        VerifyingKey(None, "HS256", secret[::-1]).check(read_compact(text))


def test_an_edwards_signature_of_the_rfc_is_right() -> None:
    """RFC 8037, appendix A.4; what it signs is a plain text, hence no token."""
    key = read_key(
        {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    )
    text = (
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    )
    assert key is not None
    key.check(CompactToken(text, "EdDSA", None, "", {}))
    with pytest.raises(TokenRefused):
        key.check(CompactToken(text.replace(".hgy", ".hgz"), "EdDSA", None, "", {}))
