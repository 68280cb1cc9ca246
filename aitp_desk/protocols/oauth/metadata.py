"""Describes the desk to OAuth 2.0 clients: token endpoint, scopes, signing keys.

Sources: RFC 8414 (authorization server), RFC 9728 (protected resource), RFC 7517 and RFC 8037
(public keys). Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aitp_desk.auth.jwt.issuance import ALGORITHM
from aitp_desk.auth.jwt.signing_keys import KeyPair
from aitp_desk.config import Site
from aitp_desk.protocols.oauth.wire import AUTH_METHODS, GRANT

TOKEN_PATH = "/oauth/token"  # noqa: S105 - an address
REGISTER_PATH = "/oauth/register"
AUTHORIZE_PATH = "/oauth/authorize"
SERVER_PATH = "/.well-known/oauth-authorization-server"
KEYS_PATH = "/.well-known/jwks.json"
SCOPES = ("threads", "actions")
"""The published scopes. Operators and administrators know theirs."""


def describe_server(url: str, *, registers: bool) -> dict[str, Any]:
    """Return the metadata of the authorization server (RFC 8414, section 2).

    The server needs no ``authorization_endpoint``, because no grant asks a user. Clients that
    require the member find an address that says so. ``response_types_supported`` is required and
    must not be empty (section 3.2): it names the type ``none``, which returns nothing.

    Parameters:
        url: the public address of the desk, which is its issuer identifier.
        registers: whether clients may register.
    """
    described: dict[str, Any] = {
        "issuer": url,
        "authorization_endpoint": f"{url}{AUTHORIZE_PATH}",
        "token_endpoint": f"{url}{TOKEN_PATH}",
        "jwks_uri": f"{url}{KEYS_PATH}",
        "scopes_supported": SCOPES,
        "response_types_supported": ["none"],
        "grant_types_supported": [GRANT],
        "token_endpoint_auth_methods_supported": AUTH_METHODS,
    }
    if registers:
        described["registration_endpoint"] = f"{url}{REGISTER_PATH}"
    return described


def describe_resource(site: Site, path: str) -> dict[str, Any]:
    """Return the metadata of a protected resource (RFC 9728, section 2).

    Parameters:
        path: of a part of the desk, such as ``/v1``; empty for the whole desk.
    """
    return {
        "resource": f"{site.url}{path}",
        "resource_name": site.name,
        "authorization_servers": [site.url],
        "scopes_supported": SCOPES,
        "bearer_methods_supported": ["header"],
    }


def describe_keys(pairs: Iterable[KeyPair]) -> dict[str, Any]:
    """Return the public keys as a JWK set.

    Source: RFC 7517, section 5; RFC 8037, section 2.
    """
    return {
        "keys": [
            {
                "kty": "OKP",
                "crv": "Ed25519",
                "x": pair.public,
                "kid": pair.id,
                "use": "sig",
                "alg": ALGORITHM,
            }
            for pair in pairs
        ]
    }
