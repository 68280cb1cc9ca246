"""Schemes by which things are signed: the standards' own examples, and whatever else there is."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from aitp_sign.errors import Unproven
from aitp_sign.evm import eip191, eip712, keccak, secp256k1
from aitp_sign.evm import transactions as evm_transactions
from aitp_sign.keys import ed25519, encodings, jws
from aitp_sign.near import nep413
from aitp_sign.near import transactions as near_transactions
from aitp_sign.subjects import Statement, payload_of

TEXTS = st.text(max_size=200)


def test_keccak_is_what_ethereum_hashes_by() -> None:
    assert keccak.keccak256(b"").hex() == (
        "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    )


@given(st.binary(max_size=600))
def test_keccak_differs_from_sha3_by_its_padding_alone(data: bytes) -> None:
    assert keccak.sponge(data, 0x06) == hashlib.sha3_256(data).digest()


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (encodings.to_base58, encodings.from_base58),
        (encodings.to_base64, encodings.from_base64),
        (encodings.to_base64url, encodings.from_base64url),
        (encodings.to_hex, encodings.from_hex),
    ],
)
@given(data=st.binary(max_size=100), noise=st.text(max_size=20))
def test_what_is_written_is_read_and_nothing_else_is(
    write: Any, read: Any, data: bytes, noise: str
) -> None:
    assert read(write(data)) == data
    try:
        found = read(noise)
    except ValueError:
        return
    assert write(found) == (noise.lower() if read is encodings.from_hex else noise)


RFC_8032 = [
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da",
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac",
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize(("seed", "public", "message", "r", "s"), RFC_8032)
def test_ed25519_signs_as_rfc_8032_does(
    seed: str, public: str, message: str, r: str, s: str
) -> None:
    signature = r + s
    key = ed25519.private_key(bytes.fromhex(seed))
    assert key.sign(bytes.fromhex(message)).hex() == signature
    read = ed25519.read_key("ed25519:" + encodings.to_base58(bytes.fromhex(public)))
    ed25519.check(read, bytes.fromhex(signature), bytes.fromhex(message))
    with pytest.raises(Unproven, match="is not valid for this content and this key"):
        ed25519.check(read, bytes.fromhex(signature), b"other")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ed25519:",
        "ed25519:1",
        "secp256k1:2RM3E",
        "2RM3Eot",
        "ed25519:0",
        f"ed25519:{'1' * 32}",
        f"ed25519:{encodings.to_base58(bytes([1]) + bytes(31))}",
        f"ed25519:{encodings.to_base58((2**255 - 17).to_bytes(32, 'little'))}",
    ],
)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(Unproven, match="public_key must be ed25519:"):
        ed25519.read_key(text)


@given(TEXTS, TEXTS, st.binary(min_size=32, max_size=32), st.integers(0, 4_000_000_000))
def test_a_statement_is_signed_as_canonical_json(
    text: str, recipient: str, nonce: bytes, until: int
) -> None:
    statement = Statement(text, encodings.to_base64url(nonce), recipient)
    payload = payload_of(statement, until)
    assert payload == rfc8785.dumps(msgspec.json.decode(payload))


NONCE = base64.b64decode("KNV0cOpvJ50D5vfF9pqWom8wo2sliQ4W+Wa7uZ3Uk6Y=")
WALLET = "ed25519:2RM3EotCzEiVobm6aMjaup43k8cFffR4KHFtrqbZ79Qy"


@pytest.mark.parametrize(
    ("callback_url", "signature"),
    [
        (
            None,
            "NnJgPU1Ql7ccRTITIoOVsIfElmvH1RV7QAT4a9Vh6ShCOnjIzRwxqX54JzoQ/nK02p7VBMI2vJn48rpImIJwAw==",
        ),
        (
            "http://localhost:3000",
            "zzZQ/GwAjrZVrTIFlvmmQbDQHllfzrr8urVWHaRt5cPfcXaCSZo35c5LDpPpTKivR6BxLyb3lcPM0FfCW5lcBQ==",
        ),
    ],
)
def test_what_wallets_of_near_have_signed_is_what_is_checked(
    callback_url: str | None, signature: str
) -> None:
    digest = nep413.digest_of("Hello NEAR!", NONCE, "example.near", callback_url)
    ed25519.check(ed25519.read_key(WALLET), base64.b64decode(signature), digest)


def test_the_digest_of_nep_413_is_that_of_nears_own_library() -> None:
    digest = nep413.digest_of("Hello NEAR!", NONCE, "round-toad.testnet")
    assert list(digest) == [
        *(1, 152, 236, 223, 103, 218, 230, 0, 34, 54, 210, 18, 244, 68, 108, 252),
        *(140, 166, 102, 57, 242, 4, 202, 234, 205, 94, 246, 245, 198, 141, 23, 250),
    ]


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_no_two_messages_of_nep_413_are_written_the_same_way(
    message: str, recipient: str, other: str, other_recipient: str
) -> None:
    one = nep413.digest_of(message, NONCE, recipient)
    two = nep413.digest_of(other, NONCE, other_recipient)
    assert (one == two) == ((message, recipient) == (other, other_recipient))


@pytest.mark.parametrize(
    ("name", "is_one"), [("alice.near", True), ("a", False), ("A.near", False)]
)
def test_an_account_of_near_is_called_by_its_rules(name: str, is_one: bool) -> None:
    assert nep413.is_account(name) == is_one


COW: dict[str, Any] = {
    "types": {
        "EIP712Domain": [
            {"name": "name", "type": "string"},
            {"name": "version", "type": "string"},
            {"name": "chainId", "type": "uint256"},
            {"name": "verifyingContract", "type": "address"},
        ],
        "Person": [{"name": "name", "type": "string"}, {"name": "wallet", "type": "address"}],
        "Mail": [
            {"name": "from", "type": "Person"},
            {"name": "to", "type": "Person"},
            {"name": "contents", "type": "string"},
        ],
    },
    "primaryType": "Mail",
    "domain": {
        "name": "Ether Mail",
        "version": "1",
        "chainId": 1,
        "verifyingContract": "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC",
    },
    "message": {
        "from": {"name": "Cow", "wallet": "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"},
        "to": {"name": "Bob", "wallet": "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"},
        "contents": "Hello, Bob!",
    },
}
"""The example of EIP-712."""


def typed(given: Mapping[str, Any]) -> eip712.TypedData:
    return msgspec.convert(given, eip712.TypedData)


def test_typed_data_is_signed_as_eip_712_shows() -> None:
    digest = eip712.digest_of(typed(COW))
    assert digest.hex() == "be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2"
    key = keccak.keccak256(b"cow")
    signed = secp256k1.sign(digest, key)
    assert signed.hex() == (
        "4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d"
        "07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b91562" + "1c"
    )
    cow = "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"
    assert secp256k1.address_of(key) == cow == secp256k1.signer_of(digest, f"0x{signed.hex()}")


def test_typed_data_without_its_domains_type_is_the_same() -> None:
    types = {name: fields for name, fields in COW["types"].items() if name != "EIP712Domain"}
    assert eip712.digest_of(typed({**COW, "types": types})) == eip712.digest_of(typed(COW))


def test_typed_data_that_is_none_is_refused_at_its_place(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"primaryType": "Other"}, "primaryType"),
        ({"message": {"from": {}, "to": {}, "contents": ""}}, "message.from.name is missing"),
        ({"message": {**COW["message"], "more": 1}}, "Mail has no such member"),
        ({"message": {**COW["message"], "contents": 7}}, "message.contents"),
        ({"domain": {"name": "a", "owner": "b"}}, "domain"),
        (
            {"types": {"Mail": [{"name": "self", "type": "Mail"}]}},
            "contains itself; recursive types are not supported",
        ),
        (
            {"types": {"Mail": [{"name": "n", "type": "uint7"}]}, "message": {"n": 1}},
            "integer types must have 8 to 256 bits, a multiple of 8",
        ),
        ({"types": {"Mail": [{"name": "n", "type": "int8"}]}, "message": {"n": 128}}, "8 bits"),
        ({"types": {"Mail": [{"name": "n", "type": "uint8"}]}, "message": {"n": -1}}, "8 bits"),
        (
            {"types": {"Mail": [{"name": "n", "type": "bytes2"}]}, "message": {"n": "0x00"}},
            "bytes2",
        ),
        ({"types": {"Mail": [{"name": "n", "type": "Nothing"}]}, "message": {"n": "x"}}, "Nothing"),
        (
            {"types": {"Mail": [{"name": "n", "type": "Nothing[]"}]}, "message": {"n": []}},
            "Nothing",
        ),
        (
            {"types": {"Mail": [{"name": "n", "type": "bool a,bool[]"}]}, "message": {"n": []}},
            "is not a type",
        ),
        ({"types": {"Mail": [{"name": "n", "type": "uint08"}]}, "message": {"n": 1}}, "uint08"),
        (
            {"types": {"Mail": [{"name": "n", "type": "bool[2]"}]}, "message": {"n": [True]}},
            "must have 2 values",
        ),
        (
            {"types": {"Mail": [{"name": "n", "type": "bool[]"}]}, "message": {"n": "no"}},
            "must be a list of type",
        ),
    ]
    for change, told in cases:
        with subtests.test(change=change, told=told):
            domain = {} if "types" in change else COW["domain"]
            with pytest.raises(ValueError, match=told.replace("[", r"\[")):
                eip712.check_typed_data(typed({**COW, "domain": domain, **change}))


def test_typed_data_that_takes_long_to_hash_is_refused() -> None:
    types = {"Mail": [{"name": "n", "type": "uint8[]"}]}
    for values in ([1] * 300, [1] * 9000):
        long = {**COW, "types": types, "domain": {}, "message": {"n": values}}
        with pytest.raises(ValueError, match="at most"):
            eip712.check_typed_data(typed(long))


def test_typed_data_is_rendered_whole() -> None:
    told = "\n".join(eip712.describe(typed(COW)))
    assert "message.to.wallet: 0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB" in told
    assert told.count("\n") == 9


def signer(digest: bytes, signature: str) -> str:
    """Whose signature it is, or why nobody's."""
    try:
        return secp256k1.signer_of(digest, signature)
    except Unproven as error:
        return error.reason


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_an_address_is_what_its_signatures_come_to(seed: bytes, digest: bytes) -> None:
    key = secp256k1.private_key(seed)
    signature = secp256k1.sign(digest, key)
    written = encodings.to_hex(signature)
    assert secp256k1.signer_of(digest, written) == secp256k1.address_of(key)
    other = bytes([digest[0] ^ 1]) + digest[1:]
    assert signer(other, written) != secp256k1.address_of(key)


@given(st.one_of(st.text(max_size=140), st.binary(min_size=65, max_size=65).map(encodings.to_hex)))
def test_whatever_comes_for_a_signature_is_an_address_or_told_wrong(text: str) -> None:
    found = signer(bytes(32), text)
    assert found in {"malformed", "bad_signature"} or secp256k1.check_address(found) == found


def test_a_signature_has_one_form() -> None:
    digest, key = hashlib.sha256(b"once").digest(), keccak.keccak256(b"cow")
    signed = secp256k1.sign(digest, key)
    order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
    turned = (order - int.from_bytes(signed[32:64])).to_bytes(32)
    other = signed[:32] + turned + bytes([55 - signed[64]])
    with pytest.raises(Unproven, match="upper half"):
        secp256k1.signer_of(digest, encodings.to_hex(other))


def test_an_address_with_anothers_checksum_is_a_slip() -> None:
    assert secp256k1.check_address("0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826").endswith("D826")
    with pytest.raises(ValueError, match="checksum"):
        secp256k1.check_address("0xcD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826")


def test_a_personal_message_is_signed_with_its_length() -> None:
    assert eip191.digest_of(b"hello").hex() == (
        "50b2c43fd39106bafbba0da34fc430e1f91e3c96ea2acee2bc34119f92b37750"
    )
    assert eip191.bytes_of("0x68656c6c6f") == b"hello"
    assert eip191.bytes_of("0xzz") == b"0xzz"


def test_a_transaction_is_hashed_as_eip_155_shows() -> None:
    given = {
        "nonce": "0x9",
        "gasPrice": "0x4a817c800",
        "gas": "0x5208",
        "to": "0x3535353535353535353535353535353535353535",
        "value": "0xde0b6b3a7640000",
    }
    transaction = msgspec.convert(given, evm_transactions.EvmTransaction)
    digest = evm_transactions.digest_of(transaction, 1)
    assert digest.hex() == "daf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53"
    assert secp256k1.sign(digest, bytes.fromhex("46" * 32)).hex().startswith("28ef61340bd939bc")
    assert list(evm_transactions.describe(transaction, 1))[2].startswith("pays 1 (")


RLP = st.recursive(st.binary(max_size=70), lambda inner: st.lists(inner, max_size=4), max_leaves=9)


@given(RLP)
def test_rlp_can_be_read_back(value: Any) -> None:
    def read(data: bytes) -> tuple[Any, bytes]:
        first, rest = data[0], data[1:]
        if first < 0x80:
            return data[:1], rest
        base = 0x80 if first < 0xC0 else 0xC0
        size = first - base
        if size > 55:
            wide = size - 55
            size, rest = int.from_bytes(rest[:wide]), rest[wide:]
        body, rest = rest[:size], rest[size:]
        if base == 0x80:
            return body, rest
        items = []
        while body:
            item, body = read(body)
            items.append(item)
        return items, rest

    assert read(evm_transactions.rlp(value)) == (value, b"")


def test_a_transaction_of_near_is_written_as_its_own_library_does() -> None:
    public = "917b3d268d4b58f7fec1b150bd68d69be3ee5d4cc39855e341538465bb77860d"
    block = "0fa473fd26901df296be6adc4cc4df34d040efa2435224b6986910e630c2fef6"
    transaction = near_transactions.NearTransaction(
        "test.near",
        "ed25519:" + encodings.to_base58(bytes.fromhex(public)),
        1,
        "whatever.near",
        encodings.to_base58(bytes.fromhex(block)),
        (near_transactions.NearAction("Transfer", {"deposit": "1"}),),
    )
    written = (
        f"09000000746573742e6e65617200{public}01000000000000000d0000007768617465766572"
        f"2e6e656172{block}010000000301000000000000000000000000000000"
    )
    assert near_transactions.serialised(transaction).hex() == written
    signature = (
        "969a83332186ee9755e4839325525806e189a3d2d2bb4b4760e94443e97e1c4f"
        "22deeef0059a8e9713100eda6e19144da7e8a0ef7e539b20708ba1d8d021bd01"
    )
    key = ed25519.read_key(transaction.public_key)
    ed25519.check(key, bytes.fromhex(signature), near_transactions.digest_of(transaction))


ACTIONS: list[tuple[dict[str, Any], str]] = [
    ({"type": "CreateAccount", "params": {}}, "creates the account"),
    ({"type": "DeployContract", "params": {"code": "AAE="}}, "deploys a contract"),
    (
        {"type": "FunctionCall", "params": {"methodName": "buy", "args": {"n": 2}, "deposit": "1"}},
        'calls buy with {"n":2}, pays 0.000000000000000000000001 NEAR',
    ),
    ({"type": "Transfer", "params": {"deposit": "25" + "0" * 23}}, "pays 2.5 NEAR"),
    ({"type": "Stake", "params": {"stake": "0", "publicKey": WALLET}}, "stakes 0 NEAR"),
    (
        {
            "type": "AddKey",
            "params": {"publicKey": WALLET, "accessKey": {"permission": "FullAccess"}},
        },
        "FULL ACCESS",
    ),
    (
        {
            "type": "AddKey",
            "params": {
                "publicKey": WALLET,
                "accessKey": {
                    "permission": {"receiverId": "shop.near", "allowance": "1", "methodNames": []}
                },
            },
        },
        "access to all methods of shop.near",
    ),
    ({"type": "DeleteKey", "params": {"publicKey": WALLET}}, "removes the key"),
    ({"type": "DeleteAccount", "params": {"beneficiaryId": "mallory.near"}}, "DELETES"),
]


@pytest.mark.parametrize(("given", "told"), ACTIONS, ids=lambda one: str(one)[:30])
def test_every_action_of_near_is_rendered_and_written(given: dict[str, Any], told: str) -> None:
    action = msgspec.convert(given, near_transactions.NearAction)
    near_transactions.check_actions("shop.near", (action,))
    assert told in "\n".join(near_transactions.describe("shop.near", (action,)))


@pytest.mark.parametrize(
    "given",
    [
        {"type": "Transfer", "params": {}},
        {"type": "Transfer", "params": {"deposit": "-1"}},
        {"type": "Transfer", "params": {"deposit": "1", "more": 1}},
        {"type": "Transfer", "params": {"deposit": str(2**128)}},
        {"type": "FunctionCall", "params": {"methodName": "m", "gas": str(10**16)}},
        {"type": "DeleteKey", "params": {"publicKey": "secp256k1:abc"}},
        {"type": "DeployContract", "params": {"code": "?"}},
        {"type": "FunctionCall", "params": {"methodName": "m with {}\n2. pays 0"}},
        {"type": "DeleteAccount", "params": {"beneficiaryId": "a.near\n2. pays 0"}},
        {
            "type": "AddKey",
            "params": {
                "publicKey": WALLET,
                "accessKey": {"permission": "FullAccess", "nonce": -1},
            },
        },
    ],
)
def test_an_action_that_cannot_be_written_is_refused(given: dict[str, Any]) -> None:
    action = msgspec.convert(given, near_transactions.NearAction)
    with pytest.raises(ValueError, match=r"actions\[0\]"):
        near_transactions.check_actions("shop.near", (action,))


def test_a_jws_of_rfc_8037_is_checked_detached() -> None:
    """Appendix A.4, and its public key of A.2."""
    key = jws.Jwk("OKP", "Ed25519", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
    signature = (
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    )
    jws.check(f"eyJhbGciOiJFZERTQSJ9..{signature}", b"Example of Ed25519 signing", key)
    with pytest.raises(Unproven, match="is not valid for this content"):
        jws.check(f"eyJhbGciOiJFZERTQSJ9..{signature}", b"Example of Ed25519", key)


def test_a_jws_of_rfc_7515_by_es256_is_checked_detached() -> None:
    """Appendix A.3."""
    key = jws.Jwk(
        "EC",
        "P-256",
        "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    )
    payload = b'{"iss":"joe",\r\n "exp":1300819380,\r\n "http://example.com/is_root":true}'
    signature = (
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    )
    jws.check(f"eyJhbGciOiJFUzI1NiJ9..{signature}", payload, key)


def test_a_payload_that_is_not_encoded_is_signed_as_rfc_7797_shows() -> None:
    """Section 4.2, whose key is that of RFC 7515, A.1."""
    secret = encodings.from_base64url(
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
    )
    header = "eyJhbGciOiJIUzI1NiIsImI2NCI6ZmFsc2UsImNyaXQiOlsiYjY0Il19"
    signed = jws.signed_bytes(header, b"$.02", is_encoded=False)
    mac = hmac.digest(secret, signed, "sha256")
    assert encodings.to_base64url(mac) == "A5dxf2s96_n5FLueVuW1Z_vh161FwXZC4YLPff6dmDY"


@given(st.binary(max_size=200), st.binary(min_size=32, max_size=32))
def test_a_jws_is_of_its_payload_alone(payload: bytes, seed: bytes) -> None:
    private = Ed25519PrivateKey.from_private_bytes(seed)
    key = jws.Jwk("OKP", "Ed25519", encodings.to_base64url(private.public_key().public_bytes_raw()))
    compact = jws.sign(payload, private, "kid")
    jws.check(compact, payload, key)
    with pytest.raises(Unproven):
        jws.check(compact, payload + b".", key)


def test_a_jws_has_what_it_names_as_critical() -> None:
    private = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    key = jws.Jwk("OKP", "Ed25519", encodings.to_base64url(private.public_key().public_bytes_raw()))
    written = encodings.to_base64url(b'{"alg":"EdDSA","crit":["b64"]}')
    signature = private.sign(jws.signed_bytes(written, b"order", is_encoded=True))
    with pytest.raises(Unproven, match="must have the member b64"):
        jws.check(f"{written}..{encodings.to_base64url(signature)}", b"order", key)


def header(**members: Any) -> str:
    written = encodings.to_base64url(msgspec.json.encode(members))
    return f"{written}..{encodings.to_base64url(bytes(64))}"


@pytest.mark.parametrize(
    "compact",
    [
        "",
        "a.b.c",
        header(alg="none"),
        header(alg="HS256"),
        header(alg="EdDSA", b64=False),
        header(alg="EdDSA", crit=["exp"]),
        header(alg="EdDSA", crit=[]),
        header(alg="EdDSA", b64=False, crit=["b64", "b64"]),
        header(alg="ES256"),
        header(alg="EdDSA"),
    ],
)
def test_a_jws_of_another_kind_is_none(compact: str) -> None:
    key = jws.Jwk("OKP", "Ed25519", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
    with pytest.raises(Unproven):
        jws.check(compact, b"", key)


@pytest.mark.parametrize(
    "key",
    [
        jws.Jwk("OKP", "P-256", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"),
        jws.Jwk("EC", "P-256", "AAAA", "AAAA"),
        jws.Jwk("OKP", "Ed25519", "?"),
        jws.Jwk("OKP", "Ed25519", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", d="x"),
        jws.Jwk("OKP", "Ed25519", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "AAAA"),
        jws.Jwk("OKP", "Ed25519", encodings.to_base64url(bytes(32))),
    ],
)
def test_what_is_no_public_key_is_refused(key: jws.Jwk) -> None:
    with pytest.raises(Unproven, match="jwk"):
        jws.read_jwk(key)
