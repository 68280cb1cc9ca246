"""Decides what the desk itself signs: by a rule, or by its operators. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

import msgspec

from aitp_desk.capability import (
    Add,
    Audit,
    Book,
    Context,
    Effect,
    Forbidden,
    Keep,
    Refuse,
    Say,
    State,
    Take,
    Verdict,
)
from aitp_sign.errors import Unproven
from aitp_sign.keys.encodings import to_base64url
from aitp_sign.keys.site_keys import OwnKeys
from aitp_sign.messages import ApproveSignature, Signature
from aitp_sign.policy.rules import Otherwise, Rule
from aitp_sign.presentation.display import MOST_LINES, lines_of
from aitp_sign.records import Ask, AskedToSign, has_signature
from aitp_sign.replies import failed, not_counted
from aitp_sign.subjects import Accounts, NearCall, Scheme, Signed


class Voice(Protocol):
    """Builds the messages of a family for the desk's own signatures."""

    def message_of(self, signature: Signature) -> Mapping[str, Any]:
        """Return the message with a signature of the desk."""

    def accounts_of(self, ask: Ask) -> Mapping[str, Any] | None:
        """Return the message with the desk's own accounts; None if the family has none."""


class SignatureDecisions:
    """Signs for the site if that is permitted.

    Parameters:
        rules: what is signed without a person's decision.
        otherwise: who decides about the rest.
    """

    def __init__(
        self,
        keys: OwnKeys,
        book: Book[AskedToSign],
        voice: Voice,
        rules: Sequence[Rule],
        otherwise: Otherwise,
    ) -> None:
        self._keys = keys
        self._book = book
        self._voice = voice
        self._rules = rules
        self._otherwise = otherwise

    def ask(self, asked: AskedToSign, context: Context) -> list[Effect]:
        """Sign what a rule allows; leave the rest to operators."""
        ask = asked.request
        if not has_signature(ask.subject):
            accounts = self._voice.accounts_of(ask) if isinstance(ask.subject, Accounts) else None
            if accounts is not None:
                return [Say(accounts), Audit("accounts_told")]
            why = "This desk signs, but does not send transactions."
            return [failed(ask.id, "unsupported", why)]
        try:
            scheme = self._scheme_for(ask, ask.subject)
        except Unproven as error:
            return [failed(ask.id, error.reason, error.message)]
        for rule in self._rules:
            if not rule.allows(ask.subject, scheme, context.principal):
                continue
            counter = _counter_of(rule, context.now)
            if context.counter(counter) >= rule.per_day:
                continue
            signature = self._keys.sign(ask.subject, scheme, asked.until, ask.id)
            answered = asked.moved(State.ANSWERED, context.now, msgspec.to_builtins(signature))
            old = ask.supersedes
            return [
                *(self._book.supersede(old, context) if old else ()),
                Keep(self._book.key(context.thread_id, ask.id), answered, 0),
                Add(counter, 1),
                Say(self._voice.message_of(signature)),
                Audit("signed_by_rule"),
            ]
        if self._otherwise == "nobody":
            return [failed(ask.id, "declined", "The site does not sign this.")]
        return [
            *self._book.open(asked, context, waits=True),
            Say("The site's people decide whether to sign this. Their decision is sent here."),
            Audit("asked"),
        ]

    def _scheme_for(self, ask: Ask, subject: Signed) -> Scheme:
        """Return the scheme by which the desk would sign.

        Raises:
            Unproven: there is none.
        """
        if sum(1 for _ in lines_of(subject)) > MOST_LINES:
            raise Unproven(
                "unsupported", f"The site signs only content of at most {MOST_LINES} lines."
            )
        schemes = [scheme for scheme in ask.schemes if self._keys.can(scheme)]
        if not schemes:
            raise Unproven("unsupported", f"The site has no key for {' or '.join(ask.schemes)}.")
        own = {"", self._keys.account, self._keys.address, self._keys.address.lower()}
        if ask.account not in own:
            raise Unproven("wrong_account", "The site does not have this account.")
        keys = {"", self._keys.public_key, self._keys.kid}
        is_other = isinstance(subject, NearCall) and subject.transaction.public_key not in keys
        if ask.public_key not in keys or is_other:
            raise Unproven("wrong_key", "The site does not have this key.")
        return schemes[0]

    def decide(self, given: ApproveSignature, context: Context) -> Verdict:
        """Sign or decline, as one of the site's people decides.

        The desk's own agent cannot decide: a visitor could talk it into anything.
        """
        if not context.is_operator:
            return Refuse(
                Forbidden(
                    "Only the site's people decide whether it signs. Send this with a key of the"
                    " scope operator, or decide at the console."
                )
            )
        found = self._book.find(given.request_id, context)
        if found is None or not found[1].is_for_desk:
            why = "The site has no such request to sign on this thread."
            return Take((failed(given.request_id, "unknown_request", why),))
        record, asked = found
        ask = asked.request
        if (uncounted := asked.cannot_answer(context)) is not None:
            return Take((not_counted(ask.id, uncounted),))
        if not given.agree:
            declined = self._book.close(record, asked, {"declined": True}, context)
            refusal = failed(ask.id, "declined", "The site's people declined to sign this.")
            return Take((*declined, refusal, Audit("declined")))
        subject = ask.subject
        if not has_signature(subject):
            raise AssertionError(subject)
        try:
            scheme = self._scheme_for(ask, subject)
        except Unproven as error:  # the site's keys have changed
            return Take((failed(ask.id, error.reason, error.message),))
        signature = self._keys.sign(subject, scheme, asked.until, ask.id)
        signed = self._book.close(record, asked, msgspec.to_builtins(signature), context)
        return Take((*signed, Say(self._voice.message_of(signature)), Audit("signed_by_person")))


def _counter_of(rule: Rule, now: int) -> str:
    named = hashlib.sha256(msgspec.json.encode(rule)).digest()[:16]
    return f"rule:{to_base64url(named)}:{datetime.fromtimestamp(now, UTC):%Y%m%d}"
