"""Signs transcripts and verifies them from the file and the published keys alone.

The desk signs its statement (``aitp-desk-transcript+jws``) with a key that signs nothing else.
Another party signs a head (``aitp-desk-transcript-head+jws``) and puts its public key in the header
(RFC 7515, section 4.1.3). The signature does not say whose key that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from aitp_desk.auth.jwt.base64url import decode_base64url, encode_base64url
from aitp_desk.auth.jwt.jwk import make_thumbprint
from aitp_desk.auth.jwt.signing_keys import KeyPair
from aitp_desk.auth.keys.detached_jws import SignatureInvalid, read_detached, sign_detached
from aitp_desk.auth.keys.transcript_keys import PublishedKey
from aitp_desk.model.access.weak_keys import is_weak
from aitp_desk.model.conversation.chain import FIRST_LINK, canonical, digest_message, next_link
from aitp_desk.model.conversation.thread import Attachment
from aitp_desk.model.conversation.transcript import (
    KEYS_PATH,
    Document,
    Head,
    Said,
    Statement,
    Tombstone,
    canonical_head,
    canonical_statement,
)
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import decode_json
from aitp_desk.model.web_address import web_address

STATEMENT_TYPE: Final = "aitp-desk-transcript+jws"
HEAD_TYPE: Final = "aitp-desk-transcript-head+jws"


class TranscriptCheck(msgspec.Struct, frozen=True):
    """The result of checking a transcript.

    Parameters:
        document: the parsed transcript.
        wrong: the differences from what was signed, each a sentence; empty for none.
        signers: the thumbprints (RFC 7638) of the countersignatures' keys, in order.
    """

    document: Document
    wrong: tuple[str, ...]
    signers: tuple[str, ...]

    @property
    def erased(self) -> int:
        """The number of messages of which only a tombstone is left."""
        return sum(isinstance(one, Tombstone) for one in self.document.messages)


def sign_statement(pair: KeyPair, statement: Statement) -> str:
    """Return the desk's signature of a statement."""
    return sign_detached(
        pair.private, STATEMENT_TYPE, {"kid": pair.id}, canonical_statement(statement)
    )


def check_countersignature(jws: str, head: Head) -> str:
    """Verify another party's signature of a head.

    Returns:
        The thumbprint of its key.

    Raises:
        SignatureInvalid: the signature is not valid.
    """
    signed = read_detached(jws, HEAD_TYPE, "jwk")
    jwk = signed.header["jwk"]
    key = _ed25519_of(jwk)
    signed.check(key, canonical_head(head))
    return make_thumbprint(jwk)


def read_transcript(body: bytes) -> Document:
    """Parse a transcript; nothing of it is verified.

    Raises:
        InvalidRequest: it is not a transcript; the message says what is wrong.
    """
    try:
        return msgspec.convert(decode_json(body, with_nul=True, most_values=None), Document)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"It is not a transcript: {error}.") from None


def check_transcript(document: Document, keys: Sequence[PublishedKey]) -> TranscriptCheck:
    """Check everything in a transcript against its proofs.

    Parameters:
        keys: those that its site publishes.
    """
    head = document.statement.head
    signers: list[str] = []
    wrong = [
        *_wrong_signature(document, keys),
        *_wrong_messages(document),
        *_wrong_tombstones(document),
    ]
    if head.seq != len(document.messages):
        wrong.append(
            f"The desk has signed {head.seq} messages, but the file has {len(document.messages)}."
        )
    if not _is_origin(head.site):
        wrong.append(
            "The site must be an address without a path, such as https://desk.example.com."
        )
    if document.statement.keys != f"{head.site}{KEYS_PATH}":
        wrong.append("The file names another address for the keys than that of the site's keys.")
    for n, one in enumerate(document.statement.countersignatures, 1):
        signed = msgspec.structs.replace(head, site=one.site, seq=one.seq, link=one.link)
        try:
            signers.append(check_countersignature(one.jws, signed))
        except SignatureInvalid as error:
            wrong.append(f"Countersignature {n} is not valid: {error}.")
        if one.link != link_at(document, one.seq):
            wrong.append(f"Countersignature {n} belongs to another chain of messages.")
    return TranscriptCheck(document, tuple(wrong), tuple(signers))


def link_at(document: Document, seq: int) -> str | None:
    """Return the link of a message by its number; None if there is none."""
    if seq == 0:
        return encode_base64url(FIRST_LINK)
    return document.messages[seq - 1].link if 0 < seq <= len(document.messages) else None


def _is_origin(site: str) -> bool:
    """Return whether a URL is a bare origin. Its keys are then those of the whole site."""
    address = web_address(site)
    if address is None or "@" in address.netloc:
        return False
    return site == f"{address.scheme}://{address.netloc}"


def _wrong_signature(document: Document, keys: Iterable[PublishedKey]) -> Iterator[str]:
    statement = document.statement
    try:
        signed = read_detached(document.signature, STATEMENT_TYPE, "kid")
        key = next((one for one in keys if one.id == signed.header["kid"]), None)
        if key is None:
            yield "The site publishes no key that verifies this signature."
            return
        signed.check(_ed25519_of(key.jwk()), canonical_statement(statement))
    except SignatureInvalid as error:
        yield f"The desk's signature is not valid: {error}."
        return
    if key.withdrawn_at is not None:
        yield "The site has withdrawn the key of this signature: others may have it."
    elif not key.is_of(statement.time):
        yield "The key was not in use at the time that the desk gives for its signature."


def _wrong_messages(document: Document) -> Iterator[str]:
    """Yield the first broken link; all later ones depend on it."""
    head, link = document.statement.head, FIRST_LINK
    for seq, one in enumerate(document.messages, 1):
        if one.seq != seq:
            yield f"Message {seq} is missing; number {one.seq} is in its place."
            return
        digest = decode_base64url(one.digest)
        if digest is None or (isinstance(one, Said) and digest != _digest_of(one, head.thread)):
            yield f"The content, the author or the time of message {seq} was changed."
            return
        link = next_link(link, digest)
        if one.link != encode_base64url(link):
            yield f"Message {seq} is not linked to the message before it."
            return
    if document.messages and head.link != encode_base64url(link):
        yield "The desk has signed other messages: the last link is different."
    if not document.messages and head.link != encode_base64url(FIRST_LINK):
        yield "The desk has signed messages, but the file has none."


def _wrong_tombstones(document: Document) -> Iterator[str]:
    """Yield messages left out or restored by others than the desk: a tombstone needs no secret."""
    erased = set(document.statement.erased)
    left = {seq for seq, one in enumerate(document.messages, 1) if isinstance(one, Tombstone)}
    for seq in sorted(left - erased):
        yield (f"Message {seq} was not erased when the desk signed this. Another party removed it.")
    for seq in sorted(erased - left):
        yield f"Message {seq} was erased when the desk signed this, but the file contains it."


def _digest_of(message: Said, thread: str) -> bytes | None:
    salt = decode_base64url(message.salt)
    if salt is None:
        return None
    said = canonical(
        thread=thread,
        seq=message.seq,
        role=message.role,
        actor=message.actor,
        created_at=message.created_at,
        content=message.content,
        attachments=tuple(Attachment(one.file_id, one.tools) for one in message.attachments),
    )
    return digest_message(salt, said)


def _ed25519_of(jwk: Any) -> Ed25519PublicKey:
    """Read a public key with only its thumbprint's members (RFC 8037, section 2).

    Raises:
        SignatureInvalid: it is not such a key.
    """
    told = SignatureInvalid(
        "jwk must have exactly kty OKP, crv Ed25519 and x, the public key in base64url"
    )
    if not isinstance(jwk, dict) or jwk.keys() != {"kty", "crv", "x"}:
        raise told
    public = decode_base64url(jwk["x"]) if isinstance(jwk["x"], str) else None
    if (jwk["kty"], jwk["crv"]) != ("OKP", "Ed25519") or public is None:
        raise told
    try:
        key = Ed25519PublicKey.from_public_bytes(public)
    except ValueError:
        raise told from None
    if is_weak(public):
        raise SignatureInvalid("jwk is a weak key, whose signatures prove nothing")
    return key
