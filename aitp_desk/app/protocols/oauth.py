"""Builds the routes of the OAuth token endpoint, and its authorization server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from aitp_desk.auth.jwt.clients import ClientSecrets
from aitp_desk.auth.jwt.signing_keys import SigningKeys
from aitp_desk.auth.keys.audit_keys import derive_audit_keys
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.auth.keys.webhook_signatures import webhook_secret_of_client
from aitp_desk.config import Config
from aitp_desk.desk.access.oauth_server import AuthorizationServer
from aitp_desk.protocols.base.protocol import ProtocolRoutes
from aitp_desk.protocols.oauth.routes import OAuthHandlers
from aitp_desk.store.base import Store


def make_oauth_routes(
    config: Config, *, store: Store, keys: DataKeys, clock: Callable[[], float]
) -> tuple[ProtocolRoutes, ...]:
    """Return the OAuth routes, shared by all desks; empty where OAuth is disabled.

    Parameters:
        keys: the desk's data keys.
        clock: Unix seconds.
    """
    if not config.oauth.enabled:
        return ()
    authorization_server = AuthorizationServer(
        store=store,
        keys=SigningKeys(keys),
        client_secrets=ClientSecrets(keys),
        audit=derive_audit_keys(keys),
        webhook_secret=partial(webhook_secret_of_client, keys),
        settings=config.oauth,
        url=config.site.url,
        clock=clock,
    )
    return (OAuthHandlers(authorization_server, config.site).protocol(),)
