"""Serves the webhooks of capabilities, one address each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from aitp_desk.capability import Hook
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.plugins.outside.webhooks import PluginWebhooks
from aitp_desk.desk.plugins.registry import EnabledPlugin
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.base.protocol import Call, Handler, ProtocolRoutes, Reply, Route

HOOKS_PATH = "/hooks/"
MAX_BODY = 256 * 1024


class Taken(msgspec.Struct):
    """The response to a delivery that was stored."""

    status: Literal["ok"]


_TAKEN = msgspec.json.encode(Taken("ok"))


def make_hook_routes(
    webhooks: PluginWebhooks, render_error: Callable[[DeskError, Mapping[str, str]], Reply]
) -> tuple[ProtocolRoutes, ...]:
    """Return the routes of the hooks; none where no capability has one.

    The sender is anonymous here: the hook itself verifies its proof.
    """
    routes = tuple(
        Route(
            "POST",
            f"{HOOKS_PATH}{enabled.slug}/{name}",
            _taking(webhooks, enabled, hook.judge),
            "static",
            MAX_BODY,
            media_type=hook.media_type,
            identifies=False,
        )
        for enabled in webhooks.capabilities.all
        for name, hook in enabled.hooks.items()
    )
    return (
        (ProtocolRoutes("hooks", routes, (HOOKS_PATH,), render_error, objects=(Taken,)),)
        if routes
        else ()
    )


def _taking(webhooks: PluginWebhooks, enabled: EnabledPlugin, hook: Hook) -> Handler:
    async def post_hook(_desk: Desk, call: Call) -> Reply:
        """``POST /hooks/{slug}/{name}``."""
        headers = {name.lower(): value for name, value in call.headers.items()}
        await webhooks.receive(enabled, hook, call.body, headers)
        return Reply(200, _TAKEN)

    return post_hook
