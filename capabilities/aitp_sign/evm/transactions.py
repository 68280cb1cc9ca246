"""Transactions of Ethereum and compatible chains: validated, hashed and rendered. Pure.

A transaction with ``gasPrice`` is a legacy one (EIP-155), one with ``maxFeePerGas`` of type 2
(EIP-1559).

Source: EIP-155, EIP-1559, EIP-2930 for the access list; the Yellow Paper, appendix B, for RLP.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_sign.evm.keccak import keccak256
from aitp_sign.evm.secp256k1 import check_address
from aitp_sign.keys.encodings import from_hex

Address = Annotated[str, Meta(pattern="^0x[a-fA-F0-9]{40}$")]
Quantity = Annotated[str, Meta(pattern="^0x[a-fA-F0-9]+$", max_length=66)]
Data = Annotated[str, Meta(pattern="^0x[a-fA-F0-9]*$", max_length=20_000)]
Slot = Annotated[str, Meta(pattern="^0x[a-fA-F0-9]{64}$")]
TRANSFER_GAS = 21_000
_PLACES = 18
_EIP_1559 = b"\x02"
Rlp = bytes | Sequence["Rlp"]


class AccessTuple(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """An address and the storage keys that a transaction reads."""

    address: Address
    storage_keys: Annotated[tuple[Slot, ...], Meta(max_length=100)]


class EvmTransaction(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"
):
    """A transaction as in ``eth_sendTransaction``; quantities are hex after ``0x``.

    Parameters:
        value: in the smallest unit, such as wei.
    """

    to: Address
    from_: Address | msgspec.UnsetType = msgspec.field(name="from", default=msgspec.UNSET)
    data: Data = "0x"
    value: Quantity = "0x0"
    gas: Quantity = ""
    gas_price: Quantity = ""
    max_fee_per_gas: Quantity = ""
    max_priority_fee_per_gas: Quantity = ""
    nonce: Quantity = ""
    access_list: Annotated[tuple[AccessTuple, ...], Meta(max_length=50)] = ()


def check_transaction(transaction: EvmTransaction) -> None:
    """Reject a transaction that is ambiguous or malformed.

    Raises:
        ValueError: names the member and the rule.
    """
    check_address(transaction.to)
    if not isinstance(transaction.from_, msgspec.UnsetType):
        check_address(transaction.from_)
    from_hex(transaction.data)
    if transaction.gas_price and transaction.max_fee_per_gas:
        raise ValueError("A transaction must have either gasPrice or maxFeePerGas, not both.")


def digest_of(transaction: EvmTransaction, chain_id: int) -> bytes:
    """Return the 32-byte digest of a transaction.

    Raises:
        ValueError: a signed member is missing.
    """
    check_transaction(transaction)
    if not transaction.nonce or not transaction.gas:
        raise ValueError("A transaction to sign must have nonce and gas.")
    head: list[Rlp] = [_number(transaction.nonce)]
    rest: list[Rlp] = [
        _number(transaction.gas),
        from_hex(transaction.to),
        _number(transaction.value),
        from_hex(transaction.data),
    ]
    if transaction.gas_price:
        if transaction.access_list:
            raise ValueError("A transaction with accessList must have maxFeePerGas, not gasPrice.")
        replay = [_whole(chain_id), b"", b""]
        return keccak256(rlp([*head, _number(transaction.gas_price), *rest, *replay]))
    if not transaction.max_fee_per_gas:
        raise ValueError("A transaction to sign must have gasPrice or maxFeePerGas.")
    fees = [_number(transaction.max_priority_fee_per_gas), _number(transaction.max_fee_per_gas)]
    access: list[Rlp] = [
        [from_hex(one.address), [from_hex(key) for key in one.storage_keys]]
        for one in transaction.access_list
    ]
    return keccak256(_EIP_1559 + rlp([_whole(chain_id), *head, *fees, *rest, access]))


def value_of(transaction: EvmTransaction) -> int:
    """Return the paid amount, in the smallest unit."""
    return int(transaction.value, 16)


def most_fee_of(transaction: EvmTransaction) -> int:
    """Return the maximum fee, in the smallest unit."""
    price = transaction.gas_price or transaction.max_fee_per_gas or "0x0"
    return int(transaction.gas or "0x0", 16) * int(price, 16)


def describe(transaction: EvmTransaction, chain_id: int | None) -> Iterator[str]:
    """Yield the effects of a transaction, one per line; nothing that is signed is omitted."""
    chain = "(chosen by the wallet)" if chain_id is None else str(chain_id)
    yield f"Transaction on chain {chain}:"
    if not isinstance(transaction.from_, msgspec.UnsetType):
        yield f"from {transaction.from_}"
    yield f"to {transaction.to}"
    yield f"pays {units(value_of(transaction))} ({value_of(transaction)} in the smallest unit)"
    if transaction.gas:
        price = int(transaction.gas_price or transaction.max_fee_per_gas or "0x0", 16)
        each = f"{int(transaction.gas, 16)} gas at {price} each"
        tip = int(transaction.max_priority_fee_per_gas or "0x0", 16)
        yield (
            f"costs at most {units(most_fee_of(transaction))} in fees: {each}, with a tip of {tip}"
        )
    if transaction.data != "0x":
        yield f"calls the contract with: {transaction.data}"
    if transaction.nonce:
        yield f"nonce {int(transaction.nonce, 16)} of this account"
    for one in transaction.access_list:
        yield f"reads {one.address}: {', '.join(one.storage_keys) or 'no storage keys'}"


def units(amount: int) -> str:
    """Format an amount in whole units of eighteen decimals, without an exponent."""
    whole, rest = divmod(amount, 10**_PLACES)
    return f"{whole}.{rest:0{_PLACES}d}".rstrip("0").rstrip(".")


def rlp(value: Rlp) -> bytes:
    """Encode bytes, or lists of them, in RLP."""
    if isinstance(value, bytes):
        if len(value) == 1 and value[0] < 0x80:
            return value
        return _headed(0x80, value)
    return _headed(0xC0, b"".join(map(rlp, value)))


def _headed(base: int, data: bytes) -> bytes:
    if len(data) <= 55:
        return bytes([base + len(data)]) + data
    length = _whole(len(data))
    return bytes([base + 55 + len(length)]) + length + data


def _number(quantity: str) -> bytes:
    return _whole(int(quantity or "0x0", 16))


def _whole(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8)
