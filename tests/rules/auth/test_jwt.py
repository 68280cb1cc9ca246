"""Tokens of others: what proves who is calling, and every way to be refused."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed448
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st
from multidict import CIMultiDict

from aitp_desk.auth.base64url import decode_base64url
from aitp_desk.auth.bearer import Bearer
from aitp_desk.auth.claims import Bounds, Claims
from aitp_desk.auth.compact import (
    MAX_TOKEN_CHARACTERS,
    Compact,
    read_compact,
)
from aitp_desk.auth.issuers import Issuer, Keys, Secret, introduce, types_of
from aitp_desk.auth.jwk import VerifyingKey, find_key, read_key
from aitp_desk.auth.presented import BEARER, Presented
from aitp_desk.auth.proof import Proof
from aitp_desk.auth.verified import REMEMBERED_SECONDS, Epoch, Verified
from aitp_desk.config import Issuer as IssuerSettings
from aitp_desk.model.errors import TokenRefused
from aitp_desk.model.principal import Principal, PrincipalKind, ProvenBy
from tests.issuing import (
    SECRET,
    base64url,
    claims_of,
    private_key,
    public_jwk,
    sign,
    sign_raw,
)

NOW = 1_800_000_000
LOGIN, SHARED, DESK = "https://login.example", "https://shared.example", "https://desk.example"
ALGORITHMS = ("EdDSA", "ES256", "RS256", "HS256")
_BOUNDS = Bounds(audience=DESK, leeway=30, max_lifetime=86_400)


class Published:
    """Keys that are at hand."""

    def __init__(self, *jwks: Any) -> None:
        self._keys = tuple(key for key in map(read_key, jwks) if key is not None)

    def withdraw(self) -> None:
        self._keys = ()

    async def find(self, key_id: str | None, algorithm: str) -> VerifyingKey | None:
        return find_key(self._keys, key_id, algorithm)


def issuer(
    keys: Keys, *algorithms: str, url: str = LOGIN, type: str = "", **settings: Any
) -> Issuer:
    settled = IssuerSettings(name="login" if url == LOGIN else "shared", url=url, **settings)

    async def introduce_as(claims: Claims) -> Principal:
        return introduce(settled, claims)

    return Issuer(
        url=url,
        algorithms=frozenset(algorithms or ALGORITHMS[:3]),
        keys=keys,
        bounds=_BOUNDS,
        types=types_of(type),
        introduce=introduce_as,
    )


async def never_changed() -> int:
    return 0


def desk(*issuers: Issuer, now: Callable[[], float] = lambda: NOW) -> Bearer:
    """What takes tokens of these issuers; by default one with a key of each kind, and a secret."""
    both = (
        issuer(Published(*map(public_jwk, ALGORITHMS[:3]))),
        issuer(Secret(SECRET.encode()), "HS256", url=SHARED),
    )
    return Bearer(issuers or both, Verified(Epoch(never_changed), now), now)


class Head(msgspec.Struct):
    """The head of a request."""

    presented: Presented
    headers: CIMultiDict[str] = msgspec.field(default_factory=CIMultiDict)
    method: str = "GET"
    target: str = "/"


async def prove(token: str, bearer: Bearer | None = None) -> Proof:
    return await (bearer or desk()).verify(Head(Presented(BEARER, token)))


def good(algorithm: str = "EdDSA", **others: Any) -> dict[str, Any]:
    return claims_of(SHARED if algorithm == "HS256" else LOGIN, DESK, NOW, **others)


# --- tokens that prove something ------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_a_token_proves_its_caller_until_it_expires(algorithm: str) -> None:
    token = sign(good(algorithm), algorithm)
    proof = await prove(token)
    name = "shared" if algorithm == "HS256" else "login"
    assert proof.principal == Principal(
        f"jwt:{name}:aya",
        PrincipalKind.USER,
        frozenset({"threads"}),
        "",
        proven_by=ProvenBy.JWT,
    )
    assert proof.until == NOW + 600 + 30


ACCEPTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no kid, and one key of the algorithm": ({}, {"kid": None}),
    "no typ": ({}, {"typ": None}),
    "an access token": ({}, {"typ": "at+jwt"}),
    "an access token by its whole name": ({}, {"typ": "Application/AT+JWT"}),
    "headers that nobody knows": ({}, {"x-own": {"a": [1.5]}}),
    "several audiences": ({"aud": ["https://other.example", DESK]}, {}),
    "claims that nobody knows": ({"amr": ["pwd"], "score": 0.5, "deep": {"a": None}}, {}),
    "a beginning": ({"nbf": NOW}, {}),
    "clocks that differ": ({"iat": NOW + 30, "nbf": NOW + 30}, {}),
    "an end a moment ago": ({"iat": NOW - 600, "exp": NOW - 29}, {}),
    "the longest life": ({"exp": NOW + 86_400}, {}),
    "the longest subject": ({"sub": "é" * 255}, {}),
}


@pytest.mark.parametrize("case", ACCEPTED)
async def test_what_issuers_write_is_taken(case: str) -> None:
    claims, header = ACCEPTED[case]
    assert (await prove(sign(good(**claims), **header))).principal.kind is PrincipalKind.USER


SCOPES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "words": ({"scope": "threads actions"}, {"threads", "actions"}),
    "scp as words": ({"scope": None, "scp": "threads actions"}, {"threads", "actions"}),
    "scp as a list": ({"scope": None, "scp": ["threads", "openid"]}, {"threads"}),
    "scope before scp": ({"scope": "threads", "scp": ["actions"]}, {"threads"}),
    "unknown ones": ({"scope": "openid threads  email"}, {"threads"}),
    "one action of all": ({"scope": "actions:book actions:X"}, {"actions:book"}),
    "none": ({"scope": None}, set()),
    "more than the issuer may give": ({"scope": "threads operator admin"}, {"threads"}),
    "its own names": ({"scope": "desk.talk"}, {"threads"}),
}


@pytest.mark.parametrize("case", SCOPES)
async def test_scopes_are_those_that_the_issuer_may_give(case: str) -> None:
    claims, scopes = SCOPES[case]
    keys = Published(public_jwk("EdDSA"))
    bearer = desk(issuer(keys, scope_names={"desk.talk": "threads"}))
    assert (await prove(sign(good(**claims)), bearer)).principal.scopes == scopes


async def test_who_operates_is_one_whom_the_issuer_may_name_so() -> None:
    keys = Published(public_jwk("EdDSA"))
    bearer = desk(issuer(keys, scopes=("operator", "actions:book")))
    principal = (
        await prove(sign(good(scope="operator admin actions actions:book")), bearer)
    ).principal
    assert principal.kind is PrincipalKind.OPERATOR
    assert principal.scopes == {"operator", "actions:book"}


@pytest.mark.parametrize(
    ("callers", "client", "kind"),
    [
        ("told", "aya", PrincipalKind.AGENT),
        ("told", "app", PrincipalKind.USER),
        ("told", None, PrincipalKind.USER),
        ("agents", None, PrincipalKind.AGENT),
        ("users", "aya", PrincipalKind.USER),
    ],
)
async def test_a_caller_is_a_person_or_a_program(
    callers: str, client: str | None, kind: PrincipalKind
) -> None:
    bearer = desk(issuer(Published(public_jwk("EdDSA")), callers=callers))
    assert (await prove(sign(good(client_id=client)), bearer)).principal.kind is kind


async def test_a_type_that_the_owner_wants_is_wanted() -> None:
    bearer = desk(issuer(Published(public_jwk("EdDSA")), type="application/AT+jwt"))
    assert (await prove(sign(good(), typ="at+jwt"), bearer)).principal.id == "jwt:login:aya"
    for type_ in ("JWT", None):
        with pytest.raises(TokenRefused, match="typ"):
            await prove(sign(good(), typ=type_), bearer)


# --- tokens that prove nothing --------------------------------------------------------------


def hs256_with(secret: bytes, claims: Mapping[str, Any], **header: Any) -> str:
    named = {"alg": "HS256", "typ": "JWT", **header}
    signed = f"{base64url(json.dumps(named))}.{base64url(json.dumps(claims))}"
    return f"{signed}.{base64url(hmac.digest(secret, signed.encode(), 'sha256'))}"


def pem(algorithm: str) -> bytes:
    private = private_key(algorithm)
    assert not isinstance(private, str)
    return private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def decoded(text: str) -> bytes:
    raw = decode_base64url(text)
    assert raw is not None
    return raw


def segment(token: str, place: int, text: str) -> str:
    parts = token.split(".")
    parts[place] = text
    return ".".join(parts)


def header_of(**members: Any) -> str:
    return base64url(json.dumps({"typ": "JWT", "kid": "EdDSA-first", **members}))


_TOKENS = {algorithm: sign(good(algorithm), algorithm) for algorithm in ALGORITHMS}
GOOD = _TOKENS["EdDSA"]
BODY = json.dumps(good())
HEAD = '{"alg":"EdDSA","kid":"EdDSA-first"}'


def as_der() -> str:
    """An ES256 signature as certificates have it (RFC 7518, section 3.4, has two numbers)."""
    raw = decoded(_TOKENS["ES256"].split(".")[2])
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
    signed = _TOKENS["RS256"].rpartition(".")[0]
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
    "a line within": (f"{GOOD[:40]}\n{GOOD[40:]}", "no base64url"),
    "no signature": (f"{GOOD.rpartition('.')[0]}.", "signature"),
    "a signature of zeros": (segment(_TOKENS["ES256"], 2, base64url(bytes(64))), "signature"),
    "a signature whose end is beyond the curve": (
        segment(_TOKENS["ES256"], 2, base64url(b"\xff" * 64)),
        "signature",
    ),
    "a signature in another form": (segment(_TOKENS["ES256"], 2, as_der()), "signature"),
    "the same signature in another form": (segment(GOOD, 2, with_the_order_added()), "signature"),
    "an Edwards signature of zeros": (segment(GOOD, 2, base64url(bytes(64))), "signature"),
    "an RSA signature of zeros": (
        segment(_TOKENS["RS256"], 2, base64url(bytes(256))),
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


@pytest.mark.parametrize("case", REFUSED)
async def test_a_token_that_breaks_a_rule_is_refused_and_told_which(case: str) -> None:
    token, rule = REFUSED[case]
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


async def test_the_good_token_beside_the_bad_ones_is_good() -> None:
    assert (await prove(GOOD)).principal.id == "jwt:login:aya"
    assert (await prove(sign_raw(HEAD, BODY, "EdDSA"))).principal.id == "jwt:login:aya"


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.="


@budget(max_examples=80)
@given(
    algorithm=st.sampled_from(ALGORITHMS),
    place=st.integers(0, 10_000),
    letter=st.sampled_from(_ALPHABET) | st.characters(),
    how=st.sampled_from(("change", "insert", "drop")),
)
async def test_a_token_with_any_letter_changed_is_refused(
    algorithm: str, place: int, letter: str, how: str
) -> None:
    token = _TOKENS[algorithm]
    at = place % len(token)
    rest = token[at:] if how == "insert" else token[at + 1 :]
    changed = token[:at] + ("" if how == "drop" else letter) + rest
    if changed != token:
        with pytest.raises(TokenRefused):
            await prove(changed)


@budget(max_examples=60)
@given(st.binary(max_size=40).map(lambda raw: f"{base64url(raw)}.{base64url(raw)}.{raw!r}"))
async def test_no_text_makes_reading_a_token_fail_in_another_way(text: str) -> None:
    with pytest.raises(TokenRefused):
        await prove(text)


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


@pytest.mark.parametrize("case", UNUSABLE)
def test_a_key_that_is_weak_malformed_or_for_something_else_is_not_used(case: str) -> None:
    assert read_key(UNUSABLE[case]) is None


@pytest.mark.parametrize("algorithm", ALGORITHMS[:3])
def test_a_key_is_for_the_algorithm_of_its_kind(algorithm: str) -> None:
    for jwk in (public_jwk(algorithm), public_jwk(algorithm, alg=None, use=None, kid=None)):
        key = read_key(jwk)
        assert key is not None
        assert (key.algorithm, key.id) == (algorithm, jwk.get("kid"))


async def test_a_verified_token_is_not_verified_again_until_it_expires_or_for_five_minutes() -> (
    None
):
    clock = [float(NOW)]
    published = Published(public_jwk("EdDSA"))
    bearer = desk(issuer(published), now=lambda: clock[0])
    assert (await prove(GOOD, bearer)).until == NOW + 630
    published.withdraw()
    clock[0] += REMEMBERED_SECONDS - 1
    proof = await prove(GOOD, bearer)
    assert await bearer.still_holds(proof)
    clock[0] += 1
    with pytest.raises(TokenRefused, match="no key"):
        await prove(GOOD, bearer)
    assert not await bearer.still_holds(proof)


async def test_a_token_holds_no_longer_than_its_end() -> None:
    clock = [float(NOW)]
    bearer = desk(now=lambda: clock[0])
    short = sign(good(exp=NOW + 10))
    proof = await prove(short, bearer)
    clock[0] += 39.9
    assert await bearer.still_holds(proof)
    clock[0] += 0.1
    assert not await bearer.still_holds(proof)
    with pytest.raises(TokenRefused, match="expired"):
        await prove(short, bearer)


async def test_a_token_without_a_kid_may_mean_only_one_key() -> None:
    two = issuer(Published(public_jwk("EdDSA"), public_jwk("EdDSA", "other")))
    with pytest.raises(TokenRefused, match="no key of this kid"):
        await prove(sign(good(), kid=None), desk(two))
    for name in ("first", "other"):
        assert (await prove(sign(good(), name=name), desk(two))).principal.id == "jwt:login:aya"


async def test_a_secret_that_is_too_short_verifies_nothing() -> None:
    short = issuer(Secret(b"short"), "HS256", url=SHARED)
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
    key.check(Compact(text, "EdDSA", None, "", {}))
    with pytest.raises(TokenRefused):
        key.check(Compact(text.replace(".hgy", ".hgz"), "EdDSA", None, "", {}))
