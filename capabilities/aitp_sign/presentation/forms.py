"""Converts requests to sign to forms, and submitted forms to answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.capability import InvalidRequest, MissingField
from aitp_sign.messages import ApproveSignature, Signature
from aitp_sign.records import Ask
from aitp_sign.subjects import EVM_SCHEMES, Scheme

AGREE = "agree"
_TEXTS = ("signature", "scheme", "public_key", "account", "callback_url")


def approval_form() -> dict[str, Any]:
    """Return the form for the decision whether the desk signs."""
    agree = {"type": "boolean", "title": "Sign this for the site"}
    return {"type": "object", "properties": {AGREE: agree}, "required": [AGREE]}


def approval_by(request_id: str, given: Mapping[str, Any]) -> ApproveSignature:
    """Build the decision of a submitted form.

    Raises:
        InvalidRequest: it is neither yes nor no.
    """
    agree = given.get(AGREE)
    if given.keys() != {AGREE} or not isinstance(agree, bool):
        raise InvalidRequest("agree must be true or false, without other members.", param=AGREE)
    return ApproveSignature(request_id, agree)


def signature_form(schemes: Sequence[Scheme]) -> dict[str, Any]:
    """Return the form for a signature, except a JWS, whose key is an object."""
    named = [scheme for scheme in schemes if scheme != "jws"]
    members: dict[str, Any] = {
        "signature": {"type": "string", "title": "Signature", "maxLength": 6000},
        "scheme": {"type": "string", "title": "Signed by", "enum": named},
        "public_key": {"type": "string", "title": "Public key, ed25519:…", "maxLength": 100},
        "account": {"type": "string", "title": "Account or address", "maxLength": 100},
        "callback_url": {"type": "string", "title": "Signed callback URL", "maxLength": 2000},
    }
    required = ["signature", "scheme"]
    if not EVM_SCHEMES & set(schemes):
        required.append("public_key")
    if set(schemes) <= EVM_SCHEMES:
        required.append("account")
    return {"type": "object", "properties": members, "required": required}


def signature_by(ask: Ask, given: Mapping[str, Any]) -> Signature:
    """Build the signature of a submitted form.

    Raises:
        MissingField, InvalidRequest: it does not fit the form; ``param`` is the member.
    """
    for name, value in given.items():
        if name not in _TEXTS or not isinstance(value, str):
            raise InvalidRequest(
                f"The form has no text member {name[:64]!r}. Its members are: {', '.join(_TEXTS)}.",
                param=name[:64],
            )
    if not given.get("signature"):
        raise MissingField("signature is missing.", param="signature")
    scheme = {"scheme": ask.schemes[0]} if len(ask.schemes) == 1 else {}
    try:
        return msgspec.convert({"request_id": ask.id, **scheme, **given}, Signature)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"The form is not a valid signature: {error}.") from None
