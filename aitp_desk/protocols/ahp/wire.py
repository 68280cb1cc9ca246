"""Decodes the requests of AHP 0.1's conversational endpoint.

Source: AHP 0.1, section 6.1; the published request schema. Pure: no I/O, no clock.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.model.calls.action import is_action_name
from aitp_desk.model.errors import InvalidRequest, MissingField, UnknownVersion
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.ahp.objects import AHPContext, AHPRequest

VERSION = "0.1"
MAX_BODY = 8 * 1024
"""AHP 0.1, section 6.5: request body cap of 8 KB."""
ANSWERS: Final = "MODE2"
ACTS: Final = "MODE3"
"""The modes of an answer and of an action (AHP 0.1, sections 5.2, 5.3)."""

CAPABILITY_PREFIX = "x-aitp/"
"""Turns a capability's slug into a content type, which declares that capability."""

_MEMBERS = frozenset(AHPRequest.__struct_fields__)
_CONTEXT_MEMBERS = frozenset(AHPContext.__struct_fields__)
_VERSION = re.compile(r"(\d{1,32})\.(\d{1,32})", re.ASCII)
_TYPE = re.compile(r"(?:text|application|media|file|x-[a-z][a-z0-9-]*)/[a-z][a-z0-9_-]*", re.ASCII)
_LOCALE = re.compile(r"[a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{2,8})*", re.ASCII)
_MAX_TYPES = 50
_SMALL = 512
_REMEMBERED = 1024
"""The number of decoded bodies in the cache, each of at most ``_SMALL`` bytes.

The same programs ask most questions again and again, with the same text.
"""


_REQUIRED: Final = {
    "capability": "a name in /.well-known/agent.json, such as content_search",
    "query": "a question, or an action's arguments as JSON in a string",
}


def decode_converse(body: bytes) -> AskRequest:
    """Decode the body of ``POST /agent/converse``.

    Raises:
        MissingField: ``capability`` or ``query`` is absent.
        UnknownVersion: the request is of another major version (section 12).
        InvalidRequest: a member is unknown or breaks the request schema; ``param`` is its path.
    """
    return _read_again(body) if len(body) <= _SMALL else _read(body)


def _read(body: bytes) -> AskRequest:
    given = decode_json(body)
    if not isinstance(given, dict):
        raise InvalidRequest('The body must be a JSON object with "capability" and "query".')
    minor = _check_version(given.get("ahp"))
    context = given.get("context")
    if context is None:
        context = {}
    if not isinstance(context, dict):
        raise InvalidRequest("`context` must be an object.", param="context")
    if minor <= 1:  # a later minor version may add members
        _refuse_unknown(given, _MEMBERS, "")
        _refuse_unknown(context, _CONTEXT_MEMBERS, "context.")
    for name, takes in _REQUIRED.items():
        if given.get(name) is None:
            raise MissingField(f"`{name}` is required: {takes}.", param=name)
    capability = _string(given, "capability", 64)
    if capability is None or not is_action_name(capability):
        raise InvalidRequest(
            "`capability` must be a name of lowercase letters, digits and _.", param="capability"
        )
    if isinstance(given["query"], dict):
        raise InvalidRequest("`query` must be a string; write the object as JSON.", param="query")
    query = _string(given, "query", 4096)
    if query is None or not query.strip():
        raise InvalidRequest("`query` must have 1 to 4096 characters.", param="query")
    locale = intent = callback_url = None
    if context:
        intent = _string(context, "user_intent", 256, "context.")
        callback_url = _string(context, "callback_url", MAX_BODY, "context.")
        locale = _string(context, "locale", 64, "context.")
    if locale is not None and not _LOCALE.fullmatch(locale):
        raise InvalidRequest(
            "`locale` must be a language tag such as en or fr-CA.", param="context.locale"
        )
    accepts, declared = _declared(_accept_types(context.get("accept_types")))
    return AskRequest(
        action=capability,
        query=query,
        session_id=_string(given, "session_id", 128),
        clarification=_string(given, "clarification", 1024),
        accepts=accepts,
        declared=declared,
        max_tokens=_max_tokens(context.get("max_tokens")),
        locale=locale,
        requesting_agent=_string(context, "requesting_agent", 128, "context."),
        intent=intent,
        callback_url=callback_url,
        may_match=True,
    )


_read_again = lru_cache(_REMEMBERED)(_read)


def clear_body_cache() -> None:
    """Clear the cache of decoded bodies."""
    _read_again.cache_clear()


def _check_version(given: Any) -> int:
    """Return the requested minor version; absent means this one (section 12)."""
    if given is None or given == VERSION:
        return 1
    found = _VERSION.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        raise InvalidRequest(
            f'`ahp` must be a protocol version, a string of two numbers such as "{VERSION}",'
            " which is the default.",
            param="ahp",
        )
    if int(found[1]) > 0:
        raise UnknownVersion(f"AHP {given} is not supported; use AHP {VERSION}.", param="ahp")
    return int(found[2])


def _refuse_unknown(given: dict[str, Any], known: frozenset[str], prefix: str) -> None:
    if given.keys() <= known:
        return
    name = next(name for name in given if name not in known)
    raise InvalidRequest(
        f"The member '{prefix}{name[:64]}' is unknown. Known are {', '.join(sorted(known))}.",
        param=f"{prefix}{name[:64]}",
    )


def _string(given: dict[str, Any], name: str, longest: int, prefix: str = "") -> str | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > longest:
        raise InvalidRequest(
            f"`{prefix}{name}` must be a string of at most {longest} characters.",
            param=f"{prefix}{name}",
        )
    return value


def _accept_types(given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) > _MAX_TYPES:
        raise InvalidRequest(
            f"`accept_types` must be a list of at most {_MAX_TYPES} types.",
            param="context.accept_types",
        )
    for content_type in given:
        if not isinstance(content_type, str) or not _TYPE.fullmatch(content_type):
            raise InvalidRequest(
                "`accept_types` must contain content types such as text/answer or x-shop/cart.",
                param="context.accept_types",
            )
    return tuple(given)


def _declared(types: tuple[str, ...] | None) -> tuple[tuple[str, ...] | None, frozenset[str]]:
    """Return the accepted answer types, and the slugs of the declared capabilities among them.

    A caller that names only capabilities does not restrict the answers.
    """
    if types is None or not any(one.startswith(CAPABILITY_PREFIX) for one in types):
        return types, frozenset()
    answers = tuple(one for one in types if not one.startswith(CAPABILITY_PREFIX))
    slugs = (one.removeprefix(CAPABILITY_PREFIX) for one in types if one not in answers)
    return answers or None, frozenset(slugs)


def _max_tokens(given: Any) -> int | None:
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= 32768:
        raise InvalidRequest(
            "`max_tokens` must be a whole number from 1 to 32768.", param="context.max_tokens"
        )
    return given
