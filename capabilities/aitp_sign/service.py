"""The common behaviour of all message families for signing.

Each family defines which of its messages is a request, and which an answer.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, UnsetType
from msgspec.structs import replace

from aitp_desk.capability import (
    Audit,
    Book,
    Capability,
    Context,
    Effect,
    InvalidRequest,
    Own,
    Part,
    Record,
    Replace,
    Standing,
    Take,
    Then,
    Verdict,
    Waiting,
    open_until,
    waits_for_others,
)
from aitp_sign.errors import Unproven
from aitp_sign.keys.site_keys import OwnKeys
from aitp_sign.messages import (
    ApproveSignature,
    Signature,
    SignatureDeclined,
    SignatureResult,
)
from aitp_sign.policy.decisions import SignatureDecisions
from aitp_sign.policy.rules import Otherwise, Rule, check_rules
from aitp_sign.presentation.forms import (
    AGREE,
    approval_by,
    approval_form,
    signature_by,
    signature_form,
)
from aitp_sign.presentation.text import (
    tell_approval,
    tell_ask,
    tell_declined,
    tell_report,
    tell_result,
    tell_signature,
)
from aitp_sign.records import Answer, Ask, AskedToSign, Report, WalletSignature
from aitp_sign.replies import failed, hear
from aitp_sign.subjects import check

_NO = frozenset({"no", "no thanks", "no, thanks", "no thank you", "i decline", "decline"})


class SigningSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings that all families share.

    Parameters:
        open_for: lifetime in seconds of a request that names no expiry.
        policy: rules for what the desk signs without a person.
        otherwise: who decides about other requests: ``people`` of the site, or ``nobody``.
    """

    open_for: Annotated[int, Meta(ge=60, le=366 * 24 * 60 * 60)] = 24 * 60 * 60
    policy: Annotated[tuple[Rule, ...], Meta(max_length=50)] = ()
    otherwise: Otherwise = "people"


class SignatureFamily(Capability):
    """The common base of all message families for signing."""

    slug = "signing"
    family = "signing"
    settings = SigningSettings
    book: ClassVar[Book[AskedToSign]]
    is_published: ClassVar[bool] = False
    """Whether the schema is published by others: a valid request that cannot be signed is stored
    and fails."""

    def __init__(self, chosen: Any) -> None:
        """Create the capability; see :class:`Capability`.

        Raises:
            ValueError: a rule allows nothing.
        """
        super().__init__(chosen)
        check_rules(chosen.policy)
        self.asks_chain = False

    def use(self, own: Own) -> None:
        """Derive the site's keys and the secret of its nonces."""
        self.keys = OwnKeys(own)
        self._nonces = own.derive("nonces of requests to sign")
        chosen = self.chosen
        self._decisions = SignatureDecisions(
            self.keys, self.book, self, chosen.policy, chosen.otherwise
        )

    def documents(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the site's public key, and its accounts."""
        return {"jwks.json": self.keys.jwks(), "accounts.json": self.keys.accounts()}

    def ask_of(self, content: Any, context: Context) -> Ask | None:
        """Read a request; None for another message.

        Parameters:
            context: the context of the request; an empty one if it does not matter.

        Raises:
            InvalidRequest: its content cannot be signed.
        """
        raise NotImplementedError

    def answer_of(self, content: Any) -> Answer | None:
        """Read an answer; None for another message."""
        raise NotImplementedError

    def message_of(self, signature: Signature) -> Mapping[str, Any]:
        """Return the message with a signature of the desk."""
        raise NotImplementedError

    def accounts_of(self, ask: Ask) -> Mapping[str, Any] | None:
        """Return the message with the desk's own accounts; None if the family has none."""
        del ask
        return None

    def completed(self, given: Mapping[str, Any], ask: Ask, until: int) -> Mapping[str, Any]:
        """Return a request with the members that the desk fills in."""
        del ask, until
        return given

    def judge(self, part: Part, context: Context) -> Verdict:
        """Open a request, sign, or check an answer against its request."""
        content = part.content
        if isinstance(content, ApproveSignature):
            return self._decisions.decide(content, context)
        answer = self.answer_of(content)
        if answer is not None:
            return hear(answer, self.book, context, asks_chain=self.asks_chain)
        try:
            ask = self.ask_of(content, context)
            if ask is None:
                return Take()
            _check(ask, part.key)
        except InvalidRequest as error:
            if not self.is_published or context.is_ours:
                raise
            return Take((failed(content.request_id, "malformed", error.message),))
        return self._ask(ask, part.given, context)

    def as_text(self, part: Part) -> str:
        """Render a message; see :mod:`aitp_sign.presentation.text`."""
        match part.content:
            case ApproveSignature() as given:
                return tell_approval(given)
            case SignatureResult() as result:
                return tell_result(result)
            case content:
                answer = self.answer_of(content)
        match answer:
            case Signature() as signature:
                return tell_signature(signature)
            case SignatureDeclined() as declined:
                return tell_declined(declined)
            case Report() as report:
                return tell_report(report)
            case WalletSignature(_, account, written):
                return f"Signed by {account}: {written}"
            case None:
                return self._tell_ask(part)

    def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
        """Parse a refusal: people without a program cannot sign, but can decline."""
        if text.strip(" .!").casefold() not in _NO or len(waiting) != 1:
            return None
        asked = self.book.read(waiting[0])
        if asked is None:
            return None
        return {"signature_declined": SignatureDeclined(asked.request.id)}

    def awaits(self, record: Record, actor: str) -> bool:
        """Return whether an actor may decline by text."""
        return self.book.awaits(record, actor)

    def standing(self, part: Part, context: Context) -> Standing | None:
        """Return a request's state; None for other messages."""
        try:
            ask = self.ask_of(part.content, context)
        except InvalidRequest:
            return None
        return None if ask is None else self.book.standing(ask.id, context)

    def waiting(self, record: Record) -> Waiting | None:
        """Return the form of an open request: a signature, or the desk's decision."""
        asked = self.book.read(record)
        if asked is None or not asked.said:
            return None
        ask = asked.request
        # a JWS's key is an object, which no form accepts
        if not asked.is_for_desk and set(ask.schemes) <= {"jws"}:
            return None
        form = approval_form() if asked.is_for_desk else signature_form(ask.schemes)
        return Waiting(
            id=ask.id,
            message=asked.said,
            form=form,
            by=asked.by,
            of=ask.actor,
            call_id=asked.call_id,
        )

    def answer(self, record: Record, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Build the answer of a submitted form; see :mod:`aitp_sign.presentation.forms`."""
        asked = self.book.read(record)
        if asked is None:
            raise InvalidRequest("This request has been erased.")
        if asked.is_for_desk or AGREE in given:
            return {"approve_signature": approval_by(asked.request.id, given)}
        return self.message_of(signature_by(asked.request, given))

    def nonce_for(self, ask_id: str, context: Context) -> bytes:
        """Return the nonce of a request without one: unpredictable, and the same each time."""
        named = msgspec.json.encode((context.thread_id, context.actor, ask_id))
        return hmac.digest(self._nonces, named, "sha256")

    def _tell_ask(self, part: Part) -> str:
        try:
            ask = self.ask_of(part.content, Context(now=0))
            if ask is None:
                return super().as_text(part)
            _check(ask, part.key)
        except InvalidRequest as error:
            return f"A request for a signature that cannot be made: {error.message}"
        until = ask.valid_until
        return tell_ask(ask, None if isinstance(until, UnsetType) else int(until.timestamp()))

    def _ask(self, ask: Ask, given: Mapping[str, Any], context: Context) -> Verdict:
        (key,) = (name for name in given if name != "$schema" and name.startswith("request_"))
        is_for_desk = self._is_for_desk(ask, context)
        if is_for_desk:
            ask = replace(ask, actor=context.own)
        self.book.check(ask, context)
        if self.book.is_known(ask, context):
            return Take()
        if not ask.supersedes and (old := self.book.waited_for(context)):
            ask = replace(ask, supersedes=old)
        until = open_until(ask, context, self.chosen.open_for)
        message = self.completed(given, ask, until)
        asked = AskedToSign(
            ask,
            context.actor,
            until,
            call_id=None if context.asking is None else context.asking.call_id,
            said={key: message[key]},
            is_for_desk=is_for_desk,
        )
        replaced: tuple[Effect, ...] = () if message == given else (Replace(message),)
        if is_for_desk:
            return Take((*replaced, *self._decisions.ask(asked, context)))
        waits = waits_for_others(ask, context)
        opened = self.book.open(asked, context, waits=waits)
        return Take((*replaced, *opened, Audit("asked")), Then.NOBODY if waits else Then.AGENT)

    def _is_for_desk(self, ask: Ask, context: Context) -> bool:
        if context.is_ours:
            return False
        if ask.actor:
            return ask.actor == context.own
        return not {party.id for party in context.parties} - {context.actor, *context.names}


def _check(ask: Ask, key: str) -> None:
    """Reject a request that cannot be signed.

    Raises:
        InvalidRequest: it cannot be signed; ``key`` is its place.
    """
    try:
        check(ask.subject)
    except (ValueError, Unproven) as error:
        raise InvalidRequest(f"This cannot be signed: {error}", param=key) from None
