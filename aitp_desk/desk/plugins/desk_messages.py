"""Sends the desk's own messages: phrased by plugins and judged like all others.

A question that no plugin can phrase is asked as text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import structlog

from aitp_desk.agent.base import Answer, Clarification
from aitp_desk.capability import Asking, Choose, Confirm, Pay, Question
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.plugins.judge import Judge, JudgedMessages, SpokenMessage
from aitp_desk.desk.plugins.messages.parts import SCHEMA, may_have_structure, read_part
from aitp_desk.desk.plugins.messages.plain_text import split_parts
from aitp_desk.desk.plugins.messages.validation import list_versions, write_valid_part
from aitp_desk.desk.plugins.quotes import find_quotes
from aitp_desk.desk.plugins.registry import EnabledPlugin, SchemaMatch
from aitp_desk.model.calls.call import WAITS_SECONDS
from aitp_desk.model.conversation.thread import Actor, Draft
from aitp_desk.model.errors import (
    DeskError,
    Forbidden,
    InternalError,
    InvalidRequest,
    PreconditionFailed,
    StoreBusy,
)
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import StoreError
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.capabilities import NewEffects, RecordsMoved
from aitp_desk.store.records.threads import NewMessage

T = TypeVar("T")
W = TypeVar("W", bound=Answer | Clarification)

QUESTION_PREFIX = "ask"
"""Prefix of the ids of the desk's own questions."""

_log = structlog.get_logger()


class DeskQuestion(msgspec.Struct, frozen=True):
    """A question of the desk.

    Parameters:
        of: the actor that is to answer; empty for any participant.
        call_id: the pending call that needs the answer; None for none.
    """

    question: Question
    of: str = ""
    call_id: str | None = None


class Utterance(msgspec.Struct, frozen=True):
    """A message of the desk.

    Parameters:
        message: as text.
        asks: the question that it asks, if a plugin may ask it.
    """

    message: NewMessage
    asks: DeskQuestion | None = None


Write = Callable[[tuple[NewMessage, ...], NewEffects | None], Awaitable[T]]
"""Stores the judged messages with the effects of plugins, None for no effects.

It raises :class:`RecordsMoved` after a concurrent change, and is called again.
"""


class DeskMessages:
    """Judges the desk's own messages.

    Attributes:
        may_ask: whether the desk has plugins, which may ask questions.
    """

    def __init__(self, context: DeskContext, judge: Judge) -> None:
        self._judge = judge
        self.may_ask = bool(judge.capabilities)
        self._store = context.store
        self._clock = context.clock

    async def say(self, thread_id: str, said: Sequence[Utterance], write: Write[T]) -> T:
        """Send messages on a thread, each question through the first plugin that asks it.

        A question that its plugin then refuses is asked as text. A request for payment is not,
        since words cannot pay.

        Parameters:
            thread_id: of the thread, which need not exist yet.

        Raises:
            Forbidden: a plugin requires its own way of asking, and it is not available.
            InternalError: a message breaks a plugin's schema, a plugin refuses it or fails, or no
                plugin can ask for a payment. It is no fault of the client.
            PreconditionFailed: the records changed concurrently at each attempt.
            as ``write``.
        """
        is_writing = False
        messages = tuple(one.message for one in said)
        to_pay = _to_pay(said)
        if not self._judge.capabilities.all and not to_pay:
            return await write(messages, None)
        actors: tuple[Actor, ...] | None = None
        if any(one.asks is not None for one in said):
            actors = await reads.read_actors(self._store, thread_id)
        to_judge = [self._to_judge(one, actors or ()) for one in said]
        if not any(one.parts for one in to_judge) and not to_pay:
            return await write(messages, None)
        actors = actors or await reads.read_actors(self._store, thread_id)

        async def write_judged(judged: JudgedMessages) -> T:
            nonlocal is_writing
            kept = tuple(
                msgspec.structs.replace(message, content=draft.content)
                for message, draft in zip(messages, judged.drafts, strict=True)
            )
            quotes = find_quotes(judged.effects, self._judge.capabilities)
            if to_pay - {quote.call_id for quote in quotes}:
                raise RuntimeError("No capability requests the payment.")
            effects = msgspec.structs.replace(judged.effects, quotes=quotes)
            is_writing = True
            try:
                return await write(kept, effects)
            except RecordsMoved:
                is_writing = False
                raise

        try:
            return await self._judge.judge_and_write(
                None, thread_id, actors, to_judge, write_judged
            )
        except (Forbidden, PreconditionFailed, StoreBusy, StoreError):
            raise
        except Exception as error:
            if is_writing:
                raise
            if to_pay or not any(one.asking for one in to_judge):
                raise _fault(messages[-1].id, error) from error
            _log.warning("asked_in_words", exc_info=not isinstance(error, DeskError))
        return await self.say(thread_id, [Utterance(message) for message in messages], write)

    def can_ask(self, question: Question) -> bool:
        """Return whether a plugin can ask such a question."""
        asking = Asking(id=QUESTION_PREFIX, question=question)
        return any(can_plugin_ask(one, asking) for one in self._judge.capabilities.askers)

    def is_judged(self, content: Sequence[str]) -> bool:
        """Return whether a message may hold structured parts."""
        return self.may_ask and may_have_structure(content)

    def render_for_reader(self, words: W, question: Question | None, said: NewMessage) -> W:
        """Return a reply with the plugin's text, for readers of text.

        The plugin's text explains best how to answer a question, unless the options do.

        Parameters:
            words: the reply in the desk's own text.
            question: the question in it, if any.
            said: the message as stored.
        """
        spoken = split_parts(said.content, self._judge.capabilities)
        if not any(one.capability for one in spoken):
            return words
        if isinstance(words, Clarification) and words.options and _is_plain(question):
            text = words.question
            spoken = tuple(
                msgspec.structs.replace(one, text=text) if one.capability else one for one in spoken
            )
            return msgspec.structs.replace(words, spoken=spoken)
        text = "\n\n".join(one.text for one in spoken)
        if isinstance(words, Clarification):
            return msgspec.structs.replace(words, question=text, options=(), spoken=spoken)
        return msgspec.structs.replace(words, text=text, spoken=spoken)

    def _to_judge(self, one: Utterance, actors: Sequence[Actor]) -> SpokenMessage:
        """Return a message with its question phrased by a plugin.

        Raises:
            InternalError: it breaks the schema of a plugin.
        """
        message = one.message
        phrased = None if one.asks is None else self._phrase(one.asks, actors)
        asking, content = (None, message.content) if phrased is None else phrased
        draft = Draft(message.role, content, actor=message.actor)
        try:
            parts = self._judge.read_parts(draft.content)
        except InvalidRequest as error:
            raise _fault(message.id, error) from error
        return SpokenMessage(message.id, draft, message.actor, parts, asking=asking)

    def _phrase(
        self, asks: DeskQuestion, actors: Sequence[Actor]
    ) -> tuple[Asking, tuple[str, ...]] | None:
        """Return a question as the first willing plugin's message, or None."""
        asking = Asking(
            id=new_id(QUESTION_PREFIX, self._clock()),
            question=asks.question,
            of=asks.of,
            call_id=asks.call_id,
            until=None if asks.call_id is None else int(self._clock()) + WAITS_SECONDS,
        )
        for enabled in self._judge.capabilities.askers:
            given = phrase_question(enabled, asking)
            if given is not None:
                versions = list_versions(enabled, self._judge.capabilities, actors)
                return asking, (write_valid_part(enabled, given, versions),)
        return None


def _to_pay(said: Sequence[Utterance]) -> set[str | None]:
    """Return the calls for which payment is requested."""
    asked = (one.asks for one in said if one.asks is not None)
    return {one.call_id for one in asked if isinstance(one.question, Pay)}


def _fault(id_: str, error: Exception) -> InternalError:
    """Log why a message cannot be sent, and return the error for its reader."""
    _log.error("cannot_be_said", message=id_, exc_info=error)
    return InternalError(
        "The desk cannot send its reply because of a fault on our side. Send us the id"
        f" {id_}, and we can find the cause.",
        request_id=id_,
    )


def _is_plain(question: Question | None) -> bool:
    """Return whether one of a few options answers a question."""
    match question:
        case Choose(choices=choices, many="one"):
            return not any(one.variants or one.price for one in choices)
        case Confirm():
            return True
        case _:
            return False


def can_plugin_ask(enabled: EnabledPlugin, asking: Asking) -> bool:
    """Return whether a plugin asks such a question."""
    try:
        return phrase_question(enabled, asking) is not None
    except Forbidden:  # no other plugin may ask it: say() raises the error
        return True


def phrase_question(enabled: EnabledPlugin, asking: Asking) -> Mapping[str, Any] | None:
    """Return a plugin's message for a question, or None; it fits its schema.

    Raises:
        Forbidden: as of :meth:`.Capability.phrase`.
    """
    try:
        given = enabled.capability.phrase(asking)
        if given is None:
            return None
        plain: dict[str, Any] = msgspec.to_builtins(given)
        version = enabled.newest
        read_part(
            {SCHEMA: enabled.url_of(version), **plain}, SchemaMatch(enabled, version), "content"
        )
    except Forbidden:
        raise
    except InvalidRequest:
        _log.exception("phrase_failed", capability=enabled.slug)
        return None
    except Exception:  # noqa: BLE001 -- whatever a plugin raises, the question is asked
        _log.exception("phrase_failed", capability=enabled.slug)
        return None
    return plain
