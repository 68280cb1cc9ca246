"""Defines OAuth clients and signing keys as stored."""

from __future__ import annotations

import msgspec

from aitp_desk.store.records.keys import Credential


class Client(Credential, frozen=True, kw_only=True):
    """A program that gets access tokens with an id and a secret.

    Source: RFC 6749, section 2.

    Parameters:
        is_registered: whether it registered itself (RFC 7591); else the owner made it.
    """

    is_registered: bool


class SigningKey(msgspec.Struct, frozen=True):
    """The times of a signing key. The key itself is derived and not stored.

    Parameters:
        version: from 2 on; the first key has no row.
        made_at: Unix seconds, as is ``signs_from``.
        signs_from: until then it is only published.
        data_key: the version of the data key that it is derived from.
        voids_earlier: whether the keys before it are void.
    """

    version: int
    made_at: int
    signs_from: int
    data_key: int = 1
    voids_earlier: bool = False
