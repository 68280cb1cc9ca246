"""Transcripts: the messages of a thread, signed by the desk.

A thread may not fit into memory. So the head and the list of erased messages are fixed first, and
the messages up to the head are read and written a few at a time. If one of them is erased
meanwhile, writing stops, because the signed content no longer exists: a new request returns a new
transcript.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256

import msgspec

from aitp_desk.auth.jwt.base64url import encode_base64url
from aitp_desk.auth.keys.detached_jws import SignatureInvalid
from aitp_desk.auth.keys.transcript_keys import PublishedKey, TranscriptKeys
from aitp_desk.auth.keys.transcripts import check_countersignature, sign_statement
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.model.conversation.transcript import (
    KEYS_PATH,
    Countersignature,
    Head,
    Said,
    Statement,
    Tombstone,
    TranscriptFile,
    canonical_statement,
)
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads import transcripts as transcript_reads
from aitp_desk.store.records.threads import StoredThread
from aitp_desk.store.records.transcripts import ProvenMessage, StoredCountersignature
from aitp_desk.store.rows.threads import read_attachments, read_texts
from aitp_desk.store.units.privacy.transcripts import countersign

PIECE_MESSAGES = 20
PIECE_BYTES = 128 * 1024
"""How many messages one reader holds in memory, and their total size. A single message may be
larger.
"""

_encode = msgspec.json.Encoder().encode


class Transcript(msgspec.Struct, frozen=True):
    """A transcript whose messages are read while it is written.

    Parameters:
        signature: of the statement.
        version: changes with the statement or with the remaining content of a message, not with the
            time of signing.
    """

    statement: Statement
    signature: str
    version: str
    store: Store

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the document in pieces (``model/conversation/transcript.py``).

        Raises:
            StoreError: the messages cannot be read, are missing, or one was erased meanwhile.
        """
        head, after = self.statement.head, 0
        erased = frozenset(self.statement.erased)
        yield (
            b'{"statement":%b,\n"signature":%b,\n"messages":['
            % (canonical_statement(self.statement), _encode(self.signature))
        )
        while after < head.seq:
            page = await transcript_reads.proven_messages(
                self.store,
                head.thread,
                after=after,
                upto=head.seq,
                limit=PIECE_MESSAGES,
                most_bytes=PIECE_BYTES,
            )
            if not page:
                raise StoreError("Messages are missing from the database.")
            if any(one.content is None and one.seq not in erased for one in page):
                raise StoreError(
                    "A message was erased while the transcript was written; ask for it again."
                )
            begins = b"," if after else b""
            yield begins + b",".join(b"\n" + _encode(_told(message)) for message in page)
            after = page[-1].seq
            await asyncio.sleep(0)  # yield to other tasks, even for a fast reader
        yield b"]}\n"


class TranscriptService:
    """Creates transcripts for callers that may read a thread, and stores countersignatures.

    Parameters:
        keys: the signing keys.
        site: the address of the desk.
    """

    def __init__(
        self, context: DeskContext, reader: ThreadReader, keys: TranscriptKeys, site: str
    ) -> None:
        self._context = context
        self._store = context.store
        self._reader = reader
        self._keys = keys
        self._site = site
        self._clock = context.clock

    async def read_transcript(
        self, principal: Principal, thread_id: str, seq: int | None
    ) -> Transcript:
        """Create the transcript of a thread, as far as the caller may read.

        Parameters:
            seq: the last message in it; None for the newest.

        Raises:
            ThreadNotFound: it does not exist, is closed, or is not the caller's.
            Forbidden: the caller's key does not open threads.
            InvalidRequest: there is no such message.
        """
        check_scope(principal)
        kept, access = await self._reader.find_thread(principal, thread_id)
        upto = kept.last_seq if access.upto_seq is None else access.upto_seq
        actors = kept.thread.actors
        if access.upto_event is not None:
            actors = await reads.read_actors(self._store, thread_id, access.upto_event)
        if seq is not None and not 0 <= seq <= upto:
            raise InvalidRequest(f"`seq` must be a whole number from 0 to {upto}.", param="seq")
        return await make_transcript(
            self._store,
            self._keys,
            kept,
            actors=actors,
            seq=upto if seq is None else seq,
            site=self._site,
            now=int(self._clock()),
        )

    async def countersign(
        self, principal: Principal, thread_id: str, seq: int, jws: str
    ) -> Countersignature:
        """Store another party's signature of a head of a thread. Repeating it changes nothing.

        Parameters:
            seq: of the head, from 1.

        Returns:
            The stored signature of this key: that of the latest head.

        Raises:
            ThreadNotFound: it does not exist, is closed, or is not the caller's.
            Forbidden: the caller may not write to it, or its key does not open threads.
            InvalidRequest: there is no such head, or the signature is not of it.
            PreconditionFailed: the maximum number of other keys have signed.
        """
        check_scope(principal)
        access = await self._reader.get_access(principal, thread_id)
        access.check(AccessNeed.WRITE)
        link = await transcript_reads.link_at(self._store, thread_id, seq)
        if link is None:
            raise InvalidRequest(
                "`seq` must be the number of a message of this thread.", param="seq"
            )
        head = Head(site=self._site, thread=thread_id, seq=seq, link=encode_base64url(link), v=1)
        try:
            key = check_countersignature(jws, head)
        except SignatureInvalid as error:
            raise InvalidRequest(f"`jws` does not sign this head: {error}.", param="jws") from None
        kept = await self._store.run(
            countersign,
            thread_id=thread_id,
            principal=principal,
            key=key,
            site=self._site,
            seq=seq,
            jws=jws,
            now=int(self._clock()),
            idle_before=self._context.idle_before,
        )
        return _countersignature(kept, self._site)

    async def published_keys(self) -> tuple[PublishedKey, ...]:
        """Return the current and former keys that sign transcripts."""
        return await self._keys.list_published(self._store, int(self._clock()))


async def make_transcript(
    store: Store,
    keys: TranscriptKeys,
    kept: StoredThread,
    *,
    actors: tuple[Actor, ...],
    seq: int,
    site: str,
    now: int,
) -> Transcript:
    """Create the transcript of a thread up to one of its messages.

    Parameters:
        kept: the thread, written in full.
        actors: its participants.
        site: the address of the desk.
        now: Unix seconds.

    Raises:
        StoreError: the message is missing from the database.
    """
    thread_id = kept.thread.id
    link = await transcript_reads.link_at(store, thread_id, seq)
    if link is None:
        raise StoreError("A message is missing from the database.")
    signed = await transcript_reads.countersignatures(store, thread_id)
    erased = await transcript_reads.erased_places(store, thread_id, seq)
    pair = await keys.get_current(store, now)
    statement = Statement(
        head=Head(site=site, thread=thread_id, seq=seq, link=encode_base64url(link), v=1),
        actors=tuple(actor.id for actor in actors),
        opened_at=kept.thread.created_at,
        time=now,
        keys=f"{site}{KEYS_PATH}",
        erased=erased,
        countersignatures=tuple(_countersignature(one, site) for one in signed if one.seq <= seq),
    )
    timeless = canonical_statement(msgspec.structs.replace(statement, time=0))
    told = b"%d %b %b" % (kept.last_event, pair.id.encode(), timeless)
    version = sha256(told).hexdigest()[:32]
    return Transcript(statement, sign_statement(pair, statement), version, store)


def _countersignature(kept: StoredCountersignature, site: str) -> Countersignature:
    return Countersignature(
        site=kept.site or site,
        seq=kept.seq,
        link=encode_base64url(kept.link),
        jws=kept.jws,
        actor=kept.actor,
        time=kept.made_at,
    )


def _told(kept: ProvenMessage) -> Said | Tombstone:
    digest, link = encode_base64url(kept.digest), encode_base64url(kept.link)
    if kept.content is None or kept.salt is None:
        return Tombstone(seq=kept.seq, digest=digest, link=link)
    attached = read_attachments(kept.attachments or "[]")
    return Said(
        seq=kept.seq,
        role="assistant" if kept.role == "assistant" else "user",
        actor=kept.actor,
        created_at=kept.created_at,
        content=read_texts(kept.content),
        attachments=tuple(TranscriptFile(file_id=one.file_id, tools=one.tools) for one in attached),
        salt=encode_base64url(kept.salt),
        digest=digest,
        link=link,
    )
