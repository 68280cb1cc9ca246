"""AITP-05 as a capability: requests to sign, signatures, and their verification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import msgspec
from msgspec import UnsetType

from aitp_desk.capability import (
    Asking,
    Confirm,
    Context,
    Forbidden,
    InvalidRequest,
    Part,
    Schema,
    Verdict,
)
from aitp_sign.keys.encodings import to_base64url
from aitp_sign.messages import (
    MESSAGES,
    MOST_TEXT,
    RequestSignature,
    Signature,
    SignatureDeclined,
)
from aitp_sign.near.chain import NearFamily, NearSettings
from aitp_sign.proof import is_known
from aitp_sign.records import Answer, Ask, new_book
from aitp_sign.subjects import EvmCall, NearCall, Statement, Subject, Typed, schemes_of, told_until

TITLE = "AITP-05: signing"


class SignSettings(NearSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[capabilities.sign]``.

    Parameters:
        signed_consent: whether callers must sign the confirmations that actions require.
    """

    signed_consent: bool = False


class Sign(NearFamily):
    """Requests to sign messages and transactions, in the desk's own schema."""

    slug = "sign"
    names = ("aitp.dev/sign", "aitp.dev/signing")
    settings = SignSettings
    book = new_book("request_signature", "signature")

    def schemas(self) -> Sequence[Schema]:
        """Return version 1, the desk's own: AITP-05 has no published schema."""
        document = resources.files(__package__).joinpath("schemas/v1.json").read_bytes()
        return (Schema(version=1, messages=MESSAGES, document=msgspec.json.decode(document)),)

    def phrase(self, asking: Asking) -> Mapping[str, Any] | None:
        """Ask for a signed confirmation, if the site requires it.

        Raises:
            Forbidden: the text is too long to be signed, and the site accepts no other
                confirmation.
        """
        question = asking.question
        if not self.chosen.signed_consent or not isinstance(question, Confirm):
            return None
        text = "\n".join(filter(None, (question.title, question.description)))
        agreed = f"I agree: {text}"
        if len(agreed) > MOST_TEXT:
            raise Forbidden(
                f"This call must be confirmed by a signature of at most {MOST_TEXT} characters,"
                f" and its text has {len(agreed)}. Nothing was done; use shorter arguments."
            )
        return {
            "request_signature": RequestSignature(
                asking.id, agreed, title=question.title[:200], actor=asking.of
            )
        }

    def judge(self, part: Part, context: Context) -> Verdict:
        """Judge a part; see :class:`SignatureFamily`.

        Raises:
            Forbidden: a signed confirmation cannot be requested now, and the site accepts no other.
        """
        try:
            return super().judge(part, context)
        except InvalidRequest as error:
            if context.asking is None or not isinstance(context.asking.question, Confirm):
                raise
            why = (
                "This call must be confirmed by a signature, which cannot be requested."
                f" {error.message}"
            )
            raise Forbidden(f"{why} Nothing was done.") from None

    def ask_of(self, content: Any, context: Context) -> Ask | None:
        """Read a ``request_signature``."""
        if not isinstance(content, RequestSignature):
            return None
        subject = self._subject_of(content, context)
        fit = schemes_of(subject)
        if wrong := [scheme for scheme in content.schemes if scheme not in fit]:
            raise InvalidRequest(
                f"schemes contains {wrong[0]}, but this can be signed only by {' or '.join(fit)}.",
                param="request_signature.schemes",
            )
        return Ask(
            content.id,
            subject,
            content.schemes or tuple(filter(is_known, fit)),
            content.title,
            content.description,
            content.account,
            content.public_key,
            content.actor,
            content.valid_until,
            content.supersedes,
        )

    def answer_of(self, content: Any) -> Answer | None:
        """Read a ``signature`` or a ``signature_declined``."""
        return content if isinstance(content, Signature | SignatureDeclined) else None

    def message_of(self, signature: Signature) -> Mapping[str, Any]:
        """Return a ``signature`` message."""
        return {"signature": signature}

    def completed(self, given: Mapping[str, Any], ask: Ask, until: int) -> Mapping[str, Any]:
        """Fill in what is signed with a text: nonce, recipient and expiry."""
        filled = dict(given["request_signature"])
        if isinstance(ask.subject, Statement):
            filled |= {"nonce": ask.subject.nonce, "recipient": ask.subject.recipient}
        if ask.supersedes:
            filled["supersedes"] = ask.supersedes
        # the signed expiry has whole seconds, and is not after the request's
        filled["valid_until"] = told_until(until)
        return {**given, "request_signature": filled}

    def _subject_of(self, content: RequestSignature, context: Context) -> Subject:
        subjects: list[Subject] = []
        if content.text:
            nonce = content.nonce or to_base64url(self.nonce_for(content.id, context))
            subjects.append(Statement(content.text, nonce, content.recipient or context.actor))
        if not isinstance(content.typed_data, UnsetType):
            subjects.append(Typed(content.typed_data))
        if not isinstance(content.near_transaction, UnsetType):
            subjects.append(NearCall(content.near_transaction))
        if not isinstance(content.evm_transaction, UnsetType):
            called = content.evm_transaction
            subjects.append(EvmCall(called.evm, called.chain_id))
        if len(subjects) != 1:
            raise InvalidRequest(
                "A request to sign must have exactly one of text, typed_data, near_transaction"
                " and evm_transaction.",
                param="request_signature",
            )
        return subjects[0]
