"""A signed token that breaks a rule proves nothing, and its refusal names the rule."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.auth.jwt.compact import MAX_TOKEN_CHARACTERS
from aitp_desk.model.errors import TokenRefused
from tests.support.access.identity_provider import (
    SECRET,
    base64url,
    private_key,
    public_jwk,
    sign,
    sign_raw,
)
from tests.support.access.issuers import (
    ALGORITHMS,
    DESK,
    GOOD,
    LOGIN,
    NOW,
    SHARED,
    TOKENS,
    decoded,
    good,
    hs256_with,
    prove,
)


def pem(algorithm: str) -> bytes:
    private = private_key(algorithm)
    assert not isinstance(private, str)
    return private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def segment(token: str, place: int, text: str) -> str:
    parts = token.split(".")
    parts[place] = text
    return ".".join(parts)


def header_of(**members: Any) -> str:
    return base64url(json.dumps({"typ": "JWT", "kid": "EdDSA-first", **members}))


BODY = json.dumps(good())

HEAD = '{"alg":"EdDSA","kid":"EdDSA-first"}'


def as_der() -> str:
    """An ES256 signature as certificates have it (RFC 7518, section 3.4, has two numbers)."""
    raw = decoded(TOKENS["ES256"].split(".")[2])
    return base64url(encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:])))


def with_the_order_added() -> str:
    """An Ed25519 signature whose second half is as much the same number (RFC 8032, 5.1.7)."""
    raw = decoded(GOOD.split(".")[2])
    order = 2**252 + 27742317777372353535851937790883648493
    half = int.from_bytes(raw[32:], "little") + order
    return base64url(raw[:32] + half.to_bytes(32, "little"))


def sign_with_pss() -> str:
    """A token that says RS256, signed with the same key in another way."""
    private = private_key("RS256")
    assert isinstance(private, RSAPrivateKey)
    signed = TOKENS["RS256"].rpartition(".")[0]
    padded = PSS(mgf=MGF1(SHA256()), salt_length=32)
    return f"{signed}.{base64url(private.sign(signed.encode(), padded, SHA256()))}"


def with_end(end: str) -> str:
    """A token whose ``exp`` is written so."""
    return sign_raw(HEAD, BODY.replace(f"{NOW + 600}", end), "EdDSA")


REFUSED: dict[str, tuple[str, str]] = {
    # the algorithm is the key's, never the token's (RFC 8725, 3.1)
    "none": (segment(GOOD, 0, header_of(alg="none")), "alg"),
    "none, unsigned": (segment(segment(GOOD, 0, header_of(alg="none")), 2, ""), "signature"),
    "none in other letters": (segment(GOOD, 0, header_of(alg="nOnE")), "alg"),
    "no algorithm": (sign_raw('{"kid":"EdDSA-first"}', BODY, "EdDSA"), "alg"),
    "an algorithm that is a list": (sign(good(), alg=["EdDSA"]), "alg"),
    "an empty algorithm": (sign(good(), alg=""), "alg"),
    "a longer hash": (sign(good(), alg="RS512"), "alg"),
    "PS256": (sign(good(), alg="PS256"), "alg"),
    "the public RSA key as a secret": (
        hs256_with(pem("RS256"), good(), kid="RS256-first"),
        "alg",
    ),
    "the public key of a curve as a secret": (
        hs256_with(pem("ES256"), good(), kid="ES256-first"),
        "alg",
    ),
    "a public key as the secret of who signs with one": (
        hs256_with(pem("RS256"), good("HS256")),
        "signature",
    ),
    "a public key where a secret is meant": (
        sign(good("HS256"), "EdDSA"),
        "alg",
    ),
    "an algorithm that is not the key's": (sign(good(), alg="ES256"), "no key"),
    "one key with another's algorithm": (sign(good(), "RS256", kid="EdDSA-first"), "no key"),
    "an empty secret": (hs256_with(b"", good("HS256")), "signature"),
    # the key is the issuer's (3.10)
    "another key": (sign(good(), name="other", kid="EdDSA-first"), "signature"),
    "a key that nobody knows": (sign(good(), kid="unknown"), "no key"),
    "a path as kid": (sign(good(), kid="../../../../dev/null"), "no key"),
    "SQL as kid": (sign(good(), kid="x' UNION SELECT 'secret"), "no key"),
    "a URL as kid": (sign(good(), kid="https://evil.example/keys"), "no key"),
    "a command as kid": (sign(good(), kid="|/bin/sh -c id"), "no key"),
    "an empty kid": (sign(good(), kid=""), "kid"),
    "a long kid": (sign(good(), kid="k" * 257), "kid"),
    "a kid of two lines": (sign(good(), kid="a\r\nX-Admin: 1"), "kid"),
    "a kid with a NUL": (sign(good(), kid="EdDSA-first\0"), "kid"),
    "a kid that is a number": (sign(good(), kid=7), "kid"),
    "a kid that is a list": (sign(good(), kid=["EdDSA-first"]), "kid"),
    "its own key": (sign(good(), name="other", jwk=public_jwk("EdDSA", "other")), "jwk"),
    "the address of its key": (sign(good(), jku="https://evil.example/keys"), "jku"),
    "the address of a certificate": (sign(good(), x5u="https://evil.example/c"), "x5u"),
    "a certificate": (sign(good(), x5c=["MIIB"]), "x5c"),
    # no more than a signature
    "what must be understood": (sign(good(), crit=["exp"], exp=1), "crit"),
    "nothing that must be understood": (sign(good(), crit=[]), "crit"),
    "unencoded claims": (sign(good(), b64=False, crit=["b64"]), "crit"),
    "encoded claims": (sign(good(), b64=True), "b64"),
    "a token in a token": (sign_raw('{"alg":"EdDSA","cty":"JWT"}', GOOD, "EdDSA"), "cty"),
    "a token as claims": (sign_raw(HEAD, GOOD, "EdDSA"), "JSON object"),
    "what is compressed": (sign(good(), zip="DEF"), "zip"),
    "what is encrypted": (f"{GOOD}.AAAA.BBBB", "encrypted"),
    "four parts": (f"{GOOD}.AAAA", "three parts"),
    "two parts": (GOOD.rpartition(".")[0], "three parts"),
    "dots": ("..", "header"),
    "one dot": (".", "three parts"),
    "a logout token": (sign(good(), typ="logout+jwt"), "typ"),
    "a proof of possession": (sign(good(), typ="dpop+jwt"), "typ"),
    "a typ that is a number": (sign(good(), typ=1), "typ"),
    # one way to be read
    "too long": (sign(good(pad="p" * MAX_TOKEN_CHARACTERS)), "longer than 8192"),
    "padding": (f"{GOOD}=", "signature"),
    "padding within": (GOOD.replace(".", "=.", 1), "header"),
    "bits that say nothing": (
        GOOD[:-1] + chr(ord(GOOD[-1]) + 1),  # a last letter of 64 bytes is A, Q, g or w
        "signature",
    ),
    "letters of base64": (segment(GOOD, 2, "+/" * 43), "signature"),
    "letters of no alphabet": (segment(GOOD, 1, "é" * 8), "claims"),
    "a part with one letter too many": (segment(GOOD, 2, "A" * 5), "signature"),
    "a line within": (f"{GOOD[:40]}\n{GOOD[40:]}", "is not base64url"),
    "no signature": (f"{GOOD.rpartition('.')[0]}.", "signature"),
    "a signature of zeros": (segment(TOKENS["ES256"], 2, base64url(bytes(64))), "signature"),
    "a signature whose end is beyond the curve": (
        segment(TOKENS["ES256"], 2, base64url(b"\xff" * 64)),
        "signature",
    ),
    "a signature in another form": (segment(TOKENS["ES256"], 2, as_der()), "signature"),
    "the same signature in another form": (segment(GOOD, 2, with_the_order_added()), "signature"),
    "an Edwards signature of zeros": (segment(GOOD, 2, base64url(bytes(64))), "signature"),
    "an RSA signature of zeros": (
        segment(TOKENS["RS256"], 2, base64url(bytes(256))),
        "signature",
    ),
    "a signature with other padding": (
        sign_with_pss(),
        "signature",
    ),
    "another's signature": (
        segment(GOOD, 2, sign(good(sub="eve")).split(".")[2]),
        "signature",
    ),
    "half a signature": (GOOD[:-42], "signature"),
    "a header member twice": (
        sign_raw('{"alg":"none","alg":"EdDSA","kid":"EdDSA-first"}', BODY, "EdDSA"),
        "each member once",
    ),
    "a claim twice": (sign_raw(HEAD, f'{{"sub":"eve",{BODY[1:]}', "EdDSA"), "each member once"),
    "a claim twice, in other letters": (
        sign_raw(HEAD, f'{{"\\u0073ub":"eve",{BODY[1:]}', "EdDSA"),
        "each member once",
    ),
    "a header that is a list": (sign_raw("[]", BODY, "EdDSA"), "JSON object"),
    "claims that are a text": (sign_raw(HEAD, '"aya"', "EdDSA"), "JSON object"),
    "a header of another coding": (sign_raw(HEAD.encode("utf-16"), BODY, "EdDSA"), "JSON object"),
    "a byte order mark": (sign_raw(HEAD, "\ufeff" + BODY, "EdDSA"), "JSON object"),
    "bytes that are no text": (sign_raw(HEAD, b'{"sub":"\xff"}', "EdDSA"), "JSON object"),
    "claims without a ground": (sign_raw(HEAD, '{"a":' + "[" * 5000, "EdDSA"), "JSON object"),
    "no number": (with_end("NaN"), "JSON object"),
    "no end of numbers": (with_end("Infinity"), "JSON object"),
    "a number of 5000 digits": (with_end("9" * 5000), "JSON object"),
    "something after the claims": (sign_raw(HEAD, BODY + "{}", "EdDSA"), "JSON object"),
    # whose it is and whom it is for (3.8, 3.9)
    "no issuer": (sign(good(iss=None)), "iss"),
    "an unknown issuer": (sign(good(iss="https://evil.example")), "iss"),
    "an issuer with a slash more": (sign(good(iss=LOGIN + "/")), "iss"),
    "several issuers": (sign(good(iss=[LOGIN])), "iss"),
    "another issuer whose key it is not": (sign(good("HS256", iss=SHARED)), "alg"),
    "no audience": (sign(good(aud=None)), "aud"),
    "another audience": (sign(good(aud="https://other.example")), "audience"),
    "an audience with a slash more": (sign(good(aud=DESK + "/")), "audience"),
    "no audience in the list": (sign(good(aud=[])), "audience"),
    "an audience that is an object": (sign(good(aud={DESK: 1})), "aud"),
    "an audience that is no text": (sign(good(aud=[DESK, 1])), "aud"),
    "too many audiences": (sign(good(aud=[DESK] * 17)), "16 audiences"),
    # when
    "an end long ago": (sign(good(iat=NOW - 900, exp=NOW - 30)), "expired"),
    "no end": (sign(good(exp=None)), "exp"),
    "an end that is a text": (sign(good(exp=str(NOW + 600))), "exp"),
    "an end that is a fraction": (sign(good(exp=NOW + 600.5)), "exp"),
    "an end that is a whole fraction": (sign(good(exp=NOW + 600.0)), "exp"),
    "an end that is true": (sign(good(exp=True)), "exp"),
    "an end that is null": (with_end("null"), "exp"),
    "an end after all years": (sign(good(exp=10**15)), "exp"),
    "an end before all years": (sign(good(exp=-1)), "exp"),
    "an end that no double holds": (with_end("1e999"), "exp"),
    "an end in scientific notation": (with_end("1.9e9"), "exp"),
    "too long a life": (sign(good(exp=NOW + 86_401)), "too long"),
    "no birth": (sign(good(iat=None)), "iat"),
    "a birth to come": (sign(good(iat=NOW + 31)), "future"),
    "a birth that is a text": (sign(good(iat="yesterday")), "iat"),
    "a birth after the end": (sign(good(iat=NOW + 20, exp=NOW + 10)), "before it was issued"),
    "a beginning to come": (sign(good(nbf=NOW + 31)), "not valid yet"),
    "a beginning that is a text": (sign(good(nbf="now")), "nbf"),
    # who
    "nobody": (sign(good(sub=None)), "sub"),
    "an empty name": (sign(good(sub="")), "sub"),
    "a name that is a number": (sign(good(sub=7)), "sub"),
    "a long name": (sign(good(sub="a" * 256)), "sub"),
    "a name of two lines": (sign(good(sub="aya\nadmin")), "sub"),
    "a name with a NUL": (sign(good(sub="aya\0")), "sub"),
    "half a letter": (sign_raw(HEAD, BODY.replace("aya", "\\ud800"), "EdDSA"), "sub"),
    "a jti that is a number": (sign(good(jti=1)), "jti"),
    "a long jti": (sign(good(jti="j" * 256)), "jti"),
    "a client that is a list": (sign(good(client_id=["aya"])), "client_id"),
    "scopes that are a list": (sign(good(scope=["threads"])), "scope"),
    "scopes that are a number": (sign(good(scope=1)), "scope"),
    "scp that is an object": (sign(good(scope=None, scp={"threads": True})), "scp"),
    "scp with a number": (sign(good(scope=None, scp=["threads", 1])), "scp"),
}  # fmt: skip


async def test_a_token_that_breaks_a_rule_is_refused_and_told_which(
    subtests: pytest.Subtests,
) -> None:
    for case, (token, rule) in REFUSED.items():
        with subtests.test(case=case):
            with pytest.raises(TokenRefused, match=rule) as caught:
                await prove(token)
            for said in (
                "aya",
                "evil",
                LOGIN,
                SECRET,
                *(part for part in token.split(".") if len(part) > 9),
            ):
                assert said not in caught.value.message


async def test_the_good_token_next_to_the_bad_ones_is_good() -> None:
    assert (await prove(GOOD)).principal.id == "jwt:login:aya"
    assert (await prove(sign_raw(HEAD, BODY, "EdDSA"))).principal.id == "jwt:login:aya"


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.="


@given(
    algorithm=st.sampled_from(ALGORITHMS),
    place=st.integers(0, 10_000),
    letter=st.sampled_from(_ALPHABET) | st.characters(),
    how=st.sampled_from(("change", "insert", "drop")),
)
async def test_a_token_with_any_letter_changed_is_refused(
    algorithm: str, place: int, letter: str, how: str
) -> None:
    token = TOKENS[algorithm]
    at = place % len(token)
    rest = token[at:] if how == "insert" else token[at + 1 :]
    changed = token[:at] + ("" if how == "drop" else letter) + rest
    if changed != token:
        with pytest.raises(TokenRefused):
            await prove(changed)


@given(st.binary(max_size=40).map(lambda raw: f"{base64url(raw)}.{base64url(raw)}.{raw!r}"))
async def test_no_text_makes_reading_a_token_fail_in_another_way(text: str) -> None:
    with pytest.raises(TokenRefused):
        await prove(text)
