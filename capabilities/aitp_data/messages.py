"""The messages of AITP-03: ``request_data``, and ``data``, the reply.

Source: the published schema of AITP-03, version 1.0.0, and its draft with encrypted values.
Narrower rules are noted where they apply; everything that these types write conforms to both.
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
    """The key for which a field's value must be encrypted.

    Parameters:
        public_key: a point on secp256k1, compressed or not, in hexadecimal digits.
    """

    algorithm: Literal["ECIES-secp256k1-AES-256-GCM"]
    public_key: PublicKey


class FormField(msgspec.Struct, frozen=True, omit_defaults=True):
    """A field of a form.

    Parameters:
        options: all choices of a ``select``, or suggestions of a ``combobox``.
        autocomplete: HTML's tokens for the content, such as ``shipping postal-code``.
        encryption: how to encrypt the value (AITP-03's draft).
        sensitive: whether its value is sealed. An extension of the desk.
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
    """The fields of a form, or the URL from which they are fetched.

    Parameters:
        json_url: URL of a JSON object with ``fields``; fetched if the form has none.
    """

    fields: Annotated[tuple[FormField, ...], Meta(min_length=1, max_length=MOST_FIELDS)] = ()
    json_url: Url | UnsetType = UNSET


class RequestData(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request to fill in a form.

    Parameters:
        actor, valid_until, supersedes: as of ``AnyRequest``. These members and those below are
            extensions of the desk.
        jwks: public keys (RFC 7517) for which values may be encrypted.
        remembers: whether the replying caller can have the values stored for the next form.
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
    """How a value was encrypted; see :mod:`aitp_data.encryption.ecies`.

    Parameters:
        public_key: the receiver's key.
        ephemeral_public_key: the sender's key for this value alone.
        mac: the tag of AES-GCM; like all members, in hexadecimal digits.
    """

    algorithm: Literal["ECIES-secp256k1-AES-256-GCM"]
    ephemeral_public_key: PublicKey
    mac: Annotated[str, Meta(pattern="^(0x)?[0-9A-Fa-f]{32}$")]
    iv: Annotated[str, Meta(pattern="^(0x)?[0-9A-Fa-f]{24}$")]
    public_key: PublicKey | UnsetType = UNSET


class DataField(msgspec.Struct, frozen=True, omit_defaults=True):
    """A field that was filled in.

    Parameters:
        label: the label in the request; the sender's is ignored.
        value: text, a compact JWE (RFC 7516) or, with ``encryption``, hexadecimal digits.
        sealed: in stored messages, the reference of the sealed value; then ``value`` is missing.
    """

    id: Id
    label: Name = ""
    value: Given | UnsetType = UNSET
    encryption: Encryption | UnsetType = UNSET
    sealed: Name = ""


class Data(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to a form.

    Parameters:
        request_data_id: the request's id; optional if only one is open.
        encrypted: values as a compact JWE of an object by field id. This member and those below are
            extensions of the desk.
        remember: whether to store the values for the next form; false deletes all stored values.
        in_words: whether it was parsed from text; then faults are reported on the thread.
    """

    fields: Annotated[tuple[DataField, ...], Meta(min_length=1, max_length=MOST_FIELDS)]
    request_data_id: Name = ""
    encrypted: Given | UnsetType = UNSET
    remember: bool | UnsetType = UNSET
    in_words: bool = False


Reason = Uncounted | Literal["not_ready", "unfit"]
"""Why a reply is rejected; also: the form is not fetched yet, or a value does not fit its field."""


class RejectedData(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rejected reply, stored on the thread in place of the original.

    Parameters:
        reason: the reason as a code.
        message: the reason as a sentence.
        fields: as of :class:`Data`; sensitive values are sealed or left out.
        request_data_id: the request that it names or was matched with.
    """

    reason: Reason
    message: str
    fields: tuple[DataField, ...]
    request_data_id: Name = ""


MESSAGES: dict[str, type[msgspec.Struct]] = {"request_data": RequestData, "data": Data}
"""The keys of a message, without ``$schema``; a message has exactly one."""
OWN: dict[str, type[msgspec.Struct]] = {"rejected_data": RejectedData}
"""The desk's own messages, which AITP-03 does not define."""
