"""Serves the redirects of capabilities, one address each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aitp_desk.capability import Redirect
from aitp_desk.capability.background import MOST_REF
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.plugins.outside.redirects import PluginRedirects
from aitp_desk.desk.plugins.registry import REDIRECTS_PATH, EnabledPlugin
from aitp_desk.model.errors import DeskError, RouteNotFound
from aitp_desk.protocols.base.protocol import (
    HTML,
    JSON,
    Call,
    Handler,
    ProtocolRoutes,
    Reply,
    Route,
)


def make_redirect_routes(
    redirects: PluginRedirects, render_error: Callable[[DeskError, Mapping[str, str]], Reply]
) -> tuple[ProtocolRoutes, ...]:
    """Return the routes of the redirects; none where no capability has one.

    A link works for everyone who has it: the capability does not learn who follows it.

    Parameters:
        render_error: renders refusals, as a page for browsers.
    """
    routes = tuple(
        Route(
            "GET",
            REDIRECTS_PATH.format(slug=enabled.slug, name=name),
            _leading(redirects, enabled, redirect),
            "static",
            gives=(HTML.partition(";")[0], JSON),
        )
        for enabled in redirects.capabilities.all
        for name, redirect in enabled.redirects.items()
    )
    return (ProtocolRoutes("redirects", routes, (), render_error),) if routes else ()


def _leading(redirects: PluginRedirects, enabled: EnabledPlugin, redirect: Redirect) -> Handler:
    async def get_redirect(_desk: Desk, call: Call) -> Reply:
        """``GET /capabilities/{slug}/{name}/{ref}``."""
        ref = call.params["ref"]
        if not 1 <= len(ref) <= MOST_REF or not ref.isprintable():
            raise RouteNotFound("There is nothing at this address.")
        call.release_slot()  # the capability may call another server
        url = await redirects.resolve_redirect(enabled, redirect, ref)
        return Reply(303, headers=(("Location", url), ("Cache-Control", "no-store")))

    return get_redirect
