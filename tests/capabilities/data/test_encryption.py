"""Values encrypted on the wire: vectors, what other programs write, and what must not open."""

from __future__ import annotations

import base64
import itertools
import json
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import joserfc.jwe
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import KeySet, OctKey, OKPKey

from aitp_data.encryption import ecies, jwe
from aitp_data.encryption.ecies import Encrypted
from aitp_data.encryption.errors import Undecipherable
from aitp_data.messages import Encryption
from tests.support.access.jwe import encrypted
from tests.support.plugins.forms import data_requests, jwks, keys

KEYS = keys()
JWKS = jwks()
X25519_JWK, P256_JWK = JWKS["keys"]

# The receiver's and the sender's private keys are 1…1 and 2…2, the nonce is 12 times 0x33.
RECEIVER = ec.derive_private_key(int("11" * 32, 16), ecies.CURVE)
VECTOR = Encrypted(
    "6dae7dddb56d044414b108ee7e01233b",
    Encryption(
        "ECIES-secp256k1-AES-256-GCM",
        "02466d7fcae563e5cb09a0d1870bb580344804617879a14949cf22285f1bae3f27",
        "8c2d8a848e466604664fa0a307657f23",
        "33" * 12,
    ),
)


def test_the_drafts_form_opens_by_the_vector_of_the_docs() -> None:
    assert (
        ecies.decrypt(VECTOR, "card", lambda sender: ecies.agree(sender, RECEIVER))
        == "4242424242424242"
    )


@given(st.text(max_size=200), st.text(min_size=1, max_size=20))
def test_what_is_encrypted_in_the_drafts_form_opens_for_its_field_alone(
    text: str, field_id: str
) -> None:
    made = ecies.encrypt(text, field_id, KEYS.recipient.public_key)
    assert KEYS.open_ecies(made, field_id) == text
    for wrong_keys, wrong_field in ((KEYS, field_id + "x"), (keys("another"), field_id)):
        with pytest.raises(Undecipherable):
            wrong_keys.open_ecies(made, wrong_field)


CHANGES = st.sampled_from(("value", "mac", "iv", "ephemeral_public_key"))


@given(CHANGES, st.integers(0, 10_000), st.sampled_from("0123456789abcdef"))
def test_what_was_changed_in_the_drafts_form_does_not_open(
    part: str, place: int, digit: str
) -> None:
    made = ecies.encrypt("secret", "card", KEYS.recipient.public_key)
    holder: msgspec.Struct = made if part == "value" else made.encryption
    before = getattr(holder, part)
    place %= len(before)
    after = before[:place] + digit + before[place + 1 :]
    if before == after:
        return
    changed = msgspec.structs.replace(holder, **{part: after})
    if part != "value":
        changed = msgspec.structs.replace(made, encryption=changed)
    assert isinstance(changed, Encrypted)
    with pytest.raises(Undecipherable):
        KEYS.open_ecies(changed, "card")


def test_points_are_read_in_both_forms_and_with_a_prefix() -> None:
    uncompressed = RECEIVER.public_key().public_numbers()
    written = f"0x04{uncompressed.x:064x}{uncompressed.y:064x}"
    assert ecies.write_point(ecies.read_point(written)) == ecies.write_point(RECEIVER.public_key())
    for wrong in ("02" + "ff" * 32, "04" + "00" * 64, "zz", ""):
        with pytest.raises(Undecipherable):
            ecies.read_point(wrong)


def test_a_sites_keys_are_its_own_and_the_same_again() -> None:
    again, other = keys(), keys("another")
    assert again.jwks == KEYS.jwks
    assert again.recipient == KEYS.recipient
    assert KEYS.is_for_us(KEYS.recipient.public_key)
    assert not other.is_for_us(KEYS.recipient.public_key)
    assert not KEYS.is_for_us("02" + "ff" * 32)
    assert {one["kid"] for one in jwks("another")["keys"]}.isdisjoint({X25519_JWK["kid"]})
    assert all(
        one.keys() == {"kty", "crv", "x", "kid", "use", "alg"} | ({"y"} & one.keys())
        for one in JWKS["keys"]
    ), "nothing private"


def test_a_keys_id_is_its_thumbprint() -> None:
    imported = KeySet.import_key_set(JWKS)  # type: ignore[arg-type]  # plain JSON
    assert [one.thumbprint() for one in imported.keys] == [X25519_JWK["kid"], P256_JWK["kid"]]


def test_what_another_library_encrypts_opens(subtests: pytest.Subtests) -> None:
    texts: list[str] = ["", "hunter2", "üñî – \U0001f511", "x" * 8000]
    algs: list[str] = ["ECDH-ES", "ECDH-ES+A256KW"]
    jwks: list[dict[str, Any]] = [X25519_JWK, P256_JWK]
    for text in texts:
        for alg in algs:
            for jwk in jwks:
                with subtests.test(jwk=jwk, alg=alg, text=text):
                    token = encrypted(text, jwk, alg)
                    assert jwe.is_jwe(token)
                    assert KEYS.knows(jwe.read_header(token).kid)
                    assert KEYS.open_jwe(token).decode() == text
                    with pytest.raises(Undecipherable):
                        keys("another").open_jwe(token)


TOKENS = [encrypted("secret", jwk) for jwk in (X25519_JWK, P256_JWK)]


@given(st.sampled_from(TOKENS), st.integers(0, 10_000), st.characters(codec="ascii"))
def test_a_jwe_that_was_changed_does_not_open(token: str, place: int, character: str) -> None:
    place %= len(token)
    changed = token[:place] + character + token[place + 1 :]
    try:
        opened = KEYS.open_jwe(changed)
    except Undecipherable:
        return
    # the last bits of base64 may stand for nothing: the bytes are the same then
    assert opened == b"secret"
    assert [decode(one) for one in changed.split(".")[1:]] == [
        decode(one) for one in token.split(".")[1:]
    ]


@given(st.text(max_size=200) | st.from_regex(r"eyJ[A-Za-z0-9_-]{1,40}(\.[A-Za-z0-9_-]*){4}"))
def test_any_text_is_a_jwe_or_not_and_none_of_them_opens(text: str) -> None:
    assert jwe.is_jwe(text) in {True, False}
    with pytest.raises(Undecipherable):
        KEYS.open_jwe(text)


HEADER = json.loads(base64.urlsafe_b64decode(TOKENS[1].split(".")[0] + "=="))
OFF_CURVE = HEADER["epk"] | {"x": "A" * 43}


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest.mark.parametrize(
    "changed",
    [
        {"alg": "RSA-OAEP"},
        {"alg": "dir"},
        {"enc": "A128CBC-HS256"},
        {"zip": "DEF"},
        {"crit": ["exp"]},
        {"kid": "somebody-elses"},
        {"epk": HEADER["epk"] | {"crv": "P-384"}},
        {"epk": OFF_CURVE},
        {"epk": {"kty": "OKP", "crv": "P-256", "x": HEADER["epk"]["x"]}},
        {"epk": {"kty": "OKP", "crv": "X25519", "x": "A" * 43}},
        {"epk": {"kty": "OKP", "crv": "X25519", "x": "A"}},
    ],
    ids=" ".join,
)
def test_a_jwe_of_another_kind_or_key_is_not_opened(changed: dict[str, Any]) -> None:
    kid = {"kid": ""} if changed.get("epk", {}).get("crv") == "X25519" else {}
    header = msgspec.json.encode(HEADER | kid | changed)
    written = base64.urlsafe_b64encode(header).rstrip(b"=").decode()
    with pytest.raises(Undecipherable):
        KEYS.open_jwe(".".join((written, *TOKENS[1].split(".")[1:])))


def written(header: dict[str, Any], key: Any, algorithms: list[str]) -> str:
    """A JWE that is right, of a kind that is not opened here."""
    return joserfc.jwe.encrypt_compact(header, "secret", key, algorithms=algorithms)


@pytest.mark.parametrize(
    "chosen",
    [
        {"alg": "ECDH-ES+A128KW"},
        {"enc": "A128GCM"},
        {"enc": "A128CBC-HS256"},
        {"zip": "DEF"},
    ],
    ids=str,
)
def test_a_jwe_for_the_sites_key_is_not_opened_where_its_algorithm_is_not_listed(
    chosen: dict[str, str],
) -> None:
    public = OKPKey.import_key({k: v for k, v in X25519_JWK.items() if k != "alg"})
    header = {"alg": "ECDH-ES+A256KW", "enc": "A256GCM", "kid": X25519_JWK["kid"]} | chosen
    token = written(header, public, [*header.values()])
    assert jwe.is_jwe(token), "it is not taken for a value that was not encrypted"
    with pytest.raises(Undecipherable, match="alg ECDH-ES or ECDH-ES"):
        KEYS.open_jwe(token)


@pytest.mark.parametrize("kid", ["", X25519_JWK["kid"]], ids=["no key named", "the site's named"])
def test_a_public_key_is_no_shared_secret_and_no_password(kid: str) -> None:
    known = OctKey.import_key(decode(X25519_JWK["x"]))
    for alg, more in (("dir", {}), ("A256KW", {}), ("PBES2-HS256+A128KW", {"p2c": 2048})):
        header = {"alg": alg, "enc": "A256GCM", "kid": kid, **more}
        token = written(header, known, [alg, "A256GCM"])
        with pytest.raises(Undecipherable):
            KEYS.open_jwe(token)


@pytest.mark.slow
def test_whatever_stands_in_a_header_nothing_escapes(subtests: pytest.Subtests) -> None:
    names = "alg enc epk apu apv kid zip crit jku jwk x5c typ cty d use key_ops x y crv kty p2c"
    values: list[Any] = [None, 5, True, "", "A", "é", [], {}, [5], {"d": "A"}]
    for token, name, value, inner in itertools.product(
        TOKENS, names.split(), values, (False, True)
    ):
        first, *rest = token.split(".")
        header = json.loads(decode(first))
        (header["epk"] if inner else header)[name] = value
        said = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
        with subtests.test(name=name, value=value), pytest.raises(Undecipherable):
            KEYS.open_jwe(".".join((said, *rest)))


@pytest.mark.parametrize("is_changed", [False, True], ids=["right", "changed"])
def test_a_jwe_is_decrypted_once_however_often_it_is_judged(is_changed: bool) -> None:
    token = encrypted("once", P256_JWK)
    if is_changed:
        token = token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")
    with patch("joserfc.jwe.decrypt_compact", wraps=joserfc.jwe.decrypt_compact) as decrypted:
        for _ in range(5):
            with pytest.raises(Undecipherable) if is_changed else nullcontext():
                assert KEYS.open_jwe(token) == b"once"
    assert decrypted.call_count == 1


def test_without_the_package_there_are_no_keys_for_jwes_and_that_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with patch("aitp_data.encryption.jwe.find_spec", lambda _name: None):
        poor = data_requests()
        assert keys().jwks is None
        with pytest.raises(Undecipherable, match="This desk cannot decrypt JWEs"):
            keys().open_jwe(TOKENS[0])
    assert poor.documents() == {}
    assert [one.getMessage() for one in caplog.records] == [
        "JWEs cannot be decrypted: the extra is not installed (aitp-desk[jose])."
    ]
    made = ecies.encrypt("7", "pin", keys().recipient.public_key)
    assert keys().open_ecies(made, "pin") == "7", "the draft's form needs nothing more"
