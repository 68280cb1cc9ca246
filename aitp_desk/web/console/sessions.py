"""Sign-in and sign-out, and the checks of every request by a signed-in operator.

The session is in a cookie that no script can read and no other site's page can send. A request that
changes something also carries a secret that only the desk's own pages know; it is in a header, so
that no form of another page can send it.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Literal

from aitp_desk.auth.console_sessions import ConsoleSessions, Session
from aitp_desk.auth.credentials.request_credentials import read_session
from aitp_desk.config import Site
from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import Forbidden, NotAuthenticated
from aitp_desk.protocols.base.protocol import JSON, Call, Handler, Reply, Route
from aitp_desk.web.console import wire
from aitp_desk.web.console.assets import CONSOLE_PATH
from aitp_desk.web.console.objects import ConsoleSignIn

API_PATH: Final = f"{CONSOLE_PATH}/api"
COOKIE: Final = "desk_console"
CSRF_HEADER: Final = "X-CSRF-Token"
SIGN_IN_BYTES: Final = 4 * 1024

SignedInHandler = Callable[[Session, Call], Awaitable[Reply]]
"""Answers a signed-in operator."""


class SessionRoutes:
    """Signs operators in and out.

    Parameters:
        agents: the names of all site agents; the main one's is empty.
        capabilities: slugs of those with which operators may ask something.
        refused: records that a key was refused, and its origin.
        clock: Unix seconds.
        platforms: names of the transports from which operators may work.
    """

    def __init__(
        self,
        sessions: ConsoleSessions,
        site: Site,
        agents: Sequence[str],
        capabilities: Sequence[str],
        refused: Callable[[str, NotAuthenticated], None],
        clock: Callable[[], float],
        platforms: Sequence[str] = (),
    ) -> None:
        self._sessions = sessions
        self._site = site
        self._agents = agents
        self._capabilities = capabilities
        self._refused = refused
        self._clock = clock
        self._platforms = platforms

    async def sign_in(self, _desk: Desk, call: Call) -> Reply:
        """``POST session``: a new session, whether or not there was one."""
        address = call.principal.address
        try:
            secret, session = await self._sessions.sign_in(
                wire.decode_body(call.body, ConsoleSignIn).token.strip(), address
            )
        except NotAuthenticated as error:
            self._refused(address, error)
            raise
        seconds = max(0, session.expires_at - int(self._clock()))
        return self._reply(session, (self._cookie(secret, seconds),))

    async def show(self, session: Session, _call: Call) -> Reply:
        """``GET session``: the signed-in operator."""
        return self._reply(session)

    async def sign_out(self, session: Session, _call: Call) -> Reply:
        """``DELETE session``: ends it."""
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
        """Return a route for signed-in operators.

        Parameters:
            path: below that of the API.
            gives: the media type of the response to a GET.
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
        """Return the routes of the session itself."""
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
        """Wrap a handler: require a session, and its CSRF token for changes."""

        async def guarded(_desk: Desk, call: Call) -> Reply:
            presented = read_session(call.headers, COOKIE)
            session = await self._sessions.find(presented.credential)
            if call.method not in {"GET", "HEAD"}:
                _check_asked(session, call)
            return await handler(session, call)

        return guarded

    def _reply(self, session: Session, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
        body = wire.encode_session(
            session, self._site, self._agents, self._capabilities, self._platforms
        )
        return Reply(200, body, headers=headers)

    def _cookie(self, value: str, seconds: int) -> tuple[str, str]:
        """Return the session's cookie (RFC 6265, section 4.1), which no script can read.

        Parameters:
            seconds: its lifetime in the browser.
        """
        secure = "; Secure" if self._site.url.startswith("https:") else ""
        kept = f"Path={CONSOLE_PATH}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
        return "Set-Cookie", f"{COOKIE}={value}; {kept}"


def _check_asked(session: Session, call: Call) -> None:
    """Refuse requests that a page of another site had the browser send.

    Raises:
        Forbidden: the session's CSRF token is missing.
    """
    sent = call.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode(errors="surrogateescape"), session.csrf.encode()):
        raise Forbidden(
            f"Send the session's 'csrf' as {CSRF_HEADER} with each change.",
            param=CSRF_HEADER,
        )
