"""Shows an answer in progress to subscribers of other processes, through a Valkey server.

The process that writes an answer publishes its new text a few times a second; the others add it to
the answer as they know it. Nothing is stored: what is lost on the way is in the finished message.
A process that was not there at the beginning has no text of that answer, as if no part was sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

import msgspec

from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.events.channel import AnswerInProgress
from aitp_desk.store.valkey import ValkeyAway, ValkeyServer

PUBLISH_SECONDS = 0.1
AGAIN_SECONDS = 1.0
"""How long to wait before subscribing again."""
FORGET_SECONDS = 300.0
"""After so long without a new piece an answer is taken for abandoned."""
MOST_ANSWERS = 1000
"""How many answers of other processes are followed at once."""


class AnswerPiece(msgspec.Struct, frozen=True, array_like=True):
    """New text of an answer in progress.

    Parameters:
        process: id of the process that writes it.
        after, message_id: as :class:`AnswerInProgress` has them.
        restarts: how often the answer was begun again before this text.
        offset: how much text was published before since then, in characters.
        is_over: whether nothing follows.
    """

    process: str
    thread_id: str
    run_id: str
    message_id: str
    after: int
    restarts: int
    offset: int
    text: str
    is_over: bool


class _Published(msgspec.Struct):
    """How much of an answer was published."""

    thread_id: str
    restarts: int = 0
    length: int = 0


class _Followed(msgspec.Struct):
    """An answer of another process, and when it was last heard of."""

    answer: AnswerInProgress
    heard_at: float


class AnswerFeed:
    """Exchanges the text of answers in progress with other processes.

    Parameters:
        channel: the name under which the processes of one desk publish.
        process: id of this process.
        clock: seconds.
    """

    def __init__(
        self,
        server: ValkeyServer,
        events: Broadcaster,
        *,
        channel: str,
        process: str,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._server = server
        self._events = events
        self._channel = channel
        self._process = process
        self._clock = clock
        self._published: dict[AnswerInProgress, _Published] = {}
        self._due: dict[AnswerInProgress, None] = {}
        self._followed: dict[str, _Followed] = {}
        self._encode = msgspec.json.Encoder().encode
        self._decode = msgspec.json.Decoder(AnswerPiece).decode
        events.report_answers_to(self._report)

    async def publish(self) -> None:
        """Publish the text that is new."""
        due, self._due = self._due, {}
        for answer in due:
            piece = self._next_piece(answer)
            try:
                await self._server.publish(self._channel, self._encode(piece))
            except ValkeyAway:
                continue

    async def receive_regularly(self) -> None:
        """Follow the answers of other processes until the task is cancelled."""
        while True:
            try:
                async for message in self._server.subscribe(self._channel):
                    self._receive(message)
            except ValkeyAway:
                self._forget_all()
            await asyncio.sleep(AGAIN_SECONDS)

    def _report(self, thread_id: str, answer: AnswerInProgress) -> None:
        """Note that there is new text, or that an answer is over."""
        self._published.setdefault(answer, _Published(thread_id))
        self._due[answer] = None

    def _next_piece(self, answer: AnswerInProgress) -> AnswerPiece:
        known = self._published[answer]
        if known.restarts != answer.restarts:
            known.restarts, known.length = answer.restarts, 0
        offset, text = known.length, answer.text[known.length :]
        known.length = len(answer.text)
        if answer.is_over:
            del self._published[answer]
        return AnswerPiece(
            self._process,
            known.thread_id,
            answer.run_id,
            answer.message_id,
            answer.after,
            answer.restarts,
            offset,
            text,
            answer.is_over,
        )

    def _receive(self, message: bytes) -> None:
        try:
            piece = self._decode(message)
        except msgspec.MsgspecError:  # of another version
            return
        if piece.process == self._process:
            return
        self._forget_old()
        followed = self._followed.get(piece.thread_id)
        if followed is None or followed.answer.message_id != piece.message_id:
            if piece.is_over or len(self._followed) >= MOST_ANSWERS:
                return
            followed = self._follow(piece)
        answer = followed.answer
        followed.heard_at = self._clock()
        if piece.restarts != answer.restarts:
            answer.restarts, answer.text = piece.restarts, ""
        if piece.offset == len(answer.text):
            answer.text += piece.text
        if piece.is_over:
            self._forget(piece.thread_id)
        else:
            self._events.receive_answer(piece.thread_id, answer)

    def _follow(self, piece: AnswerPiece) -> _Followed:
        if piece.thread_id in self._followed:
            self._forget(piece.thread_id)
        answer = AnswerInProgress(piece.run_id, piece.message_id, piece.after, again=False)
        answer.restarts = piece.restarts
        followed = self._followed[piece.thread_id] = _Followed(answer, self._clock())
        return followed

    def _forget(self, thread_id: str) -> None:
        answer = self._followed.pop(thread_id).answer
        answer.is_over = True
        self._events.forget_answer(thread_id, answer)

    def _forget_old(self) -> None:
        since = self._clock() - FORGET_SECONDS
        for thread_id in [one for one, last in self._followed.items() if last.heard_at < since]:
            self._forget(thread_id)

    def _forget_all(self) -> None:
        for thread_id in tuple(self._followed):
            self._forget(thread_id)
