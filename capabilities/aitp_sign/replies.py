"""Checks answers to requests to sign; a signature counts once. Pure."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import UnsetType, to_builtins
from msgspec.structs import replace

from aitp_desk.capability import (
    Audit,
    Book,
    Context,
    Effect,
    InvalidRequest,
    Keep,
    NotCounted,
    Record,
    Say,
    Start,
    Take,
    Verdict,
)
from aitp_sign.errors import Reason, Unproven
from aitp_sign.messages import Signature, SignatureDeclined, SignatureResult
from aitp_sign.proof import Expected, Proof, prove
from aitp_sign.records import Answer, AskedToSign, Report, WalletSignature, has_signature
from aitp_sign.subjects import Accounts

ACCESS_KEY = "access_key"
"""The job that asks the chain whether a key belongs to an account."""


def hear(
    answer: Answer, book: Book[AskedToSign], context: Context, *, asks_chain: bool = False
) -> Verdict:
    """Check an answer against its request.

    A failure is reported on the thread and leaves the request open: the answer can be sent again.

    Parameters:
        asks_chain: whether the chain is asked about accounts that a signature does not prove.

    Raises:
        InvalidRequest: it contains a private key; nothing of it is stored.
        MissingField: it names no request, and several are open.
    """
    if isinstance(answer, Signature):
        _check_public(answer)
    found = book.find(answer.request_id, context)
    if found is None:
        why = "There is no such request on this thread."
        return Take((failed(answer.request_id, "unknown_request", why),))
    record, asked = found
    request_id = asked.request.id
    if (uncounted := asked.cannot_answer(context)) is not None:
        return Take((not_counted(request_id, uncounted),))
    taken = _take(answer, record, asked, context, book)
    if asks_chain and isinstance(answer, Signature):
        taken = _ask_chain(taken)
    return replace(
        taken,
        otherwise=lambda why: (
            not_counted(request_id, why),
            *book.reject(record, asked, why, context),
        ),
    )


def _take(
    answer: Answer, record: Record, asked: AskedToSign, context: Context, book: Book[AskedToSign]
) -> Take:
    request_id = asked.request.id
    match answer:
        case SignatureDeclined(_, note):
            ended = book.close(record, asked, {"declined": True}, context)
            refusal = failed(request_id, "declined", note or "The signer declined.")
            return Take((*ended, refusal, Audit("declined")), asked.then(False, context))
        case Report() as report:
            return _take_report(report, record, asked, context, book)
        case WalletSignature(_, account, written):
            # a subject without a scheme is rejected below, whichever scheme is named
            scheme = (*asked.request.schemes, "eip191")[0]
            signature = Signature(scheme, written, request_id, account=account)
            return _take_signature(signature, record, asked, context, book)
        case Signature() as signature:
            return _take_signature(signature, record, asked, context, book)


def _take_report(
    report: Report, record: Record, asked: AskedToSign, context: Context, book: Book[AskedToSign]
) -> Take:
    subject = asked.request.subject
    if has_signature(subject):
        why = "This request needs a signature."
        return Take((failed(asked.request.id, "malformed", why),))
    used: list[Effect] = []
    if not isinstance(subject, Accounts):
        key = _used("sent", *report.told)
        if context.record(key) is not None:
            why = "This transaction was already reported for another request."
            return Take((failed(asked.request.id, "replayed", why),))
        used.append(Keep(key, True, 0, outlives=True))
    ended = book.close(record, asked, {"told": report.told}, context)
    return Take((*used, *ended, Audit("told")), asked.then(list(report.told), context))


def _take_signature(
    signature: Signature,
    record: Record,
    asked: AskedToSign,
    context: Context,
    book: Book[AskedToSign],
) -> Take:
    ask = asked.request
    if not has_signature(ask.subject):
        why = "This request needs accounts or a transaction's hash, not a signature."
        return Take((failed(ask.id, "wrong_scheme", why),))
    held = Expected(ask.subject, ask.schemes, asked.until, ask.account, ask.public_key)
    try:
        proof = prove(held, signature)
    except Unproven as error:
        return Take((failed(ask.id, error.reason, error.message), Audit("unproved")))
    key = _used(proof.digest, proof.signer)
    if context.record(key) is not None:
        why = "This content was already signed with this key; each signature counts once."
        return Take((failed(ask.id, "replayed", why),))
    proved = {"proof": msgspec.to_builtins(proof)} | msgspec.to_builtins(signature)
    effects: tuple[Effect, ...] = (
        Keep(key, True, 0, outlives=True),
        *book.close(record, asked, proved, context),
        Say({"signature_result": _succeeded(ask.id, proof)}),
        Audit("proved"),
    )
    return Take(effects, asked.then(True, context))


def _ask_chain(taken: Take) -> Take:
    """Add the job that asks the chain about an account that is only claimed."""
    contents = [one.content for one in taken.effects if isinstance(one, Say)]
    results = [one["signature_result"] for one in contents if not isinstance(one, str)]
    starts = [
        Start(ACCESS_KEY, ref=f"{result.digest}:{result.public_key}", payload=to_builtins(result))
        for result in results
        if result.result == "success" and result.account and not result.account_proved
    ]
    return replace(taken, effects=(*taken.effects, *starts))


def not_counted(request_id: str, why: NotCounted) -> Say:
    """Report why the answer to a request is rejected."""
    is_others = why.reason in {"own_request", "not_yours"}
    return failed(request_id, "not_yours" if is_others else "not_open", why.message)


def failed(request_id: str, reason: Reason, why: str) -> Say:
    """Report why something was not signed, or a signature is rejected."""
    return Say({"signature_result": SignatureResult(request_id, "failure", reason, why)})


def _succeeded(request_id: str, proof: Proof) -> SignatureResult:
    return SignatureResult(
        request_id,
        "success",
        scheme=proof.scheme,
        public_key=proof.public_key,
        account=proof.account,
        account_proved=proof.account_proved,
        digest=proof.digest,
    )


def _check_public(signature: Signature) -> None:
    """Reject a private key: nothing of the message is stored."""
    jwk = signature.jwk
    if not isinstance(jwk, UnsetType) and jwk.d:
        raise InvalidRequest(
            "jwk is a private key. Nothing of this message was stored; do not use this key again.",
            param="signature.jwk.d",
        )


def _used(*texts: str) -> str:
    """Return the record key of a used signature, without personal data.

    It belongs to the family: a signature counts in one capability only.
    """
    return f"family:used:{hashlib.sha256(msgspec.json.encode(texts)).hexdigest()}"
