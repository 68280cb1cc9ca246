"""Message signatures: the vectors of RFC 9421 and of Web Bot Auth, and what is refused."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers
from http_message_signatures import (
    HTTPMessageSignaturesException,
    HTTPMessageVerifier,
    MappingKeyResolver,
    algorithms,
)
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from aitp_desk.auth.jwt.jwk import make_thumbprint, read_key
from aitp_desk.auth.web_bot_auth.message_signature import (
    MAX_FIELD,
    PublicKey,
    Request,
    Response,
    SignatureClaim,
    check_possession,
    covered_digest,
    covers_request,
    read_claim,
    verify_claim,
)
from aitp_desk.model.errors import NotAuthenticated

ED25519 = {"kty": "OKP", "crv": "Ed25519", "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}
P256 = {
    "kty": "EC",
    "crv": "P-256",
    "x": "qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA",
    "y": "Mc4nN9LTDOBhfoUeg8Ye9WedFRhnZXZJA12Qp0zZ6F0",
}
RSA = {
    "kty": "RSA",
    "e": "AQAB",
    "n": "r4tmm3r20Wd_PbqvP1s2-QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct-Lh1GH45x28Rw3Ry53mm"
    "-oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHqgDsznjPFmTOtCEcN2Z1FpWg"
    "chwuYLPL-Wokqltd11nqqzi-bJ9cvSKADYdUAAN5WUtzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA4"
    "85mqcO0GVAdVw9lq4aOT9v6d-nb4bnNkQVklLQ3fVAvJm-xdDOp9LCNCN48V2pnDOkFV6-U9nV5oyc6XI2w",
}
THUMBPRINTS = {
    "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U": ED25519,
    "oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA": RSA,
    "ydQXMtvbsOsZyFir-Y7A8t7fKEM1gbKPvyFkdpu4fvI": P256,
}
"""The keys of RFC 9421, appendix B.1, and what the draft calls them."""


def public(jwk: dict[str, str]) -> Any:
    key = read_key(jwk)
    assert key is not None
    return key.material


@pytest.mark.parametrize(("named", "jwk"), THUMBPRINTS.items())
def test_a_key_is_named_by_its_thumbprint(named: str, jwk: dict[str, str]) -> None:
    assert make_thumbprint(jwk) == named
    assert make_thumbprint({"use": "sig", "kid": "x", **jwk}) == named


# --- RFC 9421, appendix B.2 ------------------------------------------------------------------

TEST_REQUEST = Request(
    "POST",
    "https://example.com/foo?param=Value&Pet=dog",
    CIMultiDict(
        {
            "Host": "example.com",
            "Date": "Tue, 20 Apr 2021 02:07:55 GMT",
            "Content-Type": "application/json",
            "Content-Length": "18",
        }
    ),
)
TEST_RESPONSE = Response(
    200,
    CIMultiDict(
        {
            "Date": "Tue, 20 Apr 2021 02:07:56 GMT",
            "Content-Type": "application/json",
            "Content-Digest": "sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oG"
            "X69wWdXymyU0rjJuahq4l5aGgfLQ==:",
            "Content-Length": "23",
        }
    ),
    TEST_REQUEST,
)
B2 = [
    (
        TEST_RESPONSE,
        algorithms.ECDSA_P256_SHA256,
        public(P256),
        (
            'sig-b24=("@status" "content-type" "content-digest" "content-length")'
            ';created=1618884473;keyid="test-key-ecc-p256"'
        ),
        (
            "sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgP"
            "quLgyahnzDnDAUy5eCdlYUEkLIj+"
            "32oiasw==:"
        ),
    ),
    (
        TEST_REQUEST,
        algorithms.HMAC_SHA256,
        base64.b64decode(
            "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJ"
            "PBtbmHhIDi6pcl8jsasjlTMtDQ=="
        ),
        (
            'sig-b25=("date" "@authority" "content-type")'
            ';created=1618884473;keyid="test-shared-secret"'
        ),
        "sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:",
    ),
    (
        TEST_REQUEST,
        algorithms.ED25519,
        public(ED25519),
        (
            'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")'
            ';created=1618884473;keyid="test-key-ed25519"'
        ),
        (
            "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02G"
            "b04v9EDgwUPiu4A0w6vuQv5lIp5WP"
            "pBKRCw==:"
        ),
    ),
]


@pytest.mark.parametrize(
    ("message", "algorithm", "key", "signature_input", "signature"), B2, ids=["b24", "b25", "b26"]
)
def test_the_package_that_verifies_passes_the_vectors_of_the_rfc(
    message: Any, algorithm: Any, key: Any, signature_input: str, signature: str
) -> None:
    key_id = signature_input.split('keyid="')[1].rstrip('"')
    keys = MappingKeyResolver(public_keys={key_id: key}, private_keys={})
    verifier = HTTPMessageVerifier(signature_algorithm=algorithm, key_resolver=keys)
    headers = message.headers.copy()
    headers["Signature-Input"], headers["Signature"] = signature_input, signature
    assert verifier.verify(message._replace(headers=headers), max_age=None)
    headers["Content-Type"] = "text/plain"
    with pytest.raises(HTTPMessageSignaturesException):
        verifier.verify(message._replace(headers=headers), max_age=None)


# --- draft-ietf-webbotauth-httpsig-protocol-00, appendix "Test Vectors" ------------------------


def of_draft(key: str, label: str, alg: str, expires: int, nonce: str, signature: str) -> Any:
    """The headers of a vector; one without a label for its agent is of the older form."""
    agent = '"https://signature-agent.test"'
    component = f'"signature-agent";key="{label}"' if label else '"signature-agent"'
    return CIMultiDict(
        {
            "Signature-Agent": f"{label}={agent}" if label else agent,
            "Signature-Input": f'sig2=("@authority" {component});created=1735689600;keyid="{key}"'
            f';alg="{alg}";expires={expires};nonce="{nonce}";tag="web-bot-auth"',
            "Signature": f"sig2=:{signature}:",
        }
    )


ED, PSS = list(THUMBPRINTS)[:2]
DRAFT = {
    "ed25519": of_draft(
        ED,
        "agent2",
        "ed25519",
        4889289600,
        "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==",
        "RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==",
    ),
    "ed25519, older": of_draft(
        ED,
        "",
        "ed25519",
        1735693200,
        "e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==",
        "jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==",
    ),
    "rsa-pss": of_draft(
        PSS,
        "agent2",
        "rsa-pss-sha512",
        4889289600,
        "wcfPQPh7SzkvrIVvhD00vNk9PkxJNY2NVbYl2PVBB4zmUoluSwE7W6bPtF60QA3k8g06FU7PPCD+J58YofY1zg==",
        "gHzpLNeHaHIO19NaJH9YMW5dcVSi2s0wOMBr6p18vcofS106sfC4KBIS0/szPlBBd1vIcyQ88B6CTEWIhRAiVrb9z"
        "fX0mx1aG12CSGWcYkSirHeyTxhbuJvXd27ed6skWoy4PjXItq38936ivUQjfdIwXh1aX6HxkAC3vRnEdSNfntkLWe"
        "EuIQ5BLIOBGE39fSwg27Qjq6OVWYas/9/aFUr3HA34MXWYdp+//cvlEKDp3kRoLOw9ro0AOr6srHrTeEtxon2afcw"
        "s1aZVSlPdd2fZSEIGmw9HAHLDCEkFTERu1gH2k/zIEqgy7CAYXI9E5slog0cLg/Vc6+f8gih33g==",
    ),
    "rsa-pss, older": of_draft(
        PSS,
        "",
        "rsa-pss-sha512",
        1735693200,
        "XSHtZVCThSIAksXsH9WBs6AtxtXC0eQGiIcUGSoJstFs8lAWakjhrfwzLhyjtme5iXMZvmFWqDEs6cT3Jf+BbQ==",
        "I1QWNzGXdP1a4dSvOHLCVOOanEYHDk+ZsVxM9MLX/p4ko69ghKwR5EOtAD96g7g4GWP7lmpM/jFAf9q8EFRDTPLjU"
        "XySwMv4YPgabv2LQihTJG2y8a2m6IGltyruwQNiqSJVUuRaG9+b17CGmAMFZh30X6GXLdQJrCARpeTqPwp2DC+a8h"
        "aDE/VE5EruqzjA5/2mKwvrkzkSqeW5tOVtFwWRRHIOidquf/8Je6kM9mhgkg4arudLA5SL4wyyYE1jURIgcOl8agr"
        "fdJ5Def23DIRtiOLRa8jT9cpTLFAuFHN+mrZA/LH9h0gSIg1cPb+0cMASee5uku1KjWcFer7jWA==",
    ),
}


@pytest.mark.parametrize("headers", DRAFT.values(), ids=DRAFT)
def test_a_vector_of_the_draft_is_read_and_holds(headers: CIMultiDict[str]) -> None:
    claim = read_claim(headers)
    assert claim is not None
    assert (claim.label, claim.origin) == ("sig2", "https://signature-agent.test")
    assert claim.created == 1735689600
    key = public(THUMBPRINTS[claim.key_id])
    covered = verify_claim(claim, key, Request("GET", "https://example.com/x?y", headers))
    assert covered['"@authority"'] == "example.com"
    assert not covers_request(covered, "/x?y")
    assert covered_digest(covered) is None
    other = public(ED25519 if isinstance(key, RSAPublicKey) else RSA)
    for changed, with_key in [
        (Request("GET", "https://other.example/x?y", headers), key),
        (Request("GET", "https://example.com:444/x?y", headers), key),
        (Request("GET", "https://example.com/x?y", with_other_agent(headers)), key),
        (Request("GET", "https://example.com/x?y", headers), other),
    ]:
        with pytest.raises(NotAuthenticated):
            verify_claim(claim, with_key, changed)


def with_other_agent(headers: CIMultiDict[str]) -> CIMultiDict[str]:
    changed = headers.copy()
    changed["Signature-Agent"] = headers["Signature-Agent"].replace("-agent", "-other")
    return changed


BODY = (
    b'{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",'
    b'"x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs","use":"sig"}]}'
)
DIRECTORY = Response(
    200,
    CIMultiDict(
        {
            "Content-Digest": "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:",
            "Signature-Input": 'binding=("@authority";req "content-digest");created=1735689600'
            f';expires=4889289600;keyid="{ED}";tag="http-message-signatures-directory"',
            "Signature": "binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt"
            "0VQ9zqGfvo7T/U"
            "MkBxsigzChM1Gpz7gOVBg==:",
        }
    ),
    Request(
        "GET",
        "https://signature-agent.test/.well-known/http-message-signatures-directory",
        CIMultiDict(),
    ),
)


def test_the_signed_directory_of_the_draft_holds_and_nothing_that_was_changed_does() -> None:
    keys: dict[str, PublicKey] = {ED: public(ED25519)}
    check_possession(DIRECTORY, BODY, keys, 1_800_000_000)
    copied = DIRECTORY.request._replace(url="https://copied.test/.well-known/x")
    for response, body, listed, now in [
        (DIRECTORY, BODY + b" ", keys, 1_800_000_000),
        (DIRECTORY._replace(request=copied), BODY, keys, 1_800_000_000),
        (DIRECTORY, BODY, {}, 1_800_000_000),
        (DIRECTORY, BODY, {ED: public(RSA)}, 1_800_000_000),
        (DIRECTORY, BODY, keys, 1735689599),
        (DIRECTORY, BODY, keys, 4889289600),
    ]:
        with pytest.raises(ValueError, match=r"its? "):
            check_possession(response, body, listed, now)


def test_of_a_signed_directory_no_more_is_looked_at_than_takes_a_moment() -> None:
    keys: dict[str, PublicKey] = {ED: public(ED25519)}
    name, value = DIRECTORY.headers["Signature-Input"].split("=", 1)
    many = ", ".join(f"{name}{number}={value}" for number in range(9))
    covers_more = value.replace('"content-digest"', '"content-digest" "other";sf')
    for signature_input, other in [
        (f"{name}={value}, {many}", ""),
        (f"{name}={value};x=" + '"' + "x" * MAX_FIELD + '"', ""),
        (f"{name}={covers_more}", "a, " * 3000),
    ]:
        headers = CIMultiDict(DIRECTORY.headers)
        headers["Signature-Input"] = signature_input
        headers["Other"] = other
        with pytest.raises(ValueError, match="too m"):
            check_possession(DIRECTORY._replace(headers=headers), BODY, keys, 1_800_000_000)


# --- what is read, and what is not ------------------------------------------------------------

AGENT = 'sig1="https://agent.example"'
INPUT = (
    'sig1=("@authority" "signature-agent";key="sig1");created=1;expires=2'
    f';keyid="{ED}";tag="web-bot-auth"'
)


def claimed(signature_input: str = INPUT, agent: str = AGENT) -> SignatureClaim | None:
    return read_claim(CIMultiDict({"Signature-Input": signature_input, "Signature-Agent": agent}))


@pytest.mark.parametrize(
    ("agent", "origin"),
    [
        (AGENT, "https://agent.example"),
        ('sig1="https://Agent.Example:443/"', "https://agent.example"),
        ('sig1="HTTPS://agent.example:8443"', "https://agent.example:8443"),
        ('other="https://x.example", sig1="https://[2001:DB8::1]";type=directory', None),
        ('sig1="https://agent.example";x=1', "https://agent.example"),
    ],
)
def test_an_agent_is_known_by_its_origin(agent: str, origin: str | None) -> None:
    claim = claimed(agent=agent)
    assert claim is not None
    assert claim.origin == (origin or "https://[2001:db8::1]")


@pytest.mark.parametrize(
    ("signature_input", "agent"),
    [
        ("", AGENT),
        (INPUT.replace("web-bot-auth", "other"), AGENT),
        (INPUT.replace(';tag="web-bot-auth"', ""), AGENT),
        (INPUT.replace('"web-bot-auth"', "web-bot-auth"), AGENT),
        (INPUT, f"{AGENT};type=cimd"),
        (INPUT, f"{AGENT};type=jwks_uri"),
        (INPUT, 'sig1="https://agent.example/jwks.json";type=jwks_uri'),
        (INPUT, "sig1=5"),
    ],
)
def test_what_the_desk_takes_no_part_in_is_no_signature(signature_input: str, agent: str) -> None:
    assert claimed(signature_input, agent) is None


def test_a_claim_that_cannot_be_read_as_one_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        (INPUT, ""),
        (INPUT, "sig2=" + AGENT[5:]),
        (INPUT, 'sig1="agent.example"'),
        (INPUT, 'sig1="https://agent.example/path"'),
        (INPUT, 'sig1="https://agent.example?q"'),
        (INPUT, 'sig1="https://u:p@agent.example"'),
        (INPUT, 'sig1="https://agent.example."'),
        (INPUT, 'sig1="https://agent.example:99999"'),
        (INPUT, 'sig1="ftp://agent.example"'),
        (INPUT, 'sig1="https://äгent.example"'),
        (INPUT, f"{AGENT}, {AGENT}"),
        (INPUT, AGENT + " " * MAX_FIELD),
        (INPUT + " " * MAX_FIELD, AGENT),
        (f"{INPUT}, {INPUT}", AGENT),
        (f"{INPUT}, {INPUT.replace('sig1', 'sig2')}", AGENT),
        (INPUT.replace(' "signature-agent";key="sig1"', ""), AGENT),
        (INPUT.replace(";created=1", ""), AGENT),
        (INPUT.replace(";created=1", ";created=1.0"), AGENT),
        (INPUT.replace(";expires=2", ';expires="2"'), AGENT),
        (INPUT.replace(";expires=2", ""), AGENT),
        (INPUT.replace(ED, "short"), AGENT),
        (INPUT.replace(f';keyid="{ED}"', ""), AGENT),
        (f'{INPUT};nonce="{"n" * 257}"', AGENT),
        (f"{INPUT};nonce=5", AGENT),
        ('sig1="@authority";tag="web-bot-auth"', AGENT),
        ('sig1=("@authority"', AGENT),
        ('sig1=("a"' + ' "a"' * 40 + ');tag="web-bot-auth"', AGENT),
    ]
    for signature_input, agent in cases:
        told = subtests.test(signature_input=signature_input, agent=agent)
        with told, pytest.raises(NotAuthenticated):
            claimed(signature_input, agent)


def test_a_signature_covers_no_more_than_takes_a_moment_to_take_apart() -> None:
    covers = INPUT.replace('"@authority"', '"@authority" "one";sf "two";key="a"')
    for size, is_read in ((4000, True), (4100, False)):
        headers = CIMultiDict({"Signature-Input": covers, "Signature-Agent": AGENT})
        headers.extend({"One": "a" * size, "Two": "a" * 4100})
        if is_read:
            assert read_claim(headers)
        else:
            with pytest.raises(NotAuthenticated, match="8192 characters"):
                read_claim(headers)


@given(st.text(max_size=300), st.text(max_size=100), st.booleans())
def test_whatever_is_claimed_is_read_or_refused(text: str, agent: str, is_tagged: bool) -> None:
    signature_input = f'{INPUT.partition(";created")[0]}{text};tag="web-bot-auth"'
    try:
        claim = claimed(signature_input if is_tagged else text, agent)
    except NotAuthenticated:
        return
    assert claim is None or claim.origin.startswith(("https://", "http://"))


@pytest.mark.parametrize(
    ("covered", "target", "holds"),
    [
        ({'"@method"', '"@target-uri"'}, "/x?y", True),
        ({'"@method"', '"@authority"', '"@request-target"'}, "/x?y", True),
        ({'"@method"', '"@authority"', '"@path"', '"@query"'}, "/x?y", True),
        ({'"@method"', '"@authority"', '"@path"'}, "/x", True),
        ({'"@method"', '"@authority"', '"@path"'}, "/x?y", False),
        ({'"@method"', '"@authority"', '"@path"'}, "/x?", False),
        ({'"@method"', '"@authority"', '"@query"'}, "/x?y", False),
        ({'"@method"', '"@authority"', '"@query-param";name="y"', '"@path"'}, "/x?y=1", False),
        ({'"@authority"', '"@target-uri"'}, "/x", False),
        ({'"@method"', '"@authority"'}, "/x", False),
    ],
)
def test_a_signature_covers_a_request_by_method_and_whole_target(
    covered: set[str], target: str, holds: bool
) -> None:
    assert covers_request(dict.fromkeys(covered, ""), target) is holds


DIGEST = bytes(range(32))
WRITTEN = f":{base64.b64encode(DIGEST).decode()}:"


@pytest.mark.parametrize(
    ("covered", "digest"),
    [
        ({'"content-digest"': f"sha-256={WRITTEN}"}, DIGEST),
        ({'"content-digest"': f"sha-512=:YWJj:, sha-256={WRITTEN}"}, DIGEST),
        ({'"content-digest";key="sha-256"': WRITTEN}, DIGEST),
        ({'"content-digest";req': f"sha-256={WRITTEN}"}, None),
        ({}, None),
    ],
)
def test_the_digest_of_the_body_is_read_where_it_is_covered(
    covered: dict[str, str], digest: bytes | None
) -> None:
    assert covered_digest(covered) == digest


@pytest.mark.parametrize(
    "value", ["", "sha-512=:YWJj:", "sha-256=:YWJj:", "sha-256=5", "sha-256=(1)", "sha-256=\xff"]
)
def test_a_covered_digest_of_another_kind_is_refused(value: str) -> None:
    with pytest.raises(NotAuthenticated):
        covered_digest({'"content-digest"': value})


def test_a_key_that_is_too_weak_is_no_key() -> None:
    assert isinstance(public(ED25519), Ed25519PublicKey)
    weak = RSAPublicNumbers(65537, (1 << 1023) + 1)
    modulus = base64.urlsafe_b64encode(weak.n.to_bytes(128)).rstrip(b"=").decode()
    assert read_key({"kty": "RSA", "e": "AQAB", "n": modulus}) is None
