"""Validates, hashes and renders typed data that Ethereum wallets sign. Pure.

Source: EIP-712. As in wallets, recursive types and undeclared members are not supported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from aitp_sign.evm.keccak import keccak256
from aitp_sign.evm.secp256k1 import check_address
from aitp_sign.keys.encodings import from_hex

MOST_TYPES = 50
MOST_VALUES = 100
"""Maximum number of values in typed data: each is hashed."""
MOST_BYTES = 16_384
"""Maximum length as JSON."""
DOMAIN = "EIP712Domain"
_DOMAIN_FIELDS = {
    "name": "string",
    "version": "string",
    "chainId": "uint256",
    "verifyingContract": "address",
    "salt": "bytes32",
}
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,99}")
_ARRAY = re.compile(r"(?P<of>.+)\[(?P<count>[1-9][0-9]{0,3})?\]")
_WHOLE = re.compile(r"(?P<sign>u?)int(?P<bits>[1-9][0-9]{0,2})")
_BYTES = re.compile(r"bytes(?P<count>[1-9][0-9]?)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,77})|0x[0-9a-fA-F]{1,64}")


class TypedField(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A member of a type: its name and its type."""

    name: str
    type: str


class TypedData(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Data with its types, as in ``eth_signTypedData_v4``."""

    types: Mapping[str, tuple[TypedField, ...]]
    primary_type: str
    domain: Mapping[str, Any]
    message: Mapping[str, Any]


def check_typed_data(data: TypedData) -> None:
    """Reject data that cannot be hashed, or is ambiguous.

    Raises:
        ValueError: names the member and the rule.
    """
    if len(msgspec.json.encode(data)) > MOST_BYTES:
        raise ValueError(f"Typed data must have at most {MOST_BYTES} bytes as JSON.")
    if len(data.types) > MOST_TYPES:
        raise ValueError(f"types must have at most {MOST_TYPES} types.")
    for name, fields in data.types.items():
        if not _NAME.fullmatch(name) or _is_atomic(name):
            raise ValueError(f"types: {name[:100]!r} is not a valid type name.")
        names = [field.name for field in fields]
        if len(set(names)) < len(names) or not all(map(_NAME.fullmatch, names)):
            raise ValueError(f"types.{name}: each member must have a different name.")
        for field in fields:
            # the name of an empty list's type is hashed too
            kind = field.type
            while (array := _ARRAY.fullmatch(kind)) is not None:
                kind = array["of"]
            if kind not in data.types and not _is_atomic(kind):
                raise ValueError(f"types.{name}.{field.name}: {kind[:100]!r} is not a type.")
    if data.primary_type not in data.types or data.primary_type == DOMAIN:
        raise ValueError("primaryType must be one of the types, except that of the domain.")
    digest_of(data)


def digest_of(data: TypedData) -> bytes:
    """Return the 32-byte digest of typed data.

    Raises:
        ValueError: as for :func:`check_typed_data`.
    """
    reading = _StructHasher({**data.types, DOMAIN: _domain_type(data)})
    domain = reading.hash_struct(DOMAIN, data.domain, "domain")
    message = reading.hash_struct(data.primary_type, data.message, "message")
    return keccak256(b"\x19\x01" + domain + message)


def describe(data: TypedData) -> Iterator[str]:
    """Yield everything that is signed, a line for each value: ``message.to.wallet: 0x…``.

    Each value is shown as given; nothing that is signed is omitted.
    """
    types = {**data.types, DOMAIN: _domain_type(data)}
    yield f"{data.primary_type} ({DOMAIN})"
    yield from _lines(types, DOMAIN, data.domain, "domain")
    yield from _lines(types, data.primary_type, data.message, "message")


def _domain_type(data: TypedData) -> tuple[TypedField, ...]:
    """Return the domain's type; if none is given, its members in the standard's order."""
    given = data.types.get(DOMAIN)
    if given is None:
        members = _DOMAIN_FIELDS.items()
        given = tuple(TypedField(name, kind) for name, kind in members if name in data.domain)
    for field in given:
        if _DOMAIN_FIELDS.get(field.name) != field.type:
            takes = ", ".join(f"{kind} {name}" for name, kind in _DOMAIN_FIELDS.items())
            raise ValueError(f"domain.{field.name} is not supported; a domain can have {takes}.")
    return given


def _lines(
    types: Mapping[str, Sequence[TypedField]], kind: str, value: Any, at: str
) -> Iterator[str]:
    if (array := _ARRAY.fullmatch(kind)) is not None:
        for index, one in enumerate(value):
            yield from _lines(types, array["of"], one, f"{at}[{index}]")
        if not value:
            yield f"{at}: nothing"
    elif kind in types:
        for field in types[kind]:
            yield from _lines(types, field.type, value[field.name], f"{at}.{field.name}")
    else:
        yield f"{at}: {value if isinstance(value, str) else msgspec.json.encode(value).decode()}"


class _StructHasher:
    """Hashes values by their types."""

    def __init__(self, types: Mapping[str, tuple[TypedField, ...]]) -> None:
        self._types = types
        self._left = MOST_VALUES
        self._hashes: dict[str, bytes] = {}

    def hash_struct(self, kind: str, value: Any, at: str) -> bytes:
        if not isinstance(value, Mapping):
            raise ValueError(f"{at} must be an object of type {kind}.")
        fields = self._types[kind]
        if kind not in self._hashes:
            self._hashes[kind] = keccak256(self._type_text(kind).encode())
        encoded = [self._hashes[kind]]
        if more := sorted(set(value) - {field.name for field in fields}):
            raise ValueError(f"{at}.{more[0][:100]}: {kind} has no such member.")
        for field in fields:
            if field.name not in value:
                raise ValueError(f"{at}.{field.name} is missing.")
            encoded.append(self._encode(field.type, value[field.name], f"{at}.{field.name}"))
        return keccak256(b"".join(encoded))

    def _type_text(self, kind: str) -> str:
        """Return a type and all types that it refers to by name (encodeType)."""
        found: set[str] = set()
        self._gather(kind, found, ())
        return "".join(map(self._one_type, [kind, *sorted(found - {kind})]))

    def _gather(self, kind: str, found: set[str], way: tuple[str, ...]) -> None:
        if kind in way:
            raise ValueError(f"types.{kind} contains itself; recursive types are not supported.")
        if kind in found:
            return
        found.add(kind)
        for field in self._types[kind]:
            base = field.type.partition("[")[0]
            if base in self._types:
                self._gather(base, found, (*way, kind))

    def _one_type(self, kind: str) -> str:
        members = ",".join(f"{field.type} {field.name}" for field in self._types[kind])
        return f"{kind}({members})"

    def _encode(self, kind: str, value: Any, at: str) -> bytes:
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"Typed data must have at most {MOST_VALUES} values.")
        if (array := _ARRAY.fullmatch(kind)) is not None:
            if not isinstance(value, Sequence) or isinstance(value, str):
                raise ValueError(f"{at} must be a list of type {kind}.")
            if array["count"] and len(value) != int(array["count"]):
                raise ValueError(f"{at} must have {array['count']} values.")
            parts = (
                self._encode(array["of"], one, f"{at}[{index}]") for index, one in enumerate(value)
            )
            return keccak256(b"".join(parts))
        if kind in self._types:
            return self.hash_struct(kind, value, at)
        return _encode_atomic(kind, value, at)


def _is_atomic(kind: str) -> bool:
    if kind in {"bool", "address", "string", "bytes"}:
        return True
    return bool(_WHOLE.fullmatch(kind) or _BYTES.fullmatch(kind))


def _encode_atomic(kind: str, value: Any, at: str) -> bytes:
    if kind == "bool" and isinstance(value, bool):
        return int(value).to_bytes(32)
    if kind == "string" and isinstance(value, str):
        return keccak256(value.encode())
    if (whole := _WHOLE.fullmatch(kind)) is not None:
        return _whole(value, int(whole["bits"]), is_signed=not whole["sign"], at=at)
    if not isinstance(value, str):
        raise ValueError(f"{at} must have the type {kind[:100]}.")
    try:
        if kind == "address":
            return bytes.fromhex(check_address(value)[2:]).rjust(32, b"\0")
        if kind == "bytes":
            return keccak256(from_hex(value))
        fixed = _BYTES.fullmatch(kind)
        data = b"" if fixed is None else from_hex(value)
    except ValueError as error:
        raise ValueError(f"{at}: {error}") from None
    if fixed is not None and len(data) == int(fixed["count"]) and 1 <= len(data) <= 32:
        return data.ljust(32, b"\0")
    raise ValueError(f"{at} must be a value of type {kind[:100]!r}, and that type must exist.")


def _whole(value: Any, bits: int, *, is_signed: bool, at: str) -> bytes:
    if not 8 <= bits <= 256 or bits % 8:
        raise ValueError(f"{at}: integer types must have 8 to 256 bits, a multiple of 8.")
    number: int | None = None
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        number = int(value, 16 if value.startswith("0x") else 10)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    if number is None:
        raise ValueError(
            f"{at} must be a whole number, or a string with one: decimal, or hex after 0x."
        )
    least, below = (-(1 << bits - 1), 1 << bits - 1) if is_signed else (0, 1 << bits)
    if not least <= number < below:
        raise ValueError(f"{at} must fit in {bits} bits.")
    return number.to_bytes(32, signed=is_signed)
