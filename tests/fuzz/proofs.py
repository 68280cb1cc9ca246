"""What callers bring to prove who they are, before anything of it is proven."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

import msgspec
from multidict import CIMultiDict

from aitp_desk.auth.credentials.address_line import check_address
from aitp_desk.auth.credentials.api_key import parse_api_key
from aitp_desk.auth.credentials.request_credentials import GRANT, read_credentials
from aitp_desk.auth.credentials.signed_request import make_signed_text, read_signed
from aitp_desk.auth.jwt.compact import read_compact
from aitp_desk.auth.jwt.jwk import read_key
from aitp_desk.auth.jwt.jwks import read_set
from aitp_desk.auth.jwt.key_sets import KeySetError, read_freshness
from aitp_desk.auth.keys.detached_jws import SignatureInvalid
from aitp_desk.auth.keys.transcript_keys import read_keys
from aitp_desk.auth.keys.transcripts import (
    check_countersignature,
    check_transcript,
    read_transcript,
)
from aitp_desk.auth.web_bot_auth.directories import MEDIA_TYPE, read_directory
from aitp_desk.auth.web_bot_auth.message_signature import (
    MAX_COMPONENTS,
    PublicKey,
    Request,
    covered_digest,
    covers_request,
    read_claim,
    verify_claim,
)
from aitp_desk.egress import Fetched
from aitp_desk.model.access.grant import is_link
from aitp_desk.model.conversation.transcript import Head
from aitp_desk.model.errors import NotAuthenticated
from tests.fuzz.target import JSON_WORDS, REFUSALS, Target, headers_of

_NOW = 1_800_000_000
_JWT = b"eyJhbGciOiJFZERTQSIsImtpZCI6ImsifQ.eyJpc3MiOiJhIiwiZXhwIjoxfQ.c2ln"
_JWK = b'{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}'
_SIGNED = (
    b'keyid="0123456789abcdef.1", timestamp="1800000000", nonce="n-0123456789.ABC", body="'
    + b"0" * 64
    + b'", signature="'
    + b"f" * 64
    + b'"'
)
_SIGNATURE = (
    b'Signature-Agent: agent="https://agent.example"\n'
    b'Signature-Input: agent=("@authority" "@method" "@target-uri" "content-digest"'
    b' "signature-agent";key="agent");created=1800000000;expires=1800000060'
    b';keyid="kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";alg="ed25519";nonce="n";tag="web-bot-auth"'
    b"\nSignature: agent=:" + b"A" * 86 + b"==:\n"
    b"Content-Digest: sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
)
_BARE = (
    b'Signature-Agent: "https://agent.example"\n'
    b'Signature-Input: sig1=("@authority" "signature-agent");created=1;expires=2'
    b';keyid="kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";tag="web-bot-auth"'
    b"\nSignature: sig1=:AA==:"
)
_FIELDS = (
    *(b"Signature-Agent: ", b"Signature-Input: ", b"Signature: ", b"Content-Digest: ", b"\n"),
    *(b'"@authority"', b'"@path"', b'"@query-param";name="a"', b'"@status"', b"web-bot-auth"),
    *(
        b";req",
        b";bs",
        b";sf",
        b";key=",
        b";created=",
        b";expires=",
        b";tag=",
        b"=?1",
        b"=@1",
        b"%00",
    ),
    *(b"(", b")", b":", b'"', b"agent=", b"https://", b"xn--", b"9" * 16),
)


def _signed(data: bytes) -> None:
    """What is read has one meaning: no part of it begins another line of what is signed."""
    signed = read_signed(data.decode("latin-1"))
    assert make_signed_text("GET", "/", signed).count(b"\n") == 5


def _presented(data: bytes) -> None:
    """A link comes in its own header, and no other header brings one."""
    headers = headers_of(data)
    presented = read_credentials(headers)
    assert (presented.scheme == GRANT) == (GRANT in headers)
    assert not is_link(presented.credential) or len(presented.credential) == len("link_") + 43


def _key() -> PublicKey:
    key = read_key(msgspec.json.decode(_JWK))
    assert key is not None
    return cast("PublicKey", key.material)


_KEY = _key()


def _claim(data: bytes) -> None:
    """Nobody has signed with this key: a claim is read, and never proven."""
    headers = headers_of(data)
    claim = read_claim(headers)
    if claim is None:
        return
    assert claim.origin.startswith(("https://", "http://"))
    request = Request("GET", "https://desk.example/v1/threads?a=b", headers)
    try:
        covered = verify_claim(claim, _KEY, request)
    except NotAuthenticated:
        return
    raise AssertionError(f"a signature that nobody made covers {covered}")


def _covered(data: bytes) -> None:
    lines = data.decode("utf-8", "replace").split("\n")[: 2 * MAX_COMPONENTS]
    covered = dict(zip(lines[::2], lines[1::2], strict=False))
    covers_request(covered, "/v1/threads?a=b")
    digest = covered_digest(covered)
    assert digest is None or len(digest) == 32


def _directory(data: bytes) -> None:
    head, _, body = data.partition(b"\n\n")
    headers = CIMultiDict(headers_of(head))
    headers.setdefault("Content-Type", MEDIA_TYPE)
    answer = Fetched(200, headers, body, "https://agent.example/.well-known/x")
    assert 300 <= read_freshness(answer) <= 86_400
    for id_ in read_directory(answer, _NOW):
        assert len(id_) == 43


def _one_key(data: bytes) -> None:
    with suppress(msgspec.DecodeError, UnicodeDecodeError):  # it comes within a set that was read
        read_key(msgspec.json.decode(data))


_HEAD = Head(site="https://desk.example", thread="thread_1", seq=1, link="A" * 43, v=1)
_JWS = (
    b"eyJhbGciOiJFZERTQSIsImp3ayI6eyJjcnYiOiJFZDI1NTE5Iiwia3R5IjoiT0tQIiwieCI6IjExcVlBWUt4Q3JmVl9T"
    b"N1R5V1FIT2c3aGN2UGFwaU1scndJYWFQY0hVUm8ifSwidHlwIjoiYWl0cC1kZXNrLXRyYW5zY3JpcHQtaGVhZCtqd3Mi"
    b"fQ.." + b"A" * 86
)
_TRANSCRIPT = (
    b'{"statement": {"head": {"site": "https://desk.example", "thread": "thread_1", "seq": 2,'
    b' "link": "AA", "v": 1}, "actors": ["a"], "opened_at": 1, "time": 2, "keys": "k",'
    b' "erased": [2],'
    b' "countersignatures": [{"site": "https://desk.example", "seq": 1, "link": "AA",'
    b' "jws": "a..b", "actor": "a", "time": 1}]},'
    b' "signature": "a..b", "messages": [{"object": "message", "seq": 1, "role": "user",'
    b' "actor": "a", "created_at": 1, "content": ["Hi"], "attachments": [{"file_id": "f",'
    b' "tools": []}], "salt": "AA", "digest": "AA", "link": "AA"},'
    b' {"object": "tombstone", "seq": 2, "digest": "AA", "link": "AA"}]}'
)


def _transcript(data: bytes) -> None:
    """Nobody has signed it."""
    assert check_transcript(read_transcript(data), ()).wrong


def _head_signature(data: bytes) -> None:
    """Nobody has signed the head."""
    with suppress(SignatureInvalid):
        check_countersignature(data.decode("latin-1"), _HEAD)
        raise AssertionError("Nobody has signed this.")


PROOFS = (
    Target(
        "what is presented",
        _presented,
        (
            b"Authorization: Bearer desk_00\nX-AHP-Key: desk_00",
            b"Desk-Grant: link_" + b"A" * 43,
        ),
        (b"Authorization: ", b"X-AHP-Key: ", b"Bearer ", b"Signature-Input: ", b"Desk-Grant: "),
    ),
    Target(
        "address of a request",
        lambda data: check_address(data.decode("utf-8", "surrogateescape")),
        (b"/v1/threads?order=asc", b"https://desk.example/v1?to=ken", b"/%64esk"),
        (
            b"?token=",
            b"&api_key=",
            b"%3D",
            b"%",
            b";",
            b"desk_0123456789abcdef_",
            b"@",
            b"eyJ",
            _JWT,
        ),
    ),
    Target(
        "API key",
        lambda data: parse_api_key(data.decode("latin-1")),
        (b"desk_0123456789abcdef_" + b"0" * 64,),
        (b"desk_", b"_"),
    ),
    Target(
        "bearer token",
        lambda data: read_compact(data.decode("latin-1")),
        (_JWT,),
        (b".", b"eyJ", b"=", b"-"),
        2,
    ),
    Target(
        "signed request",
        _signed,
        (_SIGNED, _SIGNED.replace(b'"', b"")),
        (b"keyid=", b"timestamp=", b"nonce=", b"body=", b"signature=", b'"', b",", b"\t", b"\n"),
    ),
    Target("message signature", _claim, (_SIGNATURE, _BARE), _FIELDS),
    Target(
        "what a signature covers",
        _covered,
        (
            b'"content-digest"\nsha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:\n"@method"\nGET',
            b'"content-digest";key="sha-256"\n:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
        ),
        (*_FIELDS, b"sha-256=", b"sha-512="),
        0.5,
    ),
    Target("issuer's key", _one_key, (_JWK,), (b'"kty"', b'"EC"', b'"RSA"', b'"n"', b'"e"'), 0.2),
    Target(
        "issuer's set of keys",
        read_set,
        (b'{"keys": [' + _JWK + b"]}",),
        (*JSON_WORDS, b'"keys"', b'"kid"', b'"use"', b'"key_ops"', b'"alg"', _JWK),
        0.2,
        (KeySetError,),
    ),
    Target(
        "agent's key directory",
        _directory,
        (
            b"Cache-Control: max-age=60\n\n" + b'{"keys": [' + _JWK + b"]}",
            b'Signature-Input: a=("@authority";req "content-digest");created=1;expires=1900000000'
            b';keyid="kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"'
            b';tag="http-message-signatures-directory"\nSignature: a=:AA==:\n\n{"keys": ['
            + _JWK
            + b"]}",
        ),
        (*JSON_WORDS, *_FIELDS, b'"keys"', b'"nbf"', b'"exp"', b'"kid"', _JWK),
        0.2,
        (*REFUSALS, KeySetError, ValueError),
    ),
    Target(
        "transcript",
        _transcript,
        (_TRANSCRIPT,),
        (*JSON_WORDS, b'"object"', b'"tombstone"', b'"message"', b'"seq"', b'"v"', b'"salt"'),
    ),
    Target("signature of a transcript", _head_signature, (_JWS,), (b"..", b"eyJ", b"=", b"-")),
    Target(
        "keys of transcripts",
        read_keys,
        (b'{"keys": [' + _JWK + b"]}",),
        (*JSON_WORDS, b'"keys"', b'"kid"', b'"nbf"', b'"exp"', b'"revoked"', _JWK),
        0.5,
    ),
)
