"""AHP 0.1's conversational endpoint as JSON, to and from what the desk asks and answers.

Source: AHP 0.1, sections 6 and 10; the published request schema. Pure: no I/O, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.agent.base import Answer, Clarification
from aitp_desk.config import Signals
from aitp_desk.desk.asking import Ask, Asked
from aitp_desk.model.action import TEXT_ANSWER
from aitp_desk.model.errors import (
    DeskError,
    ErrorKind,
    InvalidRequest,
    MissingField,
    RateLimited,
    UnknownAction,
    UnknownVersion,
    UnsupportedType,
)
from aitp_desk.protocols.refusal import refusal_headers, status_of
from aitp_desk.protocols.reply import Reply
from aitp_desk.protocols.strict_json import decode_json

VERSION = "0.1"
MAX_BODY = 8 * 1024
"""AHP 0.1, section 6.5: request body cap of 8 KB."""
MODE = "MODE2"

_MEMBERS = frozenset({"ahp", "capability", "query", "session_id", "clarification", "context"})
_CONTEXT_MEMBERS = frozenset(
    {"requesting_agent", "user_intent", "max_tokens", "accept_types", "callback_url", "locale"}
)
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})", re.ASCII)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_TYPE = re.compile(r"(?:text|application|media|file|x-[a-z][a-z0-9-]*)/[a-z][a-z0-9_-]*", re.ASCII)
_LOCALE = re.compile(r"[a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{2,8})*", re.ASCII)
_MAX_TYPES = 50
_NEAREST = "invalid_request"
"""The code of whatever section 10 has no word for; ``detail`` then says what it is."""
_encode = msgspec.json.Encoder().encode


# --- in -------------------------------------------------------------------------------------


def decode_converse(body: bytes) -> Ask:
    """Read the body of ``POST /agent/converse``.

    Raises:
        MissingField: ``capability`` or ``query`` is absent.
        UnknownVersion: the request is of another major version (section 12).
        InvalidRequest: a member is unknown or breaks the request schema; ``param`` is its path.
    """
    given = decode_json(body)
    if not isinstance(given, dict):
        raise InvalidRequest('The body is a JSON object with "capability" and "query".')
    minor = _check_version(given.get("ahp"))
    context = given.get("context")
    if context is None:
        context = {}
    if not isinstance(context, dict):
        raise InvalidRequest("context is an object.", param="context")
    if minor <= 1:  # a later minor version may bring members that this one does not know
        _refuse_unknown(given, _MEMBERS, "")
        _refuse_unknown(context, _CONTEXT_MEMBERS, "context.")
    for name in ("capability", "query"):
        if given.get(name) is None:
            raise MissingField(f"The member {name!r} is required.", param=name)
    capability = _string(given, "capability", 64)
    if capability is None or not _NAME.fullmatch(capability):
        raise InvalidRequest(
            "capability is a name of lower-case letters, digits and _.", param="capability"
        )
    query = _string(given, "query", 4096)
    if query is None or not query.strip():
        raise InvalidRequest("query has 1 to 4096 characters.", param="query")
    _string(context, "requesting_agent", 128, "context.")
    _string(context, "user_intent", 256, "context.")
    _string(context, "callback_url", 2048, "context.")
    locale = _string(context, "locale", 64, "context.")
    if locale is not None and not _LOCALE.fullmatch(locale):
        raise InvalidRequest(
            "locale is a language tag such as en or fr-CA.", param="context.locale"
        )
    return Ask(
        action=capability,
        query=query,
        session_id=_string(given, "session_id", 128),
        clarification=_string(given, "clarification", 1024),
        accepts=_accept_types(context.get("accept_types")),
        max_tokens=_max_tokens(context.get("max_tokens")),
        locale=locale,
    )


def _check_version(given: Any) -> int:
    """The minor version asked for; absent means this one (section 12)."""
    if given is None:
        return 1
    found = _VERSION.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        raise InvalidRequest('ahp is a version such as "0.1".', param="ahp")
    if found[1] != "0":
        raise UnknownVersion(f"AHP {given} is not served here; AHP {VERSION} is.", param="ahp")
    return int(found[2])


def _refuse_unknown(given: dict[str, Any], known: frozenset[str], prefix: str) -> None:
    for name in given:
        if name not in known:
            raise InvalidRequest(
                f"The member '{prefix}{name[:64]}' is unknown."
                f" Known are {', '.join(sorted(known))}.",
                param=f"{prefix}{name[:64]}",
            )


def _string(given: dict[str, Any], name: str, longest: int, prefix: str = "") -> str | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > longest:
        raise InvalidRequest(
            f"{prefix}{name} is a string of at most {longest} characters.", param=f"{prefix}{name}"
        )
    return value


def _accept_types(given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) > _MAX_TYPES:
        raise InvalidRequest(
            f"accept_types is a list of at most {_MAX_TYPES} types.", param="context.accept_types"
        )
    for content_type in given:
        if not isinstance(content_type, str) or not _TYPE.fullmatch(content_type):
            raise InvalidRequest(
                "accept_types holds content types such as text/answer or x-shop/cart.",
                param="context.accept_types",
            )
    return tuple(given)


def _max_tokens(given: Any) -> int | None:
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= 32768:
        raise InvalidRequest(
            "max_tokens is a whole number from 1 to 32768.", param="context.max_tokens"
        )
    return given


# --- out ------------------------------------------------------------------------------------


class Encoder:
    """Encodes outcomes; knows the site's address and its content signals.

    An answer from the cache is encoded once: its bytes are kept beside it, all but the session id.
    """

    def __init__(self, site_url: str, signals: Signals) -> None:
        self._url = site_url
        self._signals = msgspec.to_builtins(signals)

    def encode(self, asked: Asked) -> Reply:
        """An outcome as the response that its kind selects (sections 6.2, 6.3)."""
        if isinstance(asked.outcome, Clarification):
            return Reply(200, _encode(self._clarification(asked, asked.outcome)))
        tail = None if asked.kept is None else asked.kept.encoded
        if tail is None:
            tail = _encode(self._answer(asked, asked.outcome))[1:]
            if asked.kept is not None:
                asked.kept.encoded = tail
        head = b'{"status":"success","session_id":' + _encode(asked.session_id) + b","
        return Reply(200, head + tail)

    def _answer(self, asked: Asked, answer: Answer) -> dict[str, Any]:
        return {
            "response": {
                "content_type": TEXT_ANSWER,
                "answer": answer.text,
                "sources": [
                    {
                        "title": source.title,
                        "url": source.absolute_url(self._url),
                        "relevance": source.relevance,
                    }
                    for source in answer.sources
                ],
                "follow_up": {"suggested_queries": answer.follow_ups},
            },
            "meta": self._meta(asked) | {"content_type": TEXT_ANSWER},
        }

    def _clarification(self, asked: Asked, asks: Clarification) -> dict[str, Any]:
        return {
            "status": "clarification_needed",
            "session_id": asked.session_id,
            "clarification": {
                "question": asks.question,
                "options": asks.options or None,
                "free_form": asks.free_form,
            },
            # later test suites of the protocol look for these at the top level
            "clarification_question": asks.question,
            "suggested_queries": asks.options,
            "meta": self._meta(asked),
        }

    def _meta(self, asked: Asked) -> dict[str, Any]:
        outcome = asked.outcome
        meta: dict[str, Any] = {
            "tokens_used": outcome.tokens_used,
            "capability_used": asked.action,
            "mode": MODE,
            "cached": asked.cached,
            "tools_used": outcome.tools_used,
            "content_signals": self._signals,
        }
        # members of this desk's own; the schema leaves meta open
        if outcome.model:
            meta["model"] = outcome.model
        if outcome.fallback:
            meta["fallback"] = outcome.fallback
        return meta


def render_error(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """A refusal in AHP's form (section 10): ``code`` from its closed list, ``detail`` says more."""
    body: dict[str, Any] = {
        "status": "error",
        "code": _code_of(error.kind),
        "message": error.message,
    }
    if body["code"] == _NEAREST and error.kind is not ErrorKind.INVALID_REQUEST:
        body["detail"] = error.kind.value
    if error.param is not None:
        body["param"] = error.param
    match error:
        case UnknownAction():
            body["available_capabilities"] = error.available
        case UnsupportedType():
            body["available_types"] = error.available
        case RateLimited():
            if error.scope == "ip":  # the schema's list has no word for a credential's limit
                body["scope"] = "ip"
        case UnknownVersion():
            body["detail"] = "unsupported_version"
            body["supported"] = [VERSION]
            body["manifest"] = "/.well-known/agent.json"
        case _:
            pass
    if error.retry_after is not None:
        body["retry_after"] = error.retry_after
    return Reply(status_of(error.kind), _encode(body), headers=refusal_headers(error))


def _code_of(kind: ErrorKind) -> str:
    match kind:
        case (
            ErrorKind.INVALID_REQUEST
            | ErrorKind.UNKNOWN_VERSION
            | ErrorKind.PRECONDITION_FAILED
            | ErrorKind.UNKNOWN_SESSION
            | ErrorKind.SESSION_LIMIT
            | ErrorKind.THREAD_NOT_FOUND
            | ErrorKind.MESSAGE_NOT_FOUND
            | ErrorKind.RUN_NOT_FOUND
            | ErrorKind.ACTOR_NOT_FOUND
            | ErrorKind.AGENT_NOT_FOUND
            | ErrorKind.FILE_NOT_FOUND
            | ErrorKind.EVENTS_GONE
            | ErrorKind.ROUTE_NOT_FOUND
            | ErrorKind.METHOD_NOT_ALLOWED
            | ErrorKind.UNSUPPORTED_MEDIA
            | ErrorKind.WRONG_HOST
            | ErrorKind.REQUEST_TIMEOUT
            | ErrorKind.IDEMPOTENCY_CONFLICT
            | ErrorKind.IDEMPOTENCY_IN_FLIGHT
        ):
            return _NEAREST
        case ErrorKind.MISSING_FIELD:
            return "missing_field"
        case ErrorKind.UNKNOWN_ACTION:
            return "unknown_capability"
        case ErrorKind.UNSUPPORTED_TYPE:
            return "unsupported_type"
        case ErrorKind.NOT_AUTHENTICATED:
            return "auth_required"
        case ErrorKind.FORBIDDEN:
            return "forbidden"
        case ErrorKind.REQUEST_TOO_LARGE:
            return "request_too_large"
        case ErrorKind.RATE_LIMITED:
            return "rate_limited"
        case ErrorKind.UNAVAILABLE:
            return "unavailable"
        case ErrorKind.INTERNAL:
            return "concierge_error"
