"""What the operators' pages send and are sent. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from aitp_desk.auth.console_sessions import Session
from aitp_desk.config import Site
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import DeskError, InvalidRequest
from aitp_desk.model.ticket import OPERATORS
from aitp_desk.protocols.refusal import refusal_headers, status_of
from aitp_desk.protocols.reply import Reply

encode: Final = msgspec.json.Encoder().encode
_CHALLENGE: Final = "WWW-Authenticate"


class SignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What signs in: an API key."""

    token: str


def decode_sign_in(body: bytes) -> str:
    """The API key by which somebody signs in.

    Raises:
        InvalidRequest: it is none.
    """
    signing: SignIn = _decode(body, SignIn)
    return signing.token.strip()


def encode_session(session: Session, site: Site, agents: Sequence[str]) -> bytes:
    """Who has signed in, and what their page has to know of the site.

    Parameters:
        agents: the names of all site agents; the site's own is empty.
    """
    return encode(
        {
            "operator": session.operator,
            "actor": f"{site.url}/{OPERATORS}/{session.operator}",
            "csrf": session.csrf,
            "expires_at": moment(session.expires_at),
            "site": {"name": site.name, "url": site.url},
            "agents": agents,
        }
    )


def render_error(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """A refusal: ``{"error": {"code", "message", "param"}}``.

    What would sign in is no header that a program may send (RFC 9110, section 11.6.1, wants a
    challenge all the same).
    """
    headers = [pair for pair in refusal_headers(error) if pair[0] != _CHALLENGE]
    if error.kind is ErrorKind.NOT_AUTHENTICATED:
        headers.append((_CHALLENGE, 'Cookie realm="aitp-desk console"'))
    body = {"code": error.kind.value, "message": error.message, "param": error.param}
    return Reply(status_of(error.kind), encode({"error": body}), headers=tuple(headers))


def moment(at: float) -> str:
    """A time as RFC 3339 has it, in UTC.

    Parameters:
        at: Unix seconds.
    """
    return datetime.fromtimestamp(int(at), UTC).isoformat().replace("+00:00", "Z")


def _decode(body: bytes, kind: type[Any]) -> Any:
    """A body of one form, with nothing beside it.

    Raises:
        InvalidRequest: it has another form; the message says where.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"The body is not as it should be: {error}.") from error
