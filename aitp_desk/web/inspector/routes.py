"""The routes of the panel that shows how each answer was found.

They exist in ``aitp-desk dev`` alone, whose home page has it next to the chat. The explanations
name the site's files, so they are for this machine only, whatever address the desk listens on and
whatever name leads to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from aitp_desk.agent.journal import AnswerJournal
from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import DeskError, Forbidden
from aitp_desk.protocols.base.protocol import Call, ProtocolRoutes, Reply, Route
from aitp_desk.web.bundle import bundle_modules, read_modules
from aitp_desk.web.inspector.wire import encode_answers
from aitp_desk.web.pages.assets import ASSETS_PATH, SCRIPT_FOLDER, Asset, make_script, make_style
from aitp_desk.web.pages.blocks.template import Markup, fill_template
from aitp_desk.web.pages.wire import reply_asset

ANSWERS_PATH = f"{ASSETS_PATH}answers.json"
_FOLDER = Path(__file__).parent
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_OF_PROXIES = ("Forwarded", "Via", "X-Forwarded-For", "X-Real-IP")
"""What a request has that a proxy passes on: one on this machine may do so for anybody."""
RenderError = Callable[[DeskError, Mapping[str, str]], Reply]


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


class InspectorHandlers:
    """Serves the panel's files, and the explanations that it shows.

    Parameters:
        journal: has the explanations.

    Attributes:
        panel: the panel, to be put after the chat.
    """

    def __init__(self, journal: AnswerJournal) -> None:
        self._journal = journal
        modules = read_modules(SCRIPT_FOLDER) | read_modules(_FOLDER)
        style = make_style("inspector", _read("inspector.css"))
        script = make_script("inspector", bundle_modules("inspector", modules))
        self._assets = (style, script)
        self.panel: Markup = fill_template(
            _read("inspector.html"), style=style.url, script=script.url
        )

    async def get_answers(self, _desk: Desk, call: Call) -> Reply:
        """``GET /assets/desk/answers.json``: the newest answers, explained.

        Raises:
            Forbidden: the caller is not on this machine, or uses another name for it or a proxy.
        """
        is_here = _is_loopback(call.principal.address) and _names_loopback(call.headers)
        if not is_here or any(name in call.headers for name in _OF_PROXIES):
            raise Forbidden("The explanations are for this machine only; open http://127.0.0.1.")
        headers = (("Cache-Control", "no-store"), ("X-Robots-Tag", "noindex"))
        return Reply(200, encode_answers(self._journal.answers), headers=headers)

    def protocol(self, render_error: RenderError) -> ProtocolRoutes:
        """Return the routes."""
        routes = (
            Route("GET", ANSWERS_PATH, self.get_answers, None, is_own=True),
            *(_make_route(asset) for asset in self._assets),
        )
        return ProtocolRoutes("inspector", routes, (), render_error)


def _make_route(asset: Asset) -> Route:
    """Return the route of a file that the panel loads."""
    media_type = asset.content_type.partition(";")[0]
    get = partial(_get_asset, asset)
    return Route("GET", asset.url, get, None, is_own=True, gives=(media_type,))


async def _get_asset(asset: Asset, _desk: Desk, call: Call) -> Reply:
    return reply_asset(asset, call.headers)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _names_loopback(headers: Mapping[str, str]) -> bool:
    """Return whether the Host header names this machine.

    A page of a foreign name that is made to lead here (DNS rebinding) sends its own name.
    """
    return urlsplit(f"//{headers.get('Host', '')}").hostname in _LOOPBACK
