"""Reads and writes transcripts and countersignatures of heads. Pure: no I/O, no clock."""

from __future__ import annotations

import re
from collections.abc import Mapping

from aitp_desk.auth.keys.transcript_keys import PublishedKey, write_keys
from aitp_desk.desk.threads.transcripts import Transcript
from aitp_desk.model.conversation.transcript import Countersignature
from aitp_desk.model.errors import InvalidRequest, MissingField
from aitp_desk.protocols.aitp.objects import HeadSignature
from aitp_desk.protocols.aitp.shapes import decode_object
from aitp_desk.protocols.aitp.wire import encode
from aitp_desk.protocols.base.protocol import JSON, Call, Reply, matches_etag

KEPT_SECONDS = 3600
"""How long clients may cache the keys."""
_BEYOND = 10**15
"""More messages than a thread can have; every database can store this number."""
_PLACE = re.compile(r"[0-9]{1,15}", re.ASCII)
_MINE = ("Cache-Control", "private, no-cache")


def decode_place(query: Mapping[str, str]) -> int | None:
    """Decode ``seq``: the last requested message; None for the newest.

    Raises:
        InvalidRequest: it is not a number.
    """
    seq = query.get("seq")
    if seq is not None and _PLACE.fullmatch(seq) is None:
        raise InvalidRequest("`seq` must be the number of a message.", param="seq")
    return None if seq is None else int(seq)


def decode_countersignature(body: bytes) -> tuple[int, str]:
    """Decode ``seq`` and ``jws``, the body of a countersignature.

    Raises:
        MissingField: one of them is missing.
        InvalidRequest: one of them has the wrong shape.
    """
    given = decode_object(body)
    for name in ("seq", "jws"):
        if name not in given:
            raise MissingField(
                'A signature of a head is {"seq": …, "jws": "…"}: the number of the head\'s last'
                " message, and the JWS.",
                param=name,
            )
    seq, jws = given["seq"], given["jws"]
    if isinstance(seq, bool) or not isinstance(seq, int) or not 0 < seq < _BEYOND:
        raise InvalidRequest("`seq` must be the number of a message.", param="seq")
    if not isinstance(jws, str):
        raise InvalidRequest("`jws` must be a JWS with detached content.", param="jws")
    return seq, jws


def encode_transcript(transcript: Transcript, call: Call) -> Reply:
    """Encode a transcript in pieces, or 304 where the caller has it.

    Its ``ETag`` is weak, because each response is signed again with the current time.
    """
    tag = f'"{transcript.version}"'
    headers = (("ETag", f"W/{tag}"), _MINE)
    if matches_etag(call.headers, tag):
        return Reply(304, headers=headers)
    return Reply(200, headers=headers, pieces=transcript.pieces())


def encode_countersignature(kept: Countersignature) -> Reply:
    """Encode the response to an accepted signature, with what is stored of its key."""
    body = HeadSignature(
        site=kept.site,
        seq=kept.seq,
        link=kept.link,
        jws=kept.jws,
        actor=kept.actor,
        time=kept.time,
    )
    return Reply(200, encode(body))


def encode_keys(keys: tuple[PublishedKey, ...]) -> Reply:
    """Encode the published keys."""
    public = ("Cache-Control", f"public, max-age={KEPT_SECONDS}")
    return Reply(200, write_keys(keys), JSON, (public,))
