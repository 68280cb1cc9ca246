"""What wallets of Ethereum sign, by a library of theirs: it comes to the same as here."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_sign.evm import eip191, eip712, secp256k1
from aitp_sign.evm import transactions as evm_transactions
from aitp_sign.keys.encodings import from_hex, to_hex

KEY = bytes(range(2, 34))
ADDRESS = secp256k1.address_of(KEY)
HEX = st.binary(max_size=40).map(to_hex)
ADDRESSES = st.binary(min_size=20, max_size=20).map(to_hex)
ATOMS: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(max_size=20),
    "bool": st.booleans(),
    "uint256": st.integers(0, 2**256 - 1),
    "int8": st.integers(-128, 127),
    "uint8": st.integers(0, 255),
    "address": ADDRESSES,
    "bytes": HEX,
    "bytes32": st.binary(min_size=32, max_size=32).map(to_hex),
}
KINDS = st.sampled_from([*ATOMS, "Inner", "string[]", "uint256[2]", "Inner[]", "int8[][2]"])
QUANTITIES = st.integers(0, 2**96).map(hex)


@pytest.fixture(scope="module", autouse=True)
def _library() -> None:
    """Import the library outside of the examples: it raises the recursion limit."""
    limit = sys.getrecursionlimit()
    import eth_account  # noqa: F401

    sys.setrecursionlimit(limit)


@st.composite
def values(draw: st.DrawFn, kind: str, inner: dict[str, str]) -> Any:
    """A value of a type."""
    if kind == "Inner":
        return {name: draw(values(of, inner)) for name, of in inner.items()}
    if kind.endswith("]"):
        of, _, count = kind[:-1].rpartition("[")
        size = int(count) if count else draw(st.integers(0, 3))
        return [draw(values(of, inner)) for _ in range(size)]
    return draw(ATOMS[kind])


@st.composite
def typed_data(draw: st.DrawFn) -> dict[str, Any]:
    """Any typed data."""
    inner = {f"i{number}": draw(st.sampled_from([*ATOMS])) for number in range(2)}
    outer = {f"o{number}": kind for number, kind in enumerate(draw(st.lists(KINDS, max_size=4)))}
    types = {
        "EIP712Domain": [
            {"name": "name", "type": "string"},
            {"name": "chainId", "type": "uint256"},
        ],
        "Inner": [{"name": name, "type": kind} for name, kind in inner.items()],
        "Outer": [
            {"name": "first", "type": "Inner"},
            *({"name": name, "type": kind} for name, kind in outer.items()),
        ],
    }
    message = {
        name: draw(values(kind, inner)) for name, kind in {"first": "Inner", **outer}.items()
    }
    domain = {"name": draw(st.text(max_size=9)), "chainId": draw(st.integers(1, 2**64))}
    return {"types": types, "primaryType": "Outer", "domain": domain, "message": message}


@given(typed_data())
def test_typed_data_comes_to_the_same_signature(data: dict[str, Any]) -> None:
    from eth_account import Account
    from eth_account.messages import encode_typed_data

    read = msgspec.convert(data, eip712.TypedData)
    signed = Account.sign_message(encode_typed_data(full_message=data), KEY).signature
    digest = eip712.digest_of(read)
    assert secp256k1.sign(digest, KEY) == bytes(signed)
    assert secp256k1.signer_of(digest, to_hex(bytes(signed))) == ADDRESS


@given(st.binary(max_size=300))
def test_a_personal_message_comes_to_the_same_signature(message: bytes) -> None:
    from eth_account import Account
    from eth_account.messages import encode_defunct

    signed = Account.sign_message(encode_defunct(primitive=message), KEY).signature
    assert secp256k1.sign(eip191.digest_of(message), KEY) == bytes(signed)


@given(
    st.fixed_dictionaries(
        {
            "to": ADDRESSES,
            "value": QUANTITIES,
            "data": HEX,
            "gas": QUANTITIES,
            "nonce": st.integers(0, 2**63).map(hex),
        }
    ),
    st.one_of(
        st.fixed_dictionaries({"gasPrice": QUANTITIES}),
        st.fixed_dictionaries(
            {
                "maxFeePerGas": st.just(hex(2**97)),
                "maxPriorityFeePerGas": QUANTITIES,
                "accessList": st.lists(
                    st.fixed_dictionaries(
                        {
                            "address": ADDRESSES,
                            "storageKeys": st.lists(
                                st.binary(min_size=32, max_size=32).map(to_hex), max_size=2
                            ),
                        }
                    ),
                    max_size=2,
                ),
            }
        ),
    ),
    st.integers(1, 2**40),
)
def test_a_transaction_comes_to_the_same_signature(
    transaction: dict[str, Any], fees: dict[str, Any], chain_id: int
) -> None:
    from eth_account import Account

    whole = transaction | fees
    read = msgspec.convert(whole, evm_transactions.EvmTransaction)
    theirs = {
        name: int(value, 16) if name not in {"to", "data", "accessList"} else value
        for name, value in whole.items()
    }
    theirs |= {"chainId": chain_id, "to": from_hex(transaction["to"])}
    signed = Account.sign_transaction(theirs, KEY)
    ours = secp256k1.sign(evm_transactions.digest_of(read, chain_id), KEY)
    assert int.from_bytes(ours[:32]) == signed.r
    assert int.from_bytes(ours[32:64]) == signed.s
