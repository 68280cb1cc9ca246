"""NEAR's transactions: actions validated, serialised in Borsh and rendered. Pure.

Source: NEAR's protocol, Transactions and Actions. The published schema of AITP-04 leaves parameters
open: its examples write ``method_name``, NEAR's wallets ``methodName``, and both are accepted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from aitp_sign.errors import Unproven
from aitp_sign.keys.ed25519 import read_key
from aitp_sign.keys.encodings import from_base58, from_base64
from aitp_sign.near import nep413

Kind = Literal[
    "CreateAccount",
    "DeployContract",
    "FunctionCall",
    "Transfer",
    "Stake",
    "AddKey",
    "DeleteKey",
    "DeleteAccount",
]
Amount = Annotated[str, Meta(pattern="^(0|[1-9][0-9]{0,38})$")]
"""A whole number of yoctoNEAR, as text."""
Account = Annotated[str, Meta(min_length=2, max_length=64)]
Method = Annotated[str, Meta(pattern="^[A-Za-z0-9_$.:-]{1,256}$")]
"""The pattern keeps a foreign method name from looking like more than a name."""
_PLACES = 24
_KINDS: tuple[Kind, ...] = (
    "CreateAccount",
    "DeployContract",
    "FunctionCall",
    "Transfer",
    "Stake",
    "AddKey",
    "DeleteKey",
    "DeleteAccount",
)
"""In the order of their numbers."""
MOST_GAS = 300 * 10**12


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No parameters."""


class DeployContract(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters: code: in base64."""

    code: Annotated[str, Meta(max_length=100_000)]


class FunctionCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A call of a contract.

    Parameters:
        args: an object, or bytes in base64.
    """

    method_name: Method
    args: dict[str, Any] | str = msgspec.field(default_factory=dict)
    gas: Amount = "30000000000000"
    deposit: Amount = "0"


class Transfer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A payment."""

    deposit: Amount


class Stake(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A stake."""

    stake: Amount
    public_key: str


class KeyPermission(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The calls that a limited access key permits."""

    receiver_id: Account
    allowance: Amount | None = None
    method_names: Annotated[tuple[Method, ...], Meta(max_length=50)] = ()


class AccessKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The permission of a key."""

    permission: Literal["FullAccess"] | KeyPermission
    nonce: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0


class AddKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """An added key."""

    public_key: str
    access_key: AccessKey


class DeleteKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A removed key."""

    public_key: str


class DeleteAccount(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A deleted account, and the recipient of its balance."""

    beneficiary_id: Account


Parameters = (
    Nothing | DeployContract | FunctionCall | Transfer | Stake | AddKey | DeleteKey | DeleteAccount
)
_SHAPES: dict[Kind, type[Any]] = {
    "CreateAccount": Nothing,
    "DeployContract": DeployContract,
    "FunctionCall": FunctionCall,
    "Transfer": Transfer,
    "Stake": Stake,
    "AddKey": AddKey,
    "DeleteKey": DeleteKey,
    "DeleteAccount": DeleteAccount,
}


class NearAction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action of a transaction, as in the published schema."""

    type: Kind
    params: dict[str, Any]

    def read(self) -> Parameters:
        """Return the typed parameters.

        Raises:
            ValueError: they do not fit the action, or one has two spellings; names it.
        """
        try:
            read: Parameters = msgspec.convert(_in_camel_case(self.params), _SHAPES[self.type])
        except msgspec.ValidationError as error:
            raise ValueError(f"params of {self.type}: {error}") from None
        return read


Actions = Annotated[tuple[NearAction, ...], Meta(min_length=1, max_length=100)]


class NearTransaction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A complete transaction, which can be signed.

    Parameters:
        nonce: must be above that of the key.
        block_hash: of a recent block, in base58.
    """

    signer_id: Account
    public_key: str
    nonce: Annotated[int, Meta(ge=1, le=2**63 - 1)]
    receiver_id: Account
    block_hash: Annotated[str, Meta(max_length=60)]
    actions: Actions


def check_actions(receiver_id: str, actions: tuple[NearAction, ...]) -> None:
    """Reject actions that cannot be serialised.

    Raises:
        ValueError: names the action and the rule.
    """
    _account(receiver_id)
    for index, action in enumerate(actions):
        try:
            _write(action)
        except (ValueError, Unproven) as error:
            raise ValueError(f"actions[{index}]: {error}") from None


def digest_of(transaction: NearTransaction) -> bytes:
    """Return the 32-byte digest of a transaction.

    Raises:
        ValueError: it cannot be serialised.
    """
    return hashlib.sha256(serialised(transaction)).digest()


def serialised(transaction: NearTransaction) -> bytes:
    """Serialise a transaction in Borsh.

    Raises:
        ValueError: it cannot be serialised.
    """
    check_actions(transaction.receiver_id, transaction.actions)
    block = from_base58(transaction.block_hash)
    if len(block) != 32:
        raise ValueError("block_hash must be 32 bytes in base58.")
    return (
        _account(transaction.signer_id)
        + _key(transaction.public_key)
        + transaction.nonce.to_bytes(8, "little")
        + nep413.text(transaction.receiver_id)
        + block
        + _u32(len(transaction.actions))
        + b"".join(map(_write, transaction.actions))
    )


def value_of(actions: tuple[NearAction, ...]) -> int:
    """Return the amount that actions pay in yoctoNEAR: transfers, deposits and stakes."""
    return sum(map(_value, actions))


def describe(receiver_id: str, actions: tuple[NearAction, ...]) -> Iterator[str]:
    """Yield the effects of actions, one per line; nothing that is signed is omitted."""
    yield f"Transaction with {receiver_id}:"
    for number, action in enumerate(actions, 1):
        yield f"{number}. {_told(action)}"


def units(amount: int) -> str:
    """Format an amount in NEAR, without an exponent."""
    whole, rest = divmod(amount, 10**_PLACES)
    return f"{whole}.{rest:0{_PLACES}d}".rstrip("0").rstrip(".") + " NEAR"


def _value(action: NearAction) -> int:
    match action.read():
        case FunctionCall(deposit=amount) | Transfer(amount) | Stake(amount):
            return int(amount)
        case _:
            return 0


def _told(action: NearAction) -> str:
    match action.read():
        case FunctionCall(name, args, gas, deposit):
            given = args if isinstance(args, str) else msgspec.json.encode(args).decode()
            return f"calls {name} with {given}, pays {units(int(deposit))}, uses at most {gas} gas"
        case Transfer(deposit):
            return f"pays {units(int(deposit))} ({deposit} yoctoNEAR)"
        case Stake(stake, key):
            return f"stakes {units(int(stake))} with {key}"
        case AddKey(key, AccessKey("FullAccess")):
            return f"gives {key} FULL ACCESS to the account"
        case AddKey(key, AccessKey(KeyPermission(receiver, allowance, methods))):
            most = (
                "without limit"
                if allowance is None
                else f"for at most {units(int(allowance))} of gas"
            )
            return (
                f"gives {key} access to {', '.join(methods) or 'all methods'} of {receiver}, {most}"
            )
        case DeleteKey(key):
            return f"removes the key {key}"
        case DeleteAccount(beneficiary):
            return f"DELETES the account and sends its balance to {beneficiary}"
        case DeployContract(code):
            return f"deploys a contract with the SHA-256 {hashlib.sha256(_bytes(code)).hexdigest()}"
        case _:
            return "creates the account"


def _write(action: NearAction) -> bytes:
    number = bytes([_KINDS.index(action.type)])
    match action.read():
        case DeployContract(code):
            data = _bytes(code)
            return number + _u32(len(data)) + data
        case FunctionCall(name, args, gas, deposit):
            if int(gas) > MOST_GAS:
                raise ValueError(f"gas must be at most {MOST_GAS}.")
            data = _bytes(args) if isinstance(args, str) else msgspec.json.encode(args)
            call = nep413.text(name) + _u32(len(data)) + data
            return number + call + int(gas).to_bytes(8, "little") + _u128(deposit)
        case Transfer(deposit):
            return number + _u128(deposit)
        case Stake(stake, key):
            return number + _u128(stake) + _key(key)
        case AddKey(key, access):
            return number + _key(key) + access.nonce.to_bytes(8, "little") + _permission(access)
        case DeleteKey(key):
            return number + _key(key)
        case DeleteAccount(beneficiary):
            return number + _account(beneficiary)
        case _:
            return number


def _permission(access: AccessKey) -> bytes:
    if not isinstance(access.permission, KeyPermission):
        return b"\1"
    only = access.permission
    allowance = b"\0" if only.allowance is None else b"\1" + _u128(only.allowance)
    methods = b"".join(map(nep413.text, only.method_names))
    return b"\0" + allowance + _account(only.receiver_id) + _u32(len(only.method_names)) + methods


def _in_camel_case(params: Mapping[str, Any]) -> dict[str, Any]:
    """Convert names of parameters to camel case, except within the arguments of a call."""
    renamed: dict[str, Any] = {}
    for name, value in params.items():
        first, *more = name.split("_")
        spelled = first + "".join(part.capitalize() for part in more)
        if spelled in renamed:
            raise ValueError(f"{spelled} is given in two spellings. Leave one out.")
        is_nested = isinstance(value, dict) and spelled != "args"
        renamed[spelled] = _in_camel_case(value) if is_nested else value
    return renamed


def _account(name: str) -> bytes:
    if not nep413.is_account(name):
        raise ValueError(f"{name!r} is not a NEAR account id.")
    return nep413.text(name)


def _key(text: str) -> bytes:
    return b"\0" + read_key(text).public_bytes_raw()


def _bytes(text: str) -> bytes:
    return from_base64(text)


def _u32(number: int) -> bytes:
    return number.to_bytes(4, "little")


def _u128(amount: str) -> bytes:
    try:
        return int(amount).to_bytes(16, "little")
    except OverflowError:
        raise ValueError(f"{amount} is too large.") from None
