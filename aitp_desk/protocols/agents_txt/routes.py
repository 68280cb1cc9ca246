"""Serves agents.txt and agents.json, each at two addresses (section 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from aitp_desk.config import Config
from aitp_desk.desk.desk import Desk
from aitp_desk.model.calls.action import Action
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.agents_txt.examination import JSON_TYPE
from aitp_desk.protocols.agents_txt.json_form import write_json
from aitp_desk.protocols.agents_txt.wire import (
    JSON_PATH,
    OTHER_JSON_PATH,
    OTHER_TEXT_PATH,
    TEXT_PATH,
    EntryPaths,
    FurtherAgent,
    SiteDescription,
    describe,
)
from aitp_desk.protocols.agents_txt.writer import write_text
from aitp_desk.protocols.base.protocol import (
    TEXT,
    Call,
    ProtocolRoutes,
    Reply,
    Route,
    make_etag,
    matches_etag,
)

KEPT_SECONDS = 300
"""How long agents may cache the files (section 9.2)."""

_CORS_METHODS = ("Access-Control-Allow-Methods", "GET, OPTIONS")
"""Sent with every response, not only to a preflight request (section 8.3)."""


class AgentsTxtHandlers:
    """Serves the files of a site. Writes them again when the desk's actions change.

    Parameters:
        desk: the site's own.
        further: those of further site agents.
        config: the site's.
        addresses: of the other protocols.
        render_error: renders refusals in the form of the protocol that owns the surrounding
            addresses.
    """

    def __init__(
        self,
        desk: Desk,
        further: Sequence[Desk],
        config: Config,
        addresses: EntryPaths,
        render_error: Callable[[DeskError, Mapping[str, str]], Reply],
    ) -> None:
        self._desks = (desk, *further)
        self._config = config
        self._addresses = addresses
        self._render_error = render_error
        self._actions: list[tuple[Action, ...]] = []
        self._text = self._json = ("", b"")

    async def get_text(self, _desk: Desk, call: Call) -> Reply:
        """``GET /.well-known/agents.txt`` and ``/agents.txt``."""
        self._follow()
        return _reply(self._text, TEXT, call)

    async def get_json(self, _desk: Desk, call: Call) -> Reply:
        """``GET /.well-known/agents.json`` and ``/agents.json``."""
        self._follow()
        return _reply(self._json, JSON_TYPE, call)

    async def get_options(self, _desk: Desk, _call: Call) -> Reply:
        """``OPTIONS`` of each of them (section 8.3)."""
        return Reply(204, headers=(("Allow", "GET, HEAD, OPTIONS"), _CORS_METHODS))

    def _follow(self) -> None:
        actions = [desk.registry.actions for desk in self._desks]
        if actions == self._actions:
            return
        config, (desk, *further) = self._config, self._desks
        agents = {agent.name: agent for agent in config.agents}
        document = describe(
            SiteDescription(
                site=desk.site,
                settings=config.agents_txt,
                limits=desk.limits,
                agents=config.agent_limits,
                actions=actions[0],
                addresses=self._addresses,
                open_scopes=config.oauth.registration.scopes,
                further=[
                    FurtherAgent(
                        agent=agents[one.name], limits=one.limits, actions=one.registry.actions
                    )
                    for one in further
                ],
            )
        )
        text, json = write_text(document).encode(), write_json(document)
        self._text, self._json = (make_etag(text), text), (make_etag(json), json)
        self._actions = actions

    def protocol(self) -> ProtocolRoutes:
        """Return the protocol with its table of routes."""
        served = (
            (TEXT_PATH, self.get_text, "text/plain"),
            (OTHER_TEXT_PATH, self.get_text, "text/plain"),
            (JSON_PATH, self.get_json, "application/json"),
            (OTHER_JSON_PATH, self.get_json, "application/json"),
        )
        routes = tuple(
            Route("GET", path, handler, counted="static", is_hot=True, gives=(kind,), is_open=True)
            for path, handler, kind in served
        )
        options = tuple(
            Route("OPTIONS", path, self.get_options, counted="static", is_open=True)
            for path, _, _ in served
        )
        return ProtocolRoutes(
            "agents.txt", (*routes, *options), owns=(), render_error=self._render_error
        )


def _reply(tagged: tuple[str, bytes], content_type: str, call: Call) -> Reply:
    tag, body = tagged
    headers = (("ETag", tag), ("Cache-Control", f"public, max-age={KEPT_SECONDS}"), _CORS_METHODS)
    if matches_etag(call.headers, tag):
        return Reply(304, headers=headers, content_type=content_type)
    return Reply(200, body, content_type, headers)
