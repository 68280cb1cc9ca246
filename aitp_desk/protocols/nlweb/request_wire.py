"""Decodes questions of NLWeb: of version 0.54, and of the REST interface before it.

Source: NLWeb 0.54, section 3; NLWeb's REST interface. A ``query`` that is an object makes a request
one of 0.54. Pure: no I/O, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast, get_args

import msgspec

from aitp_desk.knowledge.documents.languages import spell_tag
from aitp_desk.model.errors import InvalidRequest, MissingField
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.nlweb.objects import ResponseFormat

MAX_BODY = 64 * 1024
MAX_TEXT = 4096
MAX_EARLIER = 10
"""Of more earlier questions the newest count."""
MAX_RESULTS, USUAL_RESULTS = 50, 10
EVERY_SITE = "all"

Mode = Literal["list", "summarize", "generate"]
_MODES: Mapping[str, Mode] = {
    "none": "list",
    "list": "list",
    "summarize": "summarize",
    "summary": "summarize",
    "generate": "generate",
}
_ORDER: Sequence[Mode] = ("generate", "summarize", "list")
_ENDS_TAG = re.compile(r"[,;\s]")


class AskedQuestion(msgspec.Struct, frozen=True):
    """A question to a site agent.

    Parameters:
        earlier: the caller's earlier questions, oldest first; none if the text needs no context.
        sites: the named parts of the content, in lower case; empty for all.
        least_score: results below it are left out.
        query_id: as the caller has named the question; empty for no name.
        is_structured: whether it is one of version 0.54.
        session: what the caller says of its session, which is returned.
    """

    text: str
    earlier: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    mode: Mode = "list"
    streams: bool = True
    most: int = USUAL_RESULTS
    least_score: int = 0
    locale: str | None = None
    query_id: str = ""
    is_structured: bool = False
    response_format: ResponseFormat = "conv_search"
    session: Mapping[str, str] = {}


def decode_ask(body: bytes) -> AskedQuestion:
    """Decode the body of ``POST /ask``. Unknown members are ignored, as NLWeb is extensible.

    Raises:
        MissingField: there is no question.
        InvalidRequest: a member has the wrong shape; ``param`` is its path.
    """
    given = _read_body(body)
    if not isinstance(given.get("query"), dict):
        return read_ask(given)
    query = given["query"]
    context, prefer = _member(given, "context"), _member(given, "prefer")
    meta = _member(given, "meta")
    session = _member(meta, "session_context", "meta.")
    conversation = _text(session, "conversation_id", 128, "meta.session_context.")
    kind = prefer.get("response_format")
    return _make(
        _question(query, "text", "query."),
        _text(query, "decontextualized_query", MAX_TEXT, "query."),
        context.get("prev"),
        "context.prev",
        sites=_sites(query, "query."),
        mode=_mode(prefer.get("mode"), "prefer.mode"),
        streams=_flag(prefer, "streaming", "prefer."),
        most=_number(query, "max_results", USUAL_RESULTS, 1, "query."),
        least_score=_number(query, "min_score", 0, 0, "query."),
        locale=_locale(_text(prefer, "accept-language", 256, "prefer.")),
        is_structured=True,
        response_format=(
            cast("ResponseFormat", kind) if kind in get_args(ResponseFormat) else "conv_search"
        ),
        session={} if conversation is None else {"conversation_id": conversation},
    )


def decode_who(body: bytes) -> tuple[str, int]:
    """Decode the body of ``POST /who``: what is sought, and the most results.

    Raises:
        InvalidRequest: a member has the wrong shape.
    """
    given = _read_body(body)
    query, meta = given.get("query"), _member(given, "meta")
    most = _number(meta, "max_results", USUAL_RESULTS, 1, "meta.")
    if isinstance(query, dict):
        return _text(query, "text", MAX_TEXT, "query.") or "", most
    return _text(given, "query", MAX_TEXT) or "", most


def read_who(query: Mapping[str, str]) -> tuple[str, int]:
    """Read the parameters of ``GET /who``; as :func:`decode_who`."""
    most = _number(query, "max_results", USUAL_RESULTS, 1)
    return _text(query, "query", MAX_TEXT) or "", most


def _read_body(body: bytes) -> dict[str, Any]:
    given = decode_json(body)
    if not isinstance(given, dict):
        raise InvalidRequest('The body must be a JSON object with "query".')
    return given


def read_ask(given: Mapping[str, Any]) -> AskedQuestion:
    """Read the parameters of ``GET /ask``, or the flat members of a body.

    Raises:
        MissingField, InvalidRequest: as :func:`decode_ask`.
    """
    mode = "mode" if given.get("mode") is not None else "generate_mode"
    return _make(
        _question(given, "query"),
        _text(given, "decontextualized_query", MAX_TEXT),
        given.get("prev"),
        "prev",
        sites=_sites(given),
        mode=_mode(given.get(mode), mode),
        streams=_flag(given, "streaming"),
        most=_number(given, "max_results", USUAL_RESULTS, 1),
        least_score=_number(given, "min_score", 0, 0),
        query_id=_text(given, "query_id", 128) or "",
    )


def _make(text: str, in_full: str | None, earlier: Any, at: str, **members: Any) -> AskedQuestion:
    """Return the question: in its decontextualized form, or after the earlier ones."""
    said = _earlier(earlier, at)
    if in_full is not None and in_full.strip():
        return AskedQuestion(in_full, **members)
    return AskedQuestion(text, said, **members)


def _question(given: Mapping[str, Any], name: str, prefix: str = "") -> str:
    text = _text(given, name, MAX_TEXT, prefix)
    if text is None or not text.strip():
        raise MissingField(f"`{prefix}{name}` is required: the question.", param=f"{prefix}{name}")
    return text


def _earlier(value: Any, at: str) -> tuple[str, ...]:
    """Return the earlier questions: of a list, or separated by commas."""
    if value is None:
        return ()
    if isinstance(value, str):
        is_list = value.lstrip().startswith("[")
        try:
            value = decode_json(value.encode()) if is_list else value.split(",")
        except (InvalidRequest, UnicodeEncodeError):  # a list without quotation marks
            value = value.strip(" []").split(",")
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InvalidRequest(f"`{at}` must be a list of earlier questions.", param=at)
    said = [_checked(one, MAX_TEXT, at) for one in value[-MAX_EARLIER:]]
    return tuple(one.strip() for one in said if one.strip())


def _mode(value: Any, at: str) -> Mode:
    """Return the mode; of several, separated by commas, the one that does most."""
    named = str(value).lower() if isinstance(value, str) else ("list" if value is None else "?")
    chosen = {_MODES.get(part.strip()) for part in named.split(",")}
    if None in chosen:
        raise InvalidRequest(f"`{at}` must be list, summarize or generate.", param=at)
    return next(mode for mode in _ORDER if mode in chosen)


def _flag(given: Mapping[str, Any], name: str, prefix: str = "") -> bool:
    """Return whether events are wanted; they are unless the caller says no."""
    value = given.get(name)
    if value is None or isinstance(value, bool):
        return value is not False
    said = str(value).strip().lower() if isinstance(value, (str, int)) else ""
    if said not in {"", "0", "1", "true", "false"} or (said == "" and not isinstance(value, str)):
        at = f"{prefix}{name}"
        raise InvalidRequest(f"`{at}` must be true or false.", param=at)
    return said not in {"0", "false"}


def _number(given: Mapping[str, Any], name: str, usual: int, least: int, prefix: str = "") -> int:
    value, at = given.get(name), f"{prefix}{name}"
    if value is None:
        return usual
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 4:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 1000:
        raise InvalidRequest(f"`{at}` must be a whole number from {least} to 1000.", param=at)
    return value


def _sites(given: Mapping[str, Any], prefix: str = "") -> tuple[str, ...]:
    value = given.get("site")
    named = value if isinstance(value, list) else [value or ""]
    at = f"{prefix}site"
    if not all(isinstance(one, str) for one in named):
        raise InvalidRequest(f"`{at}` must be a name, or several.", param=at)
    parts = [part.strip().lower() for one in named for part in _checked(one, 1024, at).split(",")]
    sites = tuple(filter(None, parts))
    return () if EVERY_SITE in sites else sites


def _locale(value: str | None) -> str | None:
    """Return the first language of a list such as that of ``Accept-Language``."""
    return None if value is None else spell_tag(_ENDS_TAG.split(value.strip(), maxsplit=1)[0])


def _member(given: Mapping[str, Any], name: str, prefix: str = "") -> Mapping[str, Any]:
    value = given.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        at = f"{prefix}{name}"
        raise InvalidRequest(f"`{at}` must be an object.", param=at)
    return value


def _text(given: Mapping[str, Any], name: str, longest: int, prefix: str = "") -> str | None:
    value = given.get(name)
    return None if value is None else _checked(value, longest, f"{prefix}{name}")


def _checked(value: Any, longest: int, at: str) -> str:
    """Return a text that is not too long and can be stored."""
    if not isinstance(value, str) or len(value) > longest:
        raise InvalidRequest(f"`{at}` must be a text of at most {longest} characters.", param=at)
    if "\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value):
        raise InvalidRequest(f"`{at}` has a character that is not text.", param=at)
    return value
