"""Decrypts the values of a reply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UnsetType

from aitp_data.encryption import jwe
from aitp_data.encryption.ecies import Encrypted
from aitp_data.encryption.errors import Undecipherable
from aitp_data.encryption.keys import Keys
from aitp_data.forms import Given
from aitp_data.messages import MOST_FIELDS, Data, DataField, FormField
from aitp_data.records import AskedForm
from aitp_data.untrusted_json import Unreadable, read_json
from aitp_desk.capability import InvalidRequest

MOST_ALONE = 10
"""Maximum number of individually encrypted values in a reply."""


def given_in(data: Data, asked: AskedForm, keys: Keys) -> tuple[Given, ...]:
    """Return all values of a reply. Values encrypted for another asker stay encrypted.

    Raises:
        InvalidRequest: a value does not decrypt, or too many are encrypted individually.
    """
    alone = [one for one in data.fields if not isinstance(one.encryption, UnsetType)]
    alone += [one for one in data.fields if one.value and jwe.is_jwe(one.value)]
    if len(alone) > MOST_ALONE:
        raise InvalidRequest(
            f"At most {MOST_ALONE} values can be encrypted individually. Put more of them into"
            " `encrypted`, as one JWE.",
            param="data.fields",
        )
    given = [_read(field, index, asked, keys) for index, field in enumerate(data.fields)]
    if not isinstance(data.encrypted, UnsetType):
        given += _whole(data.encrypted, keys)
    # a field without a value may only name a member of `encrypted`
    return tuple(one for one in given if one.value)


def _read(field: DataField, index: int, asked: AskedForm, keys: Keys) -> Given:
    at = f"data.fields[{index}].value"
    value = "" if isinstance(field.value, UnsetType) else field.value
    try:
        if not isinstance(field.encryption, UnsetType):
            if _is_for_asker(field, asked.fields, keys):
                return Given(field.id, value, at, is_theirs=True)
            opened = keys.open_ecies(Encrypted(value, field.encryption), field.id)
            return Given(field.id, opened, at, is_hidden=True)
        if not jwe.is_jwe(value):
            return Given(field.id, value, at)
        theirs = asked.request.jwks
        if not isinstance(theirs, UnsetType) and not keys.knows(jwe.read_header(value).kid):
            return Given(field.id, value, at, is_theirs=True)
        return Given(field.id, _text(keys.open_jwe(value)), at, is_hidden=True)
    except Undecipherable as error:
        raise InvalidRequest(error.why, param=at) from None


def _is_for_asker(field: DataField, fields: Sequence[FormField], keys: Keys) -> bool:
    """Return whether a value is encrypted for another key than the site's."""
    asked = next((one for one in fields if one.id == field.id), None)
    if asked is None or isinstance(asked.encryption, UnsetType):
        return False
    if isinstance(field.encryption, UnsetType) or isinstance(
        field.encryption.public_key, UnsetType
    ):
        return not keys.is_for_us(asked.encryption.public_key)
    return not keys.is_for_us(field.encryption.public_key)


def _whole(encrypted: str, keys: Keys) -> Iterator[Given]:
    at = "data.encrypted"
    try:
        opened = keys.open_jwe(encrypted)
    except Undecipherable as error:
        raise InvalidRequest(error.why, param=at) from None
    try:
        values = read_json(opened, dict[str, str])
    except Unreadable:
        values = None
    if values is None or len(values) > MOST_FIELDS:
        raise InvalidRequest(
            f"The JWE must contain a JSON object of at most {MOST_FIELDS} strings, by field id.",
            param=at,
        )
    for id, value in values.items():
        yield Given(id, value, at, is_hidden=True)


def _text(opened: bytes) -> str:
    try:
        return opened.decode()
    except UnicodeDecodeError:
        raise Undecipherable("The encrypted value must be UTF-8 text.") from None
