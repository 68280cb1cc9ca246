"""The closed list of a process's routes, in the order of matching."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from aitp_desk.agent.journal import AnswerJournal
from aitp_desk.app.peers import make_callback_addresses, make_key_directory
from aitp_desk.app.protocols.mcp import make_mcp_routes
from aitp_desk.app.protocols.site import make_site_routes
from aitp_desk.app.services import Services
from aitp_desk.auth.console_sessions import ConsoleSessions
from aitp_desk.auth.identifier import Identifier
from aitp_desk.auth.jwt.clients import ClientSecrets
from aitp_desk.auth.jwt.signing_keys import SigningKeys
from aitp_desk.auth.keys.audit_keys import derive_audit_keys
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.auth.keys.webhook_signatures import webhook_secret_of_client
from aitp_desk.config import Config
from aitp_desk.desk.access.oauth_server import REGISTRATION_SECONDS, AuthorizationServer
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.plugins.outside.redirects import PluginRedirects
from aitp_desk.desk.plugins.outside.webhooks import PluginWebhooks
from aitp_desk.observability.sources import MetricsCollector
from aitp_desk.protocols.aitp.wire import render_error
from aitp_desk.protocols.base.protocol import ProtocolRoutes
from aitp_desk.protocols.metrics.routes import make_routes as make_metrics_routes
from aitp_desk.protocols.oauth.routes import OAuthHandlers
from aitp_desk.protocols.openapi.routes import Served
from aitp_desk.protocols.plugins.hooks import make_hook_routes
from aitp_desk.protocols.plugins.redirects import make_redirect_routes
from aitp_desk.protocols.plugins.schemas import make_schema_routes
from aitp_desk.transports.peers.callbacks import make_callback_routes
from aitp_desk.web.console.routes import make_routes as make_console_routes
from aitp_desk.web.discovery.key_directory import make_key_directory_routes
from aitp_desk.web.pages.wire import render_refusal


def make_all_routes(
    config: Config,
    services: Services,
    desks: Sequence[Desk],
    *,
    keys: DataKeys,
    identifier: Identifier,
    sessions: ConsoleSessions | None,
    collector: MetricsCollector,
    served: Served,
    transports: tuple[ProtocolRoutes, ...] = (),
    journal: AnswerJournal | None = None,
) -> tuple[ProtocolRoutes, ...]:
    """Return the routes that these settings enable.

    Parameters:
        config: the site's.
        desks: of all site agents, the main one first.
        keys: the desk's data keys.
        identifier: identifies callers.
        sessions: of operators; None where the console is disabled.
        collector: collects the figures of the process.
        served: returns every route of the process, once all are made.
        transports: of platforms that call the desk.
        journal: has the answers that the home page explains; None explains none.

    Raises:
        ConfigError: a setting of a protocol cannot be satisfied.
    """
    desk, *further = desks
    webhooks = _receiving(services, desks)
    return (
        *transports,  # an endpoint may have addresses below it: before the pages' catch-all
        *make_console_routes(
            config,
            sessions,
            desks=desks,
            audit_log=services.audit_log,
            store=services.store,
            audit=services.audit,
            broadcaster=services.events,
            slots=services.slots,
            clock=services.clock,
            capabilities=services.capabilities,
            health_checks=services.health_checks,
            sealed=services.sealed,
            idempotency=services.idempotency,
            keys=keys,
        ),
        *make_redirect_routes(
            _leading(services, webhooks), partial(render_refusal, config.site, render_error)
        ),
        *make_callback_routes(
            make_callback_addresses(config, keys),
            render_error,
            store=services.store,
            wake=services.jobs.wake,
            clock=services.clock,
        ),
        *make_site_routes(desk, further, config, served, services.capabilities.slugs, journal),
        *make_key_directory_routes(make_key_directory(config, keys), render_error),
        *make_mcp_routes(desks, config, identifier, services.audit_log),
        *make_oauth_routes(config, services, keys),
        *make_schema_routes(services.capabilities, render_error),
        *make_hook_routes(webhooks, render_error),
        *make_metrics_routes(collector, render_error),
    )


def _receiving(services: Services, desks: Sequence[Desk]) -> PluginWebhooks:
    """Make the receiver of webhooks from outside systems to capabilities."""
    return PluginWebhooks(
        services.capabilities,
        store=services.store,
        actors={desk.name: desk.agents.default.actor for desk in desks},
        audit=services.audit,
        changed=services.events.notify_change,
        wake=services.jobs.wake,
        clock=services.clock,
    )


def _leading(services: Services, webhooks: PluginWebhooks) -> PluginRedirects:
    """Make the handler of redirect links of capabilities."""
    return PluginRedirects(webhooks, store=services.store, send=services.send, clock=services.clock)


def make_oauth_routes(
    config: Config, services: Services, keys: DataKeys
) -> tuple[ProtocolRoutes, ...]:
    """Return the OAuth routes, shared by all desks; empty where OAuth is disabled."""
    if not config.oauth.enabled:
        return ()
    authorization_server = AuthorizationServer(
        store=services.store,
        keys=SigningKeys(keys),
        client_secrets=ClientSecrets(keys),
        audit=derive_audit_keys(keys),
        webhook_secret=partial(webhook_secret_of_client, keys),
        settings=config.oauth,
        url=config.site.url,
        clock=services.clock,
    )
    counts = services.shared.counts
    counts.add("oauth failures", authorization_server.failures)
    counts.add("oauth registrations", authorization_server.registrations, REGISTRATION_SECONDS)
    return (OAuthHandlers(authorization_server, config.site).protocol(),)
