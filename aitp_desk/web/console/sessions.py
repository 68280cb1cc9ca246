"""Signing in and out, and what every request of somebody who has signed in passes.

The session stands in a cookie that no script reads and no other site's page has sent. Whatever
changes something also carries a word that only the desk's own pages can know: a header, so that no
form of another page sends it.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Literal

import msgspec

from aitp_desk.auth.console_sessions import ConsoleSessions, Session
from aitp_desk.auth.credentials.request_credentials import read_session
from aitp_desk.config import Site
from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import Forbidden, NotAuthenticated
from aitp_desk.protocols.base.door import JSON, Call, Handler, Reply, Route
from aitp_desk.web.console import wire
from aitp_desk.web.console.assets import CONSOLE_PATH

API_PATH: Final = f"{CONSOLE_PATH}/api"
COOKIE: Final = "desk_console"
CSRF_HEADER: Final = "X-CSRF-Token"
SIGN_IN_BYTES: Final = 4 * 1024

SignedInHandler = Callable[[Session, Call], Awaitable[Reply]]
"""Answers somebody who has signed in."""


class _SignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    token: str


class SessionRoutes:
    """Signs operators in and out.

    Parameters:
        site: whose pages these are.
        agents: the names of all site agents; the site's own is empty.
        capabilities: slugs of those by which operators may ask.
        refused: notes that a key was refused, and where it came from.
        clock: Unix seconds.
    """

    def __init__(
        self,
        sessions: ConsoleSessions,
        site: Site,
        agents: Sequence[str],
        capabilities: Sequence[str],
        refused: Callable[[str, NotAuthenticated], None],
        clock: Callable[[], float],
    ) -> None:
        self._sessions = sessions
        self._site = site
        self._agents = agents
        self._capabilities = capabilities
        self._refused = refused
        self._clock = clock

    async def sign_in(self, _desk: Desk, call: Call) -> Reply:
        """``POST session``: a new session, whether or not there was one."""
        address = call.principal.address
        try:
            secret, session = await self._sessions.sign_in(
                wire.decode_body(call.body, _SignIn).token.strip(), address
            )
        except NotAuthenticated as error:
            self._refused(address, error)
            raise
        seconds = max(0, session.expires_at - int(self._clock()))
        return self._reply(session, (self._cookie(secret, seconds),))

    async def show(self, session: Session, _call: Call) -> Reply:
        """``GET session``: who has signed in."""
        return self._reply(session)

    async def sign_out(self, session: Session, _call: Call) -> Reply:
        """``DELETE session``: it is over."""
        await self._sessions.sign_out(session)
        return Reply(204, headers=(self._cookie("", 0),))

    def route(
        self,
        method: Literal["GET", "POST", "DELETE"],
        path: str,
        handler: SignedInHandler,
        max_body: int = 0,
        gives: str = JSON,
    ) -> Route:
        """An address for who has signed in.

        Parameters:
            path: below that of the API.
            gives: the media type of what a GET is answered with.
        """
        return Route(
            method,
            f"{API_PATH}/{path}",
            self._for_signed_in(handler),
            "static" if method == "GET" else "converse",
            max_body,
            cookie=COOKIE,
            is_own=True,
            gives=(gives,),
        )

    def routes(self) -> tuple[Route, ...]:
        """The addresses of the session itself."""
        path = f"{API_PATH}/session"
        sign_in = Route(
            "POST", path, self.sign_in, "converse", SIGN_IN_BYTES, identifies=False, is_own=True
        )
        return (
            sign_in,
            self.route("GET", "session", self.show),
            self.route("DELETE", "session", self.sign_out),
        )

    def _for_signed_in(self, handler: SignedInHandler) -> Handler:
        """Have a handler answer only who has signed in, and do only what they have asked for."""

        async def guarded(_desk: Desk, call: Call) -> Reply:
            presented = read_session(call.headers, COOKIE)
            session = await self._sessions.find(presented.credential)
            if call.method not in {"GET", "HEAD"}:
                _check_asked(session, call)
            return await handler(session, call)

        return guarded

    def _reply(self, session: Session, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
        body = wire.encode_session(session, self._site, self._agents, self._capabilities)
        return Reply(200, body, headers=headers)

    def _cookie(self, value: str, seconds: int) -> tuple[str, str]:
        """The session's cookie (RFC 6265, section 4.1): for these pages alone, and for no script.

        Parameters:
            seconds: when the browser is to forget it.
        """
        secure = "; Secure" if self._site.url.startswith("https:") else ""
        kept = f"Path={CONSOLE_PATH}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
        return "Set-Cookie", f"{COOKIE}={value}; {kept}"


def _check_asked(session: Session, call: Call) -> None:
    """Refuse what a page of somebody else has the browser send.

    Raises:
        Forbidden: it does not carry the session's own word.
    """
    sent = call.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode(errors="surrogateescape"), session.csrf.encode()):
        raise Forbidden(
            f"Send the 'csrf' of the session as {CSRF_HEADER} with whatever changes something.",
            param=CSRF_HEADER,
        )
