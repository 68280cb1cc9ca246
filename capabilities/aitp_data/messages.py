"""The messages of AITP-03: ``request_data``, and ``data``, which answers one.

Source: the published schema of AITP-03, version 1.0.0, and its draft with encrypted values.
Narrower rules are noted where they apply; everything that these types write is valid by both.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from aitp_desk.capability import Uncounted

MOST_FIELDS = 50
LONGEST_GIVEN = 16_384
"""Maximum length of a value as received, possibly encrypted, in characters."""
ECIES: Final = "ECIES-secp256k1-AES-256-GCM"

Id = Annotated[str, Meta(min_length=1, max_length=200)]
Name = Annotated[str, Meta(max_length=200)]
Paragraph = Annotated[str, Meta(max_length=4000)]
Url = Annotated[
    str, Meta(max_length=2000, pattern="^https?://", extra_json_schema={"format": "uri"})
]
Moment = Annotated[datetime, Meta(tz=True)]
FieldType = Literal["text", "number", "email", "textarea", "select", "combobox", "tel"]
PublicKey = Annotated[str, Meta(pattern="^(0x)?([0-9A-Fa-f]{66}|[0-9A-Fa-f]{130})$")]
Given = Annotated[str, Meta(max_length=LONGEST_GIVEN)]


class Recipient(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """For whom a field's value is to be encrypted.

    Parameters:
        public_key: a point on secp256k1, compressed or not, in hexadecimal digits.
    """

    algorithm: Literal["ECIES-secp256k1-AES-256-GCM"]
    public_key: PublicKey


class FormField(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing to fill in.

    Parameters:
        options: all there is of a ``select``, what is proposed of a ``combobox``.
        autocomplete: what it is, by the tokens of HTML: ``shipping postal-code``.
        encryption: of the draft.
        sensitive: whether its value is sealed. It is the desk's own field.
    """

    id: Id
    label: Name = ""
    description: Paragraph = ""
    default_value: Annotated[str, Meta(max_length=8000)] = ""
    type: FieldType = "text"
    options: Annotated[tuple[Name, ...], Meta(max_length=300)] = ()
    required: bool = False
    autocomplete: Name = ""
    encryption: Recipient | UnsetType = UNSET
    sensitive: bool = False


class Form(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is to be filled in, or where that is told.

    Parameters:
        json_url: where a JSON object with ``fields`` is; it is fetched where none stand here.
    """

    fields: Annotated[tuple[FormField, ...], Meta(min_length=1, max_length=MOST_FIELDS)] = ()
    json_url: Url | UnsetType = UNSET


class RequestData(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request to fill in a form.

    Parameters:
        actor, valid_until, supersedes: as of ``AnyRequest``.
        They
            are the desk's own fields, as those below are.
        jwks: public keys, as RFC 7517 has them, for which values may be encrypted.
        remembers: whether who answers can have the values kept for the next form.
    """

    id: Id
    description: Paragraph
    form: Form
    title: Paragraph = ""
    fill_button_label: Name = field(name="fillButtonLabel", default="Fill out form")
    actor: Name = ""
    valid_until: Moment | UnsetType = UNSET
    supersedes: Name = ""
    jwks: Mapping[str, Any] | UnsetType = UNSET
    remembers: bool = False


class Encryption(
    msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True
):
    """How a value was encrypted, by the draft: see :mod:`aitp_data.encryption.ecies`.

    Parameters:
        public_key: for whom.
        ephemeral_public_key: whose private key only its sender had.
        mac: the tag of AES-GCM, in hexadecimal digits, as all here.
    """

    algorithm: Literal["ECIES-secp256k1-AES-256-GCM"]
    ephemeral_public_key: PublicKey
    mac: Annotated[str, Meta(pattern="^(0x)?[0-9A-Fa-f]{32}$")]
    iv: Annotated[str, Meta(pattern="^(0x)?[0-9A-Fa-f]{24}$")]
    public_key: PublicKey | UnsetType = UNSET


class DataField(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was filled in.

    Parameters:
        label: as the request has it, whatever the sender wrote.
        value: as text; or a compact JWE (RFC 7516); or, with ``encryption``, hexadecimal digits.
        sealed: of a stored message: the reference of what was sealed in place of ``value``.
    """

    id: Id
    label: Name = ""
    value: Given | UnsetType = UNSET
    encryption: Encryption | UnsetType = UNSET
    sealed: Name = ""


class Data(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was filled in.

    Parameters:
        request_data_id: which request it answers; it may be left out where one alone waits.
        encrypted: values as a compact JWE of an object, by the ids of fields. It is the desk's own
            field, as those below are.
        remember: whether the values are to be kept for the next form; false forgets all.
        in_words: whether it was understood from words: what is wrong is told on the thread then.
    """

    fields: Annotated[tuple[DataField, ...], Meta(min_length=1, max_length=MOST_FIELDS)]
    request_data_id: Name = ""
    encrypted: Given | UnsetType = UNSET
    remember: bool | UnsetType = UNSET
    in_words: bool = False


Reason = Uncounted | Literal["not_ready", "unfit"]
"""Why a reply does not count; also: the form is not fetched yet, or a value does not fit it."""


class RejectedData(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was filled in and does not count: it stands on the thread in place of what was sent.

    Parameters:
        reason: why, for programs.
        message: the same in words.
        fields: as of :class:`Data`; what is sensitive is sealed, or left out.
        request_data_id: which request it named, or was taken to mean.
    """

    reason: Reason
    message: str
    fields: tuple[DataField, ...]
    request_data_id: Name = ""


MESSAGES: dict[str, type[msgspec.Struct]] = {"request_data": RequestData, "data": Data}
"""The keys of a message besides ``$schema``; exactly one is present."""
OWN: dict[str, type[msgspec.Struct]] = {"rejected_data": RejectedData}
"""The desk's own messages, which AITP-03 does not define."""
