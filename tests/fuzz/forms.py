"""What is filled in to forms, and the forms that other servers have."""

from __future__ import annotations

import base64
import json
from contextlib import suppress

import msgspec

from aitp_data.encryption.decryption import given_in
from aitp_data.encryption.errors import Undecipherable
from aitp_data.encryption.jwe import read_header
from aitp_data.forms import settle
from aitp_data.messages import Data, RequestData
from aitp_data.records import AskedForm
from aitp_data.remote_forms import Unusable, _read
from aitp_data.text import tell_data, tell_request
from aitp_data.word_replies import OpenForm, understand
from aitp_desk.model.errors import InvalidRequest
from tests.fuzz.target import JSON_WORDS, REFUSALS, Target
from tests.support.plugins.forms import ADDRESS, PAYING, REPLIES, keys

_KEYS = keys()
_FORMS = tuple(msgspec.convert(one, RequestData) for one in (ADDRESS, PAYING))
_ASKED = tuple(AskedForm(one, "seller", 1, fields=one.form.fields) for one in _FORMS)
_HEADER = {
    "alg": "ECDH-ES+A256KW",
    "enc": "A256GCM",
    "epk": {"kty": "OKP", "crv": "X25519", "x": "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
}
_JWE = base64.urlsafe_b64encode(json.dumps(_HEADER).encode()).rstrip(b"=") + b".AAAA.AAAA.AA.AAAA"


def _jwe(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    read_header(text)
    with suppress(Undecipherable):
        raise AssertionError(f"Nobody has encrypted {_KEYS.open_jwe(text)!r}.")


def _reply(data: bytes) -> None:
    reply = msgspec.json.decode(data, type=Data)
    tell_data(reply)
    sending, paying = _ASKED
    with suppress(InvalidRequest):
        settle(paying.fields, given_in(reply, paying, _KEYS))
    settle(sending.fields, given_in(reply, sending, _KEYS))


def _words(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for form in _FORMS:
        heard = understand(text, (OpenForm(form, form.form.fields, remembers=True),))
        assert heard is None or (heard.in_words and heard.fields)


def _form(data: bytes) -> None:
    fields = _read(200, data)
    form = msgspec.structs.replace(_FORMS[0].form, fields=fields)
    assert tell_request(msgspec.structs.replace(_FORMS[0], form=form))


_TOO = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

FILLED = (
    Target(
        "encrypted value",
        _jwe,
        (_JWE,),
        (b".", b"eyJ", b"AAAA", b"==", b"-", b"_"),
        0.5,
        (*REFUSALS, Undecipherable),
    ),
    Target(
        "reply to a form",
        _reply,
        tuple(map(msgspec.json.encode, REPLIES[:2])),
        (*JSON_WORDS, b'"fields"', b'"encryption"', b'"encrypted"', b'"value"', _JWE),
        1.0,
        (*REFUSALS, *_TOO),
    ),
    Target(
        "form in words",
        _words,
        (b"Name: Ada\nPostal code: 10115", b"Card number: 4242 4242 4242 4242", b"The same."),
        (b":", b"=", b"\n", b"- ", b"Remember: yes", b"4242424242424242", b"@", b"?"),
    ),
    Target(
        "form from elsewhere",
        _form,
        (msgspec.json.encode(ADDRESS["form"]), msgspec.json.encode(PAYING["form"])),
        (*JSON_WORDS, b'"fields"', b'"id"', b'"options"', b'"default_value"', b'"select"'),
        1.0,
        (*REFUSALS, Unusable),
    ),
)
