"""The formats of the console's API. Pure: no I/O, no clock."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from aitp_desk.auth.console_sessions import Session
from aitp_desk.config import Site
from aitp_desk.model.access.scope import SENSITIVE
from aitp_desk.model.conversation.ticket import OPERATORS
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import DeskError, InvalidRequest
from aitp_desk.model.timestamps import write_timestamp
from aitp_desk.protocols.base.errors import find_status, make_refusal_headers
from aitp_desk.protocols.base.protocol import Reply
from aitp_desk.web.console.objects import (
    ConsoleError,
    ConsoleErrorDetail,
    ConsoleSession,
    ConsoleSite,
)

T = TypeVar("T")

DEFAULT_PAGE: Final = 50
MAX_PAGE: Final = 100
LONGEST_SEARCH: Final = 200
"""The longest search text, in characters."""
encode: Final = msgspec.json.Encoder().encode
_CHALLENGE: Final = "WWW-Authenticate"
_DIGITS: Final = re.compile(r"\d{1,3}", re.ASCII)


def encode_session(
    session: Session,
    site: Site,
    agents: Sequence[str],
    capabilities: Sequence[str],
    platforms: Sequence[str] = (),
) -> bytes:
    """Write the session, and what its page needs to know of the site.

    Parameters:
        agents: the names of all site agents; the main one's is empty.
        capabilities: those with which operators may ask something.
        platforms: names of the transports from which they may work.
    """
    return encode(
        ConsoleSession(
            operator=session.operator,
            actor=f"{site.url}/{OPERATORS}/{session.operator}",
            csrf=session.csrf,
            expires_at=write_timestamp(session.expires_at),
            site=ConsoleSite(site.name, site.url),
            agents=agents,
            capabilities=capabilities,
            reveals=SENSITIVE in session.principal.scopes,
            platforms=platforms or msgspec.UNSET,
        )
    )


def render_error(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """Render a refusal: ``{"error": {"code", "message", "param"}}``.

    RFC 9110, section 11.6.1, requires a challenge, though no header that a program may send would
    sign in.
    """
    headers = [pair for pair in make_refusal_headers(error) if pair[0] != _CHALLENGE]
    if error.kind is ErrorKind.NOT_AUTHENTICATED:
        headers.append((_CHALLENGE, 'Cookie realm="aitp-desk console"'))
    body = ConsoleError(ConsoleErrorDetail(error.kind.value, error.message, error.param))
    return Reply(find_status(error.kind), encode(body), headers=tuple(headers))


def decode_body(body: bytes, kind: type[T]) -> T:
    """Decode a body strictly; an empty one is ``{}``.

    Raises:
        InvalidRequest: it has another form; the message says where.
    """
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"The body is not valid: {error}.") from error


def decode_limit(query: Mapping[str, str]) -> int:
    """Decode the page size of a list.

    Raises:
        InvalidRequest: as :func:`decode_count`.
    """
    return decode_count(query, "limit", DEFAULT_PAGE, MAX_PAGE)


def decode_count(query: Mapping[str, str], name: str, default: int, most: int) -> int:
    """Decode a whole number from 1 on.

    Parameters:
        default: the value if it is missing.
        most: the largest value, three digits at most.

    Raises:
        InvalidRequest: it is none, or too large.
    """
    written = query.get(name, str(default))
    if not (_DIGITS.fullmatch(written) and 1 <= int(written) <= most):
        raise InvalidRequest(f"{name} must be a whole number from 1 to {most}.", param=name)
    return int(written)


def decode_choice(query: Mapping[str, str], name: str, choices: Collection[str]) -> str | None:
    """Decode one of several values; None where it is left out.

    Raises:
        InvalidRequest: it is another.
    """
    chosen = query.get(name)
    if chosen is not None and chosen not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        raise InvalidRequest(f"{name} must be one of {words}.", param=name)
    return chosen


def decode_flag(query: Mapping[str, str], name: str) -> bool:
    """Decode a flag; false where it is left out.

    Raises:
        InvalidRequest: it is neither ``true`` nor ``false``.
    """
    return decode_choice(query, name, ("true", "false")) == "true"


def decode_search(query: Mapping[str, str]) -> str:
    """Decode the search text; empty for none.

    Raises:
        InvalidRequest: it is too long.
    """
    words = query.get("q", "").strip()
    if len(words) > LONGEST_SEARCH:
        raise InvalidRequest(f"q must have at most {LONGEST_SEARCH} characters.", param="q")
    return words
