"""Serves OAuth 2.0: tokens, registration, metadata and public keys."""

from __future__ import annotations

from typing import Any

import msgspec

from aitp_desk.auth.jwt.signing_keys import PUBLISHED_FOR_SECONDS
from aitp_desk.config import Site
from aitp_desk.desk.access.oauth_server import AuthorizationServer
from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import UnsupportedGrant
from aitp_desk.protocols.base.auth_metadata import PARTS, RESOURCE_PATH
from aitp_desk.protocols.base.protocol import (
    URLENCODED,
    Call,
    Handler,
    ProtocolRoutes,
    Reply,
    Route,
)
from aitp_desk.protocols.oauth import metadata, wire
from aitp_desk.protocols.oauth.objects import OBJECTS

_PUBLIC = (("Cache-Control", f"public, max-age={PUBLISHED_FOR_SECONDS}"),)


class OAuthHandlers:
    """Serves OAuth for a site.

    Parameters:
        site: its ``url`` is the issuer.
    """

    def __init__(self, authorization_server: AuthorizationServer, site: Site) -> None:
        self._authorization_server = authorization_server
        self._site = site
        self._registers = authorization_server.settings.registration.enabled

    async def post_token(self, _desk: Desk, call: Call) -> Reply:
        """``POST /oauth/token`` (RFC 6749, section 4.4)."""
        request = wire.decode_grant(call.body, call.headers.getall("Authorization", []))
        return wire.encode_grant(
            await self._authorization_server.grant_token(request, call.principal.address)
        )

    async def post_register(self, _desk: Desk, call: Call) -> Reply:
        """``POST /oauth/register`` (RFC 7591, section 3.1)."""
        request = wire.decode_registration(call.body)
        registered = await self._authorization_server.register_client(
            request, call.principal.address
        )
        return wire.encode_registration(registered, call.body)

    async def get_authorize(self, _desk: Desk, _call: Call) -> Reply:
        """``GET /oauth/authorize``: refuses, because no grant asks a user."""
        raise UnsupportedGrant(
            "There is no sign-in for people here. Programs get tokens at"
            f" {metadata.TOKEN_PATH} with the grant_type {wire.GRANT}.",
            param="response_type",
        )

    async def get_server(self, _desk: Desk, _call: Call) -> Reply:
        """``GET /.well-known/oauth-authorization-server`` (RFC 8414, section 3)."""
        return _document(metadata.describe_server(self._site.url, registers=self._registers))

    async def get_keys(self, _desk: Desk, _call: Call) -> Reply:
        """``GET /.well-known/jwks.json`` (RFC 7517, section 5)."""
        return _document(metadata.describe_keys(await self._authorization_server.published_keys()))

    def protocol(self) -> ProtocolRoutes:
        """Return the protocol with its table of routes."""
        routes = [
            Route(
                "POST",
                metadata.TOKEN_PATH,
                self.post_token,
                counted="converse",
                max_body=wire.MAX_BODY,
                media_type=URLENCODED,
                identifies=False,
            ),
            Route("GET", metadata.AUTHORIZE_PATH, self.get_authorize, counted="static"),
            *(
                Route("GET", path, handler, counted="static", is_open=True)
                for path, handler in (
                    (metadata.SERVER_PATH, self.get_server),
                    (metadata.KEYS_PATH, self.get_keys),
                    *((f"{RESOURCE_PATH}{part}", self._describing(part)) for part in ("", *PARTS)),
                )
            ),
        ]
        if self._registers:
            routes.append(
                Route(
                    "POST",
                    metadata.REGISTER_PATH,
                    self.post_register,
                    counted="converse",
                    max_body=wire.MAX_BODY,
                )
            )
        return ProtocolRoutes(
            "oauth",
            tuple(routes),
            owns=("/oauth/",),
            render_error=wire.render_error,
            objects=OBJECTS,
        )

    def _describing(self, part: str) -> Handler:
        """``GET /.well-known/oauth-protected-resource`` and below it (RFC 9728, section 3)."""
        reply = _document(metadata.describe_resource(self._site, part))

        async def get_resource(_desk: Desk, _call: Call) -> Reply:
            return reply

        return get_resource


def _document(body: dict[str, Any]) -> Reply:
    return Reply(200, msgspec.json.encode(body), headers=_PUBLIC)
